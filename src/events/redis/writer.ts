import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Client, Use } from './connection.js';
import { within } from './deadline.js';
import type { FeedKeys } from './keys.js';
import type { Outbox, Outgoing } from './outbox.js';
import { joinEncoded } from './wire.js';

/** From one round trip to the next: what is published meanwhile goes together. */
const paceMs = 5;
/** Entries of a stream, about. An entry holds what a turn told within one pace or more. */
const longestStream = 1_000;
/** A stream is gone this long after its last entry. */
const keepMs = 60_000;

/** Writes a process's batches and signals: one round trip at a time, whatever the number of turns. */
export function writeFrom(outbox: Outbox, keys: FeedKeys, processId: string, answerMs: number): Use {
  // All or nothing: no stream stays without its time to live when the connection breaks half-way.
  async function send(client: Client, { batches, signals, wake }: Outgoing): Promise<void> {
    const multi = client.multi();
    const append = (key: string, length: string, ...fields: string[]) => {
      multi.addCommand(['XADD', key, 'MAXLEN', '~', length, '*', ...fields]);
      multi.addCommand(['PEXPIRE', key, `${keepMs}`]);
    };
    for (const [turnId, encoded] of batches) append(keys.turn(turnId), `${longestStream}`, 'b', joinEncoded(encoded));
    if (signals.size > 0) append(keys.signals, `${longestStream}`, 'p', processId, 's', joinEncoded(signals));
    if (wake) append(keys.wake, '1', 'w', '');
    await within(answerMs, multi.exec());
  }

  return async (client, signal, works) => {
    // Shows that this Redis takes writes, before anything that counts is given to it.
    await send(client, { batches: new Map(), signals: new Set(), wake: true });
    if (signal.aborted) return;
    works();
    outbox.open();
    signal.addEventListener('abort', () => outbox.shut(), { once: true });
    while (!signal.aborted) {
      await outbox.filled();
      // Everything that this turn of the event loop still publishes goes along.
      await nextTurn();
      if (signal.aborted) return;
      await send(client, outbox.take());
      outbox.sent();
      works();
      await sleep(paceMs);
    }
  };
}
