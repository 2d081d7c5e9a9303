import type { TurnToRelease } from '../db/queries/release-turn.js';
import type { TurnEnd } from '../db/queries/settle-turn.js';
import type { TurnFacts } from '../db/queries/turn-facts.js';
import type { TurnEventBody } from '../events/event.js';
import type { TurnLog } from '../events/turn-log.js';
import type { ReplyWriter } from './reply-writer.js';
import type { TurnState } from './turn-state.js';

/** A turn that this process runs. */
export interface RunningTurn {
  readonly facts: TurnFacts;
  /** Where it stands: it is run on from there. */
  readonly state: TurnState;
  readonly log: TurnLog;
  readonly signal: AbortSignal;
  /** Called with the writer of each step, so that a reader can have its text flushed. */
  onWriter(writer: ReplyWriter): void;
  /** Called when another owner has taken the turn over. */
  onLost(): void;
}

/** What a turn came to in this process. */
export type TurnResult =
  /** The row values of its end, and the events that tell of it once they are stored. */
  | {
      readonly kind: 'ended';
      readonly end: TurnEnd;
      readonly events: readonly TurnEventBody[];
      /** The time of these events, the same in the database and in the log. */
      readonly at: Date;
    }
  /** It waits for its user, which is stored and told. */
  | { readonly kind: 'parked' }
  /** This process has to end first: what it leaves to the next owner. */
  | { readonly kind: 'released'; readonly release: TurnToRelease };
