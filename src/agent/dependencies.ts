import type { Logger } from 'pino';
import type { Queryable } from '../db/queries/queryable.js';
import type { Failpoint } from '../failpoints.js';
import type { ModelInfo } from '../model/catalog.js';
import type { ModelPort } from '../model/port.js';

/** What the steps of a turn are built from. */
export interface AgentDependencies {
  readonly db: Queryable;
  readonly model: ModelPort;
  readonly findModel: (id: string) => ModelInfo | null;
  readonly log: Logger;
  readonly maxRetries: number;
  readonly newId: () => string;
  readonly now: () => Date;
  readonly random: () => number;
  readonly failpoint: Failpoint;
}
