import { storable } from '../../model/repair.js';
import { type ArgumentsReader, type JsonSchema, readerOf } from '../tools/json-schema.js';
import type { ServerTool, ToolContext } from '../tools/tool.js';
import { admit } from './admission.js';
import { inTime } from './in-time.js';
import type { ListedTool } from './listed-tool.js';

/** What OpenAI takes as the description of a function. */
const longestDescription = 1_024;
/** In characters of JSON. One tool must not fill the window of the model. */
const longestSchema = 100_000;
/** Far more than any sensible schema takes, also on a machine that has no time: the clock of the wall runs. */
const compilingMs = 10_000;
const readingMs = 1_000;
/** Beyond the time of the call itself: for a connection that has to be made first, and one that has to be given up. */
const aroundMs = 20_000;

/** Runs a tool of an MCP server. */
export type CallTool = (
  tool: { readonly name: string; readonly isWrite: boolean },
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
) => Promise<string>;

/** Keywords that OpenAI refuses at the top of the schema, and all other tools of the request with it. */
const notAtTheTop = ['$schema', 'oneOf', 'anyOf', 'allOf', 'enum', 'not'];

/** The schema as the model is shown it. Arguments are checked against the whole of it all the same. */
function shown(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(([keyword]) => !notAtTheTop.includes(keyword));
  return { properties: {}, ...Object.fromEntries(kept) };
}

function compile(schema: JsonSchema): ArgumentsReader {
  try {
    return readerOf(schema);
  } catch (error) {
    // Many servers write an older dialect without saying so.
    if (schema.$schema !== undefined) throw error;
    return readerOf({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' });
  }
}

/** A few references can make a schema that is never done with. Whoever wrote it may not hold up all turns of the process. */
function reader(schema: JsonSchema): ArgumentsReader {
  const read = inTime(() => compile(schema), compilingMs);
  return (given) => {
    try {
      return inTime(() => read(given), readingMs);
    } catch {
      return { problem: 'arguments: take too long to check' };
    }
  };
}

function describe(server: string, { name, description }: ListedTool): string {
  const text = storable(description ?? '').trim();
  if (text === '') return storable(`The tool ${name} of ${server}.`.slice(0, longestDescription));
  return text.length <= longestDescription ? text : storable(`${text.slice(0, longestDescription - 1)}…`);
}

/**
 * A tool of an MCP server as one of ours.
 *
 * @throws Error that says why it cannot be one.
 */
export function mcpTool(
  listed: ListedTool,
  { server, name, timeoutMs, call }: { server: string; name: string; timeoutMs: number; call: CallTool },
): ServerTool {
  if (listed.execution?.taskSupport === 'required') throw new Error('it can only be run as a task');
  const schema = { type: 'object', ...listed.inputSchema };
  if (JSON.stringify(schema).length > longestSchema) throw new Error('its schema is too large');
  const read = reader(schema);
  const admission = admit(listed.annotations);
  const isWrite = admission.sideEffect === 'write';
  return {
    kind: 'server',
    origin: 'mcp',
    name,
    description: describe(server, listed),
    parameters: shown(schema),
    ...admission,
    timeoutMs: timeoutMs + aroundMs,
    // What may write is never sent twice, whatever it says of itself.
    retries: isWrite ? 0 : 1,
    resultLimit: null,
    read,
    run: (value, context) => call({ name: listed.name, isWrite }, value as Readonly<Record<string, unknown>>, context),
  };
}
