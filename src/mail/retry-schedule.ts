const [minutes, hours] = [60_000, 3_600_000];

/** How long after each attempt that the server put off the next one follows; after one more there is none. */
export const mailRetryDelaysMs: readonly number[] = [
  1 * minutes,
  5 * minutes,
  15 * minutes,
  30 * minutes,
  1 * hours,
  2 * hours,
  4 * hours,
  8 * hours,
  12 * hours,
  24 * hours,
];

/** How long nothing is tried after the server itself failed: longer each time it fails again. */
export const pausesMs: readonly number[] = [1_000, 5_000, 15_000, 60_000];
