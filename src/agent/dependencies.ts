import type { Logger } from 'pino';
import type { Queryable } from '../db/queries/queryable.js';
import type { Failpoint } from '../failpoints.js';
import type { ModelInfo } from '../model/catalog.js';
import type { ModelPort } from '../model/port.js';
import type { TokenCounts } from './context/token-counts.js';
import type { ToolRegistry } from './tools/registry.js';

/** What the steps of a turn are built from. */
export interface AgentDependencies {
  readonly db: Queryable;
  readonly model: ModelPort;
  readonly findModel: (id: string) => ModelInfo | null;
  readonly tools: ToolRegistry;
  readonly counts: TokenCounts;
  /** Who is asked for summaries of long histories, null being the session's own model, and how long that may take. */
  readonly summary: { readonly model: string | null; readonly timeoutMs: number };
  readonly log: Logger;
  readonly maxRetries: number;
  /** How long a question to the user may wait. */
  readonly inputTimeoutMs: number;
  /** How long a write is tried while the database is away. */
  readonly patienceMs: number;
  readonly newId: () => string;
  readonly now: () => Date;
  readonly random: () => number;
  readonly failpoint: Failpoint;
}
