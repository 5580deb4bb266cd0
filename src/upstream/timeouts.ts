/** How long each part of a call to the service may take, in milliseconds. */
export interface Timeouts {
  readonly connectMs: number;
  /** Until the first byte of an answer, and between two pieces of it. */
  readonly answerMs: number;
  /** One try, from sending to the last byte. */
  readonly attemptMs: number;
  /** Everything: tries, pauses between them, waiting for a turn. */
  readonly callMs: number;
}

/** Parts of a whole call's time that leave room for a second try of each. */
export function timeoutsWithin(callTimeoutSeconds: number): Timeouts {
  const callMs = callTimeoutSeconds * 1000;
  const ninths = (count: number) => Math.ceil((callMs * count) / 9);
  return { connectMs: ninths(1), answerMs: ninths(2), attemptMs: ninths(4), callMs };
}
