import type { EventLog } from '../../events/event-log.js';
import type { TurnFeed } from '../../events/feed.js';
import type { StoredTurn } from '../../events/replay.js';
import { TurnMirror } from './turn-mirror.js';

interface Held {
  readonly mirror: TurnMirror;
  followers: number;
}

/** The mirrors of this process: one for each turn that is followed here and runs elsewhere. */
export class TurnMirrors {
  readonly #held = new Map<string, Held>();
  readonly #endListening: () => void;

  constructor(
    private readonly feed: TurnFeed | null,
    private readonly isLive: (turnId: string) => boolean,
  ) {
    this.#endListening =
      feed?.onSignal((signal) => {
        if (signal.kind === 'turn') this.refresh(signal.turnId);
      }) ?? (() => {});
  }

  get size(): number {
    return this.#held.size;
  }

  /** Something has happened to this turn. */
  refresh(turnId: string): void {
    this.#held.get(turnId)?.mirror.refresh();
  }

  /** The log of a turn that has just been read, to be given back with `release` when it is not followed any more. */
  hold(turn: StoredTurn, load: () => Promise<StoredTurn | null>): { log: EventLog; release(): void } {
    let held = this.#held.get(turn.id);
    if (!held || held.mirror.log.isOver) {
      const source = { feed: this.feed, load, isLive: () => this.isLive(turn.id) };
      held = { mirror: new TurnMirror(turn, source), followers: 0 };
      this.#held.set(turn.id, held);
    }
    const mine = held;
    mine.followers += 1;
    let isReleased = false;
    return {
      log: mine.mirror.log,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        mine.followers -= 1;
        if (mine.followers > 0) return;
        mine.mirror.close();
        if (this.#held.get(turn.id) === mine) this.#held.delete(turn.id);
      },
    };
  }

  close(): void {
    this.#endListening();
    for (const { mirror } of this.#held.values()) mirror.close();
  }
}
