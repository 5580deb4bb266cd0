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
export function divideTimeout(callTimeoutSeconds: number): Timeouts {
  const callMs = callTimeoutSeconds * 1000;
  const takeNinths = (count: number) => Math.ceil((callMs * count) / 9);
  return { connectMs: takeNinths(1), answerMs: takeNinths(2), attemptMs: takeNinths(4), callMs };
}
