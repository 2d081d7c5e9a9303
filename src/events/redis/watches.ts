import type { FeedBatch } from '../feed.js';

/** Before the first entry of any stream. */
export const beginning = '0-0';

/** An entry of a stream, as the client gives it. */
export interface StreamEntry {
  readonly id: string;
  readonly message: Readonly<Record<string, string | undefined>>;
}

/** How far a stream was read. Replaced, never changed: who holds an old one knows that its read is outdated. */
export interface ReadPosition {
  readonly id: string;
}

interface Watch {
  readonly onBatch: (batch: FeedBatch) => void;
  /** Id of the last entry it was told. */
  after: string;
}

interface WatchedTurn {
  position: ReadPosition;
  readonly watches: Set<Watch>;
}

function isAfter(id: string, other: string): boolean {
  const [ms = 0, number = 0] = id.split('-').map(Number);
  const [otherMs = 0, otherNumber = 0] = other.split('-').map(Number);
  return ms > otherMs || (ms === otherMs && number > otherNumber);
}

/** Who wants to be told of which turns, and how far each was told. */
export class Watches {
  readonly #turns = new Map<string, WatchedTurn>();

  /** @param onError for what a watcher throws */
  constructor(private readonly onError: (error: unknown) => void) {}

  /** Turns with how far they were read. */
  positions(): [turnId: string, ReadPosition][] {
    return [...this.#turns].map(([turnId, { position }]) => [turnId, position]);
  }

  /** A turn that is watched already is read from its beginning once more, for the new watch only. */
  add(turnId: string, onBatch: (batch: FeedBatch) => void): () => void {
    const watch = { onBatch, after: beginning };
    const turn = this.#turns.get(turnId) ?? { position: { id: beginning }, watches: new Set() };
    turn.position = { id: beginning };
    turn.watches.add(watch);
    this.#turns.set(turnId, turn);
    return () => {
      turn.watches.delete(watch);
      if (turn.watches.size === 0 && this.#turns.get(turnId) === turn) this.#turns.delete(turnId);
    };
  }

  /** Tells what was read from a position on; nothing when the turn is to be read from elsewhere by now. */
  tell(
    turnId: string,
    position: ReadPosition,
    entries: readonly StreamEntry[],
    decode: (entry: StreamEntry) => readonly FeedBatch[],
  ): void {
    const turn = this.#turns.get(turnId);
    for (const entry of entries) {
      // A watcher may start and end watches while it is told something.
      if (turn?.position !== position || turn.watches.size === 0) return;
      const batches = decode(entry);
      for (const watch of [...turn.watches]) {
        if (!isAfter(entry.id, watch.after)) continue;
        watch.after = entry.id;
        for (const batch of batches) if (turn.watches.has(watch)) this.#call(watch, batch);
      }
    }
    const last = entries.at(-1);
    if (last && turn?.position === position) turn.position = { id: last.id };
  }

  clear(): void {
    for (const { watches } of this.#turns.values()) watches.clear();
    this.#turns.clear();
  }

  #call({ onBatch }: Watch, batch: FeedBatch): void {
    try {
      onBatch(batch);
    } catch (error) {
      this.onError(error);
    }
  }
}
