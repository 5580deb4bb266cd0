/** Returns numbers in [0, 1). */
export type Random = () => number;

/**
 * Creates a random generator (mulberry32) that repeats its numbers for the same seed, on every machine. For
 * demonstration data, never for secrets.
 */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
