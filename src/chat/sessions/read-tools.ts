import { asObject } from '../../agent/tools/arguments.js';
import { readerOf } from '../../agent/tools/json-schema.js';
import { legalName, type ToolRegistry } from '../../agent/tools/registry.js';
import { canonicalJson } from '../../digest.js';
import { badInput } from '../../errors.js';
import type { NewClientTool } from '../service.js';
import { checkStorableJson, checkText } from '../text.js';

const mostNames = 500;
const mostClientTools = 64;
const longestDescriptionBytes = 4_096;
const mostSchemaBytes = 16_384;
const mostBytes = 131_072;

/** Names that mean something of this server, also where it does not offer them at the moment. */
export const reservedNames: ReadonlySet<string> = new Set(['ask_user', 'find_tools', 'recall', 'pin']);

/** Checks the names of the server's tools that a session shall use. JSON text; null for the usual ones. */
export function readToolNames(names: readonly string[] | null, registry: ToolRegistry): string | null {
  if (names === null) return null;
  if (names.length > mostNames) throw badInput(`tools has ${names.length} names and the limit is ${mostNames}.`);
  const known = registry.all().map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const said = unknown.map((name) => JSON.stringify(name.slice(0, 64))).slice(0, 5);
    throw badInput(`tools names ${said.join(', ')}, which this server does not have. It has: ${known.join(', ')}.`);
  }
  return JSON.stringify([...new Set(names)]);
}

/** Whether anything in a schema refers to another part of it: checking arguments could then take for ever. */
function refers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(refers);
  return Object.entries(value).some(
    ([key, member]) => (/^\$(?:dynamicR|recursiveR|r)ef$/.test(key) && typeof member === 'string') || refers(member),
  );
}

function checkParameters(path: string, given: unknown): void {
  const parameters = asObject(given);
  if (!parameters) throw badInput(`${path} must be a JSON Schema: an object with the type "object".`);
  const bytes = Buffer.byteLength(canonicalJson(parameters));
  if (bytes > mostSchemaBytes) {
    throw badInput(`${path} has ${bytes} bytes as JSON and the limit is ${mostSchemaBytes}.`, {
      limit: mostSchemaBytes,
    });
  }
  checkStorableJson(path, parameters);
  if (refers(parameters)) throw badInput(`${path} has a $ref: write the schema out in place.`);
  try {
    readerOf(parameters);
  } catch (error) {
    throw badInput(`${path} is not a valid JSON Schema of an object: ${(error as Error).message.slice(0, 300)}.`);
  }
}

/** Checks the tools that a client declares. JSON text; null for none. */
export function readClientTools(tools: readonly NewClientTool[], registry: ToolRegistry): string | null {
  if (tools.length === 0) return null;
  if (tools.length > mostClientTools) {
    throw badInput(`clientTools has ${tools.length} tools and the limit is ${mostClientTools}.`);
  }
  const taken = new Set([...reservedNames, ...registry.all().map(({ name }) => name)]);
  tools.forEach(({ name, description, parameters }, position) => {
    const path = `clientTools.${position}`;
    if (!legalName.test(name)) {
      throw badInput(`${path}.name must be 1 to 64 letters, digits, underscores and hyphens.`);
    }
    if (taken.has(name)) throw badInput(`${path}.name is ${name}, which is taken: choose another name.`);
    taken.add(name);
    checkText(`${path}.description`, description, longestDescriptionBytes);
    checkParameters(`${path}.parameters`, parameters);
  });
  const text = JSON.stringify(tools.map(({ name, description, parameters }) => ({ name, description, parameters })));
  const bytes = Buffer.byteLength(text);
  if (bytes > mostBytes) {
    throw badInput(`clientTools has ${bytes} bytes as JSON and the limit is ${mostBytes}.`, { limit: mostBytes });
  }
  return text;
}
