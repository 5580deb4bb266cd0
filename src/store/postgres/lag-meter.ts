/**
 * Returns whether a replica has all changes that its primary had at some time within a limit. The time is measured
 * between positions in the write-ahead log on one clock: a primary without changes has no lag, and the clocks of
 * servers do not matter.
 * @param nowMs - time before the positions were read
 * @param written - position of the primary
 * @param replayed - position of the replica, at about the same time
 */
export type IsRecent = (nowMs: number, written: number, replayed: number) => boolean;

export function createLagMeter(maxLagMs: number): IsRecent {
  /** Last time of which the replica has all changes. */
  let completeAtMs = Number.NEGATIVE_INFINITY;
  /** A position that the primary had, and that the replica has to reach. */
  let awaited: { readonly position: number; readonly atMs: number } | undefined;

  return (nowMs, written, replayed) => {
    if (replayed >= written) {
      completeAtMs = Math.max(completeAtMs, nowMs);
      awaited = undefined;
    } else {
      if (awaited && replayed >= awaited.position) {
        completeAtMs = Math.max(completeAtMs, awaited.atMs);
        awaited = undefined;
      }
      // After a failover that lost changes, the position may never come.
      if (awaited && nowMs - awaited.atMs > maxLagMs) awaited = undefined;
      awaited ??= { position: written, atMs: nowMs };
    }
    return nowMs - completeAtMs <= maxLagMs;
  };
}
