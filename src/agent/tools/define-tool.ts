import { z } from 'zod';
import { type JsonSchema, readerOf } from './json-schema.js';
import { readArguments, toParameters } from './schema.js';
import type { ReadArguments, ServerTool, ToolContext, ToolOrigin, ToolSideEffect } from './tool.js';

const defaultTimeoutMs = 30_000;
const defaultRetries = 2;

interface Described {
  /** Letters, digits, underscore and hyphen, up to 64. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** Left out: `server`. */
  readonly origin?: ToolOrigin;
  /** Calls of tools that write run one by one, all others at the same time. */
  readonly sideEffect: ToolSideEffect;
  /** Running it twice does no harm. Left out: true unless it writes. */
  readonly idempotent?: boolean;
  /** Each call waits until the user allows it. Left out: false. */
  readonly requiresApproval?: boolean;
  /** Only sessions that name it have it. Left out: false. */
  readonly isOptIn?: boolean;
  /** Of one attempt. Left out: 30 seconds. */
  readonly timeoutMs?: number;
  /** Further attempts when one took too long or was lost on the way. Left out: 2, and 0 unless it is idempotent. */
  readonly retries?: number;
  /** Longest result in UTF-16 units. Left out, and in any case: half of the number of tokens in the model's window. */
  readonly resultLimit?: number;
}

/** A tool whose arguments are typed by a schema of zod. */
export interface ToolDefinition<Schema extends z.ZodObject> extends Described {
  readonly parameters: Schema;
  /** Gives a text, or a value that becomes JSON. What it throws is logged; the model hears that it failed. */
  run(args: z.infer<Schema>, context: ToolContext): unknown;
}

/** A tool whose arguments are described by a plain JSON Schema of an object. */
export interface PlainToolDefinition extends Described {
  readonly parameters: JsonSchema;
  /** As of a typed tool. The arguments are as the model gave them: defaults of the schema are not filled in. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): unknown;
}

interface Schema {
  readonly parameters: JsonSchema;
  read(given: Readonly<Record<string, unknown>>): ReadArguments<unknown>;
}

function readSchema(name: string, parameters: z.ZodObject | JsonSchema): Schema {
  if (parameters instanceof z.ZodObject) {
    return { parameters: toParameters(parameters), read: (given) => readArguments(parameters, given) };
  }
  try {
    return { parameters, read: readerOf(parameters) };
  } catch (error) {
    throw new TypeError(`the parameters of the tool ${name} are no JSON Schema of an object`, { cause: error });
  }
}

/**
 * Makes a tool out of its definition.
 *
 * @throws TypeError for parameters that are no JSON Schema of an object, and for retries of what may not be run twice.
 */
export function defineTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): ServerTool;
export function defineTool(definition: PlainToolDefinition): ServerTool;
export function defineTool(definition: Described & { parameters: z.ZodObject | JsonSchema; run: unknown }): ServerTool {
  const { name, description, sideEffect } = definition;
  const idempotent = definition.idempotent ?? sideEffect !== 'write';
  const retries = definition.retries ?? (idempotent ? defaultRetries : 0);
  if (retries > 0 && !idempotent) throw new TypeError(`the tool ${name} may not be run twice, so it has no retries`);
  const { run } = definition as { run: ServerTool['run'] };
  return {
    kind: 'server',
    name,
    description,
    ...readSchema(name, definition.parameters),
    origin: definition.origin ?? 'server',
    sideEffect,
    idempotent,
    requiresApproval: definition.requiresApproval ?? false,
    ...(definition.isOptIn && { isOptIn: true }),
    timeoutMs: definition.timeoutMs ?? defaultTimeoutMs,
    retries,
    resultLimit: definition.resultLimit ?? null,
    run: (value, context) => run.call(definition, value, context),
  };
}
