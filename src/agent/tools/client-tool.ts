import { readerOf } from './json-schema.js';
import type { ClientTool } from './tool.js';

/** A tool as the client of a session has declared it. */
export interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A tool that the client runs. Nothing is known of what it does, so it counts as one that writes. */
export const clientTool = ({ name, description, parameters }: DeclaredTool): ClientTool => ({
  kind: 'client',
  name,
  description,
  parameters,
  origin: 'client',
  sideEffect: 'write',
  idempotent: false,
  requiresApproval: false,
  // Made for the call: most tools of a session are not called in a turn.
  read: (given) => readerOf(parameters)(given),
});
