import type { TokenCounts } from '../../agent/context/token-counts.js';
import type { ChatDependencies } from '../dependencies.js';
import type { Interruption } from './interruption.js';
import type { LiveTurns } from './live-turns.js';
import type { TurnMirrors } from './turn-mirrors.js';

/** What the life of turns is built from, besides what the whole domain is. */
export interface TurnDependencies extends ChatDependencies {
  readonly live: LiveTurns;
  readonly mirrors: TurnMirrors;
  /** Of the messages that this process has sent to models. */
  readonly counts: TokenCounts;
  readonly isClosing: () => boolean;
  /** Fires when nothing runs here any more and whoever still waits for a turn has to be told so. */
  readonly ending: Interruption;
  /** Starts the next turn of a session's queue, now that it is free. Returns at once. */
  startQueued(sessionId: string): void;
}
