import { pause } from '../stage/clock.mjs';

const settleMs = 1_500;

/** What each of so many things adds to the memory of the server, in KiB. */
export async function memoryOf(count, { server }, make) {
  const before = await server.ask('memory');
  await make();
  await pause(settleMs);
  const after = await server.ask('memory');
  const each = (name) => (after[name] - before[name]) / count / 1_024;
  return { rssKib: each('rss'), heapKib: each('heapUsed') };
}
