import { z } from 'zod';
import type { ReadArguments } from './tool.js';

/** Problems that the model is told of at once. */
const mostProblems = 5;

/** The JSON Schema of a tool's parameters. @throws for what JSON Schema cannot express. */
export function toParameters(schema: z.ZodObject): Readonly<Record<string, unknown>> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return parameters;
}

/** Checks arguments against a schema. Never throws, whatever the schema's own checks do. */
export function readArguments<Schema extends z.ZodObject>(
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
): ReadArguments<z.infer<Schema>> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return { value: parsed.data };
  const problems = parsed.error.issues
    .slice(0, mostProblems)
    .map(({ path, message }) => `${path.length > 0 ? path.map(String).join('.') : 'arguments'}: ${message}`);
  return { problem: problems.join('; ') };
}
