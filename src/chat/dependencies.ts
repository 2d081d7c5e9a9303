import type { Logger } from 'pino';
import type { ToolRegistry } from '../agent/tools/registry.js';
import type { Config } from '../config.js';
import type { Database } from '../db/database.js';
import type { TurnFeed } from '../events/feed.js';
import type { Failpoint } from '../failpoints.js';
import type { ModelCatalog } from '../model/catalog.js';
import type { ModelPort } from '../model/port.js';

/** What the domain is built from. Time, ids and chance come in here, so that tests can hold them. */
export interface ChatDependencies {
  readonly database: Database;
  readonly model: ModelPort;
  readonly catalog: ModelCatalog;
  /** What the model may call. */
  readonly tools: ToolRegistry;
  /** Carries what happens between processes, faster than the database does. Null: there is only the database. */
  readonly feed: TurnFeed | null;
  readonly log: Logger;
  readonly settings: Config['chat'] & { readonly maxRetries: number };
  /** Names this process in leases. */
  readonly processId: string;
  /** True when no other process can use the database, so that every lease found at start-up is a dead one's. */
  readonly exclusive: boolean;
  readonly newId: () => string;
  readonly now: () => Date;
  /** From 0 up to 1, for jitter. */
  readonly random: () => number;
  readonly failpoint: Failpoint;
}
