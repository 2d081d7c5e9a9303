import type { z } from 'zod';
import { readArguments, toParameters } from './schema.js';
import type { ServerTool, ToolContext, ToolOrigin, ToolSideEffect } from './tool.js';

const defaultTimeoutMs = 30_000;

export interface ToolDefinition<Schema extends z.ZodObject> {
  /** Letters, digits, underscore and hyphen, up to 64. */
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  readonly parameters: Schema;
  /** Calls of tools that write run one by one, all others at the same time. */
  readonly sideEffect: ToolSideEffect;
  /** Left out: `server`. */
  readonly origin?: ToolOrigin;
  /** Each call waits until the user allows it. Left out: false. */
  readonly requiresApproval?: boolean;
  /** Running it twice does no harm. Left out: true unless it writes. */
  readonly idempotent?: boolean;
  /** Left out: 30 seconds. */
  readonly timeoutMs?: number;
  /** Gives a text, or a value that becomes JSON. What it throws is logged; the model hears that it failed. */
  run(args: z.infer<Schema>, context: ToolContext): unknown;
}

/** Makes a tool out of its definition. */
export function defineTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): ServerTool {
  const { name, description, parameters, sideEffect } = definition;
  return {
    kind: 'server',
    name,
    description,
    parameters: toParameters(parameters),
    origin: definition.origin ?? 'server',
    sideEffect,
    requiresApproval: definition.requiresApproval ?? false,
    idempotent: definition.idempotent ?? sideEffect !== 'write',
    timeoutMs: definition.timeoutMs ?? defaultTimeoutMs,
    read: (given) => readArguments(parameters, given),
    run: (value, context) => definition.run(value as z.infer<Schema>, context),
  };
}
