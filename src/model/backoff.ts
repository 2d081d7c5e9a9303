/** The first wait, and the longest, before something is tried again. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * How long to wait before another attempt, in milliseconds. The wait doubles with each failure, between half and all of
 * it by chance, so that callers which failed together do not come back together.
 *
 * @param failures in a row, from 1
 * @param random a number from 0 to 1, exclusive
 */
export function backoffMs({ firstMs, longestMs }: Backoff, failures: number, random: number): number {
  const full = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return Math.round(full / 2 + (full / 2) * random);
}
