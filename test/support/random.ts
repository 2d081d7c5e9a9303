/** Chance that can be replayed: the same seed gives the same numbers, from 0 up to 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of a run: CHAOS_SEED, to replay one that has failed, or another one each time. Told, so that it can be. */
export function chaosSeed(): number {
  const seed = Number(process.env.CHAOS_SEED ?? Date.now() % 2 ** 32);
  process.stderr.write(`CHAOS_SEED=${seed}\n`);
  return seed;
}
