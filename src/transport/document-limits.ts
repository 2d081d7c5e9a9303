import { type DocumentNode, GraphQLError, Kind, Lexer, parse, Source, TokenKind, validate } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { badInput } from '../errors.js';
import { createMeasure, fragmentsOf, rootFieldsOf } from './measure-document.js';

/**
 * What a document may hold, checked before it is parsed (characters, tokens) and before it is validated (the rest,
 * with fragments written out). The introspection query of every tool passes; what a page of a frontend asks for stays
 * far below. How much data a document may ask for is the schema's business.
 */
export const documentLimits = {
  characters: 100_000,
  tokens: 2_000,
  /** Brackets in each other, of any kind: a parser goes down one level for each. */
  brackets: 100,
  depth: 20,
  fields: 1_000,
  aliases: 30,
  directives: 50,
  repeats: 30,
  /** Root fields run one after the other in a mutation, each with its effect. */
  mutationFields: 10,
  /** Mutations that call the model: one request is one turn. */
  turnFields: new Set(['send', 'regenerate']),
};

const counted = (what: string) => (found: number, most: number) =>
  `The document has ${found} ${what}, fragments counted wherever they are used; ${most} are allowed.`;

const sentences = {
  depth: (found: number, most: number) => `The document is nested ${found} levels deep; ${most} are allowed.`,
  fields: counted('fields'),
  aliases: counted('aliases'),
  directives: counted('directives'),
  repeats: (found: number, most: number) =>
    `The document names a field, or fragments, ${found} times in one place; ${most} are allowed.`,
};

function findExcess(document: DocumentNode): string | null {
  const fragments = fragmentsOf(document);
  const measure = createMeasure(fragments);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) {
      continue;
    }
    const size = measure(definition.selectionSet);
    for (const limit of ['depth', 'fields', 'aliases', 'directives', 'repeats'] as const) {
      if (size[limit] > documentLimits[limit]) {
        return sentences[limit](size[limit], documentLimits[limit]);
      }
    }
    if (definition.kind === Kind.OPERATION_DEFINITION && definition.operation === 'mutation') {
      const roots = [...rootFieldsOf(definition.selectionSet, fragments).values()];
      if (roots.length > documentLimits.mutationFields) {
        return `One request may hold ${documentLimits.mutationFields} mutations, not ${roots.length}: send several requests.`;
      }
      if (roots.filter((name) => documentLimits.turnFields.has(name)).length > 1) {
        return 'One request may start one turn: send each message in a request of its own.';
      }
    }
  }
  return null;
}

const opening = new Set<TokenKind>([TokenKind.PAREN_L, TokenKind.BRACKET_L, TokenKind.BRACE_L]);
const closing = new Set<TokenKind>([TokenKind.PAREN_R, TokenKind.BRACKET_R, TokenKind.BRACE_R]);

/** Looks at the tokens one by one, which takes no recursion, unlike the parser. */
function checkTokens(source: Source): void {
  const lexer = new Lexer(source);
  let tokens = 0;
  let brackets = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1;
    if (tokens > documentLimits.tokens) {
      throw badInput(
        `The document has more than ${documentLimits.tokens} tokens: send less at once, and values as variables.`,
      );
    }
    if (opening.has(token.kind)) {
      brackets += 1;
    } else if (closing.has(token.kind)) {
      brackets -= 1;
    }
    if (brackets > documentLimits.brackets) {
      throw badInput(`The document has brackets in more than ${documentLimits.brackets} others.`);
    }
  }
}

/**
 * Parses a document if its length, its tokens and its brackets are within the limits.
 *
 * @throws GraphQLError or ChatError, with a message for the client
 */
export function parseWithinLimits(text: string): DocumentNode {
  if (text.length > documentLimits.characters) {
    throw badInput(
      `The document has more than ${documentLimits.characters} characters: pass long values as variables.`,
    );
  }
  const source = new Source(text);
  checkTokens(source);
  return parse(source);
}

/** Refuses documents that would be expensive to parse, to validate or to run. */
export function useDocumentLimits(): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source: string | { body: string }) =>
        parseWithinLimits(typeof source === 'string' ? source : source.body),
      );
    },
    onValidate({ params, setResult, setValidationFn }) {
      const excess = findExcess(params.documentAST);
      if (excess !== null) {
        // The rules of GraphQL are not run on it at all: some of them take time in the square of the document.
        setResult([new GraphQLError(excess)]);
        return;
      }
      setValidationFn((schema, document, rules) => validate(schema, document, rules, { maxErrors: 20 }));
    },
  };
}

/** Whether a value from JSON is nested deeper than `most` levels, found without recursion. */
export function isDeeperThan(value: unknown, most: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= most; depth += 1) {
    const below: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'object' && item !== null) {
        for (const child of Object.values(item)) {
          if (typeof child === 'object' && child !== null) {
            below.push(child);
          }
        }
      }
    }
    if (below.length === 0) {
      return false;
    }
    level = below;
  }
  return true;
}
