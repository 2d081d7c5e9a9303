const firstMs = 250;
const longestMs = 30_000;

/**
 * How long to wait before a server is tried again: twice as long each time up to half a minute, between half and all of
 * it by chance.
 *
 * @param failures in a row, from 1
 * @param random from 0 up to 1
 */
export function backoffMs(failures: number, random: number): number {
  const full = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs);
  return Math.round(full / 2 + (full / 2) * random);
}
