import type { ChatDependencies } from '../dependencies.js';
import type { LiveTurns } from './live-turns.js';
import type { TurnMirrors } from './turn-mirrors.js';

/** What the life of turns is built from, besides what the whole domain is. */
export interface TurnDependencies extends ChatDependencies {
  readonly live: LiveTurns;
  readonly mirrors: TurnMirrors;
  readonly isClosing: () => boolean;
  /** Starts the next turn of a session's queue, now that it is free. Returns at once. */
  startQueued(sessionId: string): void;
}
