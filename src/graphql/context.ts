import type DataLoader from 'dataloader';
import type { Principal } from '../auth/principal.js';
import type { ChatService } from '../chat/service.js';
import type { Database } from '../db/database.js';
import type { ModelCatalog } from '../model/catalog.js';

/**
 * What every resolver gets. One context belongs to one operation: two operations must never share it, since the
 * loaders and Pothos keep what was selected in it.
 */
export interface Context {
  readonly principal: Principal;
  /** Finds this operation in the logs. */
  readonly requestId: string;
  /** Id of the subscription on its WebSocket, which clients repeat when they re-subscribe; null elsewhere. */
  readonly operationId: string | null;
  /** Aborted when the client has left, the server stops or the caller may no longer read. */
  signal(): AbortSignal;
  readonly chat: ChatService;
  readonly database: Database;
  readonly catalog: ModelCatalog;
  readonly loaders: Loaders;
}

/**
 * Batching loaders of one operation, by the place in the document that uses them. They only batch and never cache, so
 * that the events of one subscription each see what is stored at their time.
 */
export type Loaders = Map<string, DataLoader<never, unknown>>;

export const createLoaders = (): Loaders => new Map();
