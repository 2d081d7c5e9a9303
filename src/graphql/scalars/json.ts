import { GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { builder } from '../builder.js';
import { invalidValue } from './invalid-value.js';

/** Limits of one JSON value as an input. Text is counted in UTF-16 units, keys included. */
export const jsonLimits = { depth: 32, values: 10_000, text: 262_144 };

/**
 * Checks that a value can be stored and given back as it is. Walks with a stack of its own, so that a value nested a
 * hundred thousand times is refused like any other.
 */
function checkJson(root: unknown): unknown {
  const open: { value: unknown; depth: number }[] = [{ value: root, depth: 1 }];
  let values = 0;
  let text = 0;
  const checkText = (value: string) => {
    text += value.length;
    if (text > jsonLimits.text) {
      throw invalidValue(`JSON may hold at most ${jsonLimits.text} characters of text`);
    }
    if (value.includes('\0') || !value.isWellFormed()) {
      throw invalidValue('JSON may not hold the character U+0000 or half of a surrogate pair');
    }
  };
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    values += 1;
    if (values > jsonLimits.values) {
      throw invalidValue(`JSON may hold at most ${jsonLimits.values} values`);
    }
    if (depth > jsonLimits.depth) {
      throw invalidValue(`JSON may be nested at most ${jsonLimits.depth} levels deep`);
    }
    if (typeof value === 'string') {
      checkText(value);
    } else if (typeof value === 'number') {
      checkNumber(value);
    } else if (Array.isArray(value)) {
      for (const item of value) {
        open.push({ value: item, depth: depth + 1 });
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        checkText(key);
        open.push({ value: item, depth: depth + 1 });
      }
    }
  }
  return root;
}

function checkNumber(value: number): void {
  if (!Number.isFinite(value)) {
    throw invalidValue('JSON cannot hold a number as large as this one');
  }
  // A larger one has lost digits on its way here already.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw invalidValue('JSON holds whole numbers up to 2^53 - 1 exactly: send a larger one as text');
  }
}

/** A value written into the document itself. The parser's token limit bounds its size, this bounds its depth. */
function fromLiteral(node: ValueNode, variables: Readonly<Record<string, unknown>>, depth = 1): unknown {
  if (depth > jsonLimits.depth) {
    throw invalidValue(`JSON may be nested at most ${jsonLimits.depth} levels deep`);
  }
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.BOOLEAN:
    case Kind.STRING:
      return node.value;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.LIST:
      return node.values.map((item) => fromLiteral(item, variables, depth + 1));
    case Kind.OBJECT:
      // fromEntries defines properties, so a key such as __proto__ stays a key.
      return Object.fromEntries(
        node.fields.map((field) => [field.name.value, fromLiteral(field.value, variables, depth + 1)]),
      );
    case Kind.VARIABLE:
      return variables[node.name.value];
    case Kind.ENUM:
      throw invalidValue(`JSON cannot represent ${node.value}: text needs quotation marks`);
  }
}

export const jsonScalar = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: `Any JSON value. As an input at most ${jsonLimits.depth} levels deep, ${jsonLimits.values} values and ${jsonLimits.text} characters of text; whole numbers up to 2^53 - 1. Objects come back with the same content, not always with the same order of keys.`,
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) => value,
  parseValue: checkJson,
  parseLiteral: (node, variables) => checkJson(fromLiteral(node, variables ?? {})),
});

builder.addScalarType('JSON', jsonScalar);
