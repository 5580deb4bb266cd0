/**
 * Waits for work for at most `ms` milliseconds, and returns `fallback` if it takes longer. The work itself goes on: an
 * `AbortSignal.timeout` ends it.
 */
export async function waitAtMost<R, F = undefined>(ms: number, work: Promise<R>, fallback?: F): Promise<R | F> {
  const { promise: late, resolve } = Promise.withResolvers<R | F>();
  const timer = setTimeout(resolve, ms, fallback as F);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
