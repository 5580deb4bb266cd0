let waiting: (() => void)[] = [];

/** Runs work at the end of this turn of the event loop, together with other such work. The work must not throw. */
export function runAtEndOfTurn(work: () => void): void {
  if (waiting.length === 0) setImmediate(finishTurn);
  waiting.push(work);
}

/** Runs what waits for the end of this turn. Called before work of others begins there, so that answers do not wait for it. */
export function finishTurn(): void {
  const works = waiting;
  waiting = [];
  for (const work of works) work();
}
