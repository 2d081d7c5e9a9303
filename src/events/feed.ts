import type { TurnEventBody } from './event.js';

/** A stretch of a turn's log, as its owner tells it. */
export interface FeedBatch {
  readonly turnId: string;
  /** Of the owner that tells it. */
  readonly epoch: number;
  /** Sequence before the first of the events. */
  readonly from: number;
  /** `at` is in milliseconds since the epoch. */
  readonly events: readonly { readonly body: TurnEventBody; readonly at: number }[];
}

/**
 * Something that happened to a row; whoever hears it looks into the database. `turn`: its row has changed (ended,
 * parked, taken over, answered). `stop`: its stop was requested. `session`: a turn was started or queued in it.
 * `released`: a turn waits for an owner.
 */
export type FeedSignal =
  | { readonly kind: 'turn'; readonly turnId: string }
  | { readonly kind: 'stop'; readonly turnId: string }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'released' };

/**
 * Carries logs of turns and signals between processes. A hint and a fast path: batches and signals may be lost, or told
 * twice, and everything is in the database as well. Readers check by `epoch` and `from` that nothing is missing, and
 * ask the database when something is, or when nothing comes.
 */
export interface TurnFeed {
  /** Returns at once and never throws; what cannot be sent is dropped. */
  publish(batch: FeedBatch): void;
  /** Returns at once and never throws; what cannot be sent is dropped. */
  signal(signal: FeedSignal): void;
  /**
   * Tells what the feed still holds of a turn, then what comes, in the order in which it was published. The returned
   * function ends it: nothing is told after it was called.
   */
  watch(turnId: string, onBatch: (batch: FeedBatch) => void): () => void;
  /** Tells the signals of other processes, not those of this one. The returned function ends it. */
  onSignal(listen: (signal: FeedSignal) => void): () => void;
  /** Sends what was published, within a second, and lets go of every connection. */
  close(): Promise<void>;
}
