/** Timeouts of the parts of a call to the service, in milliseconds. */
export interface Timeouts {
  readonly connectMs: number;
  /** Time until the first byte of a response, and between two chunks. */
  readonly answerMs: number;
  /** Time of one attempt, from sending to the last byte. */
  readonly attemptMs: number;
  /** Time of the whole call: attempts, pauses and waiting for a slot. */
  readonly callMs: number;
}

/** Divides the time of a call so that a second attempt of each part is possible. */
export function divideTimeout(callTimeoutSeconds: number): Timeouts {
  const callMs = callTimeoutSeconds * 1000;
  const takeNinths = (count: number) => Math.ceil((callMs * count) / 9);
  return { connectMs: takeNinths(1), answerMs: takeNinths(2), attemptMs: takeNinths(4), callMs };
}
