const [minutes, hours] = [60_000, 3_600_000];

/** The delay after each deferred attempt. The attempt after the last delay is the last one. */
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

/** The pause after each consecutive failure of the server. */
export const pausesMs: readonly number[] = [1_000, 5_000, 15_000, 60_000];
