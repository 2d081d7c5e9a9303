import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedBatch, FeedSignal } from '../feed.js';
import type { Client, Use } from './connection.js';
import { type RedisLimits, within } from './deadline.js';
import type { FeedKeys } from './keys.js';
import { beginning, type StreamEntry, type Watches } from './watches.js';
import { decodeBatches, decodeSignals } from './wire.js';

/** Entries of one stream that a read brings, so that none holds up this process for long. */
const entriesPerRead = 20;

/**
 * From a read that brought something to the next one: what arrives meanwhile comes together. Every read names every
 * stream, so the more there are, the fewer reads.
 */
const paceMs = (streams: number) => Math.min(5 + streams / 40, 40);

interface Listeners {
  readonly watches: Watches;
  readonly onSignal: (signal: FeedSignal) => void;
  /** An entry that this version does not understand. */
  readonly onUnreadable: () => void;
}

interface ReaderSettings {
  readonly keys: FeedKeys;
  readonly processId: string;
  readonly limits: RedisLimits;
}

/** Reads all watched turns and the signals on one connection. A new connection goes on where the last one was. */
export function readFor({ watches, onSignal, onUnreadable }: Listeners, settings: ReaderSettings): Use {
  const { keys, processId } = settings;
  const { answerMs, waitMs } = settings.limits;
  let wakeId = beginning;
  let signalId: string | null = null;

  async function newestSignal(client: Client): Promise<string> {
    const newest = await within(answerMs, client.xRevRange(keys.signals, '+', '-', { COUNT: 1 }));
    return newest?.[0]?.id ?? beginning;
  }

  function tellSignals(entries: readonly StreamEntry[]): void {
    for (const { id, message } of entries) {
      signalId = id;
      if (message.p === processId) continue;
      const signals = decodeSignals(message.s);
      if (!signals) onUnreadable();
      for (const signal of signals ?? []) onSignal(signal);
    }
  }

  const decoderFor =
    (turnId: string) =>
    ({ message }: StreamEntry): FeedBatch[] => {
      const batches = decodeBatches(turnId, message.b);
      if (!batches) onUnreadable();
      return batches ?? [];
    };

  return async (client, signal, works) => {
    signalId ??= await newestSignal(client);
    while (!signal.aborted) {
      const turns = new Map(watches.positions().map(([turnId, position]) => [keys.turn(turnId), { turnId, position }]));
      const streams = [
        { key: keys.wake, id: wakeId },
        { key: keys.signals, id: signalId },
        ...[...turns].map(([key, { position }]) => ({ key, id: position.id })),
      ];
      const reading = client.xRead(streams, { BLOCK: waitMs, COUNT: entriesPerRead });
      const read = await within(waitMs + answerMs, reading);
      if (signal.aborted) return;
      works();
      if (!read) continue;
      for (const { name, messages } of read) {
        const turn = turns.get(name);
        if (turn) watches.tell(turn.turnId, turn.position, messages, decoderFor(turn.turnId));
        else if (name === keys.signals) tellSignals(messages);
        else wakeId = messages.at(-1)?.id ?? wakeId;
      }
      await sleep(paceMs(streams.length));
    }
  };
}
