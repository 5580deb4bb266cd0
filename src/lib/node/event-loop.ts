/**
 * The order of work in a turn of the event loop after its input has been read: first what waits for the end of the
 * input, then answers that are ready, then long work in small steps, as many as fit into a short turn. The steps of all
 * long work share one turn, because each of them delays every request that arrives during the turn.
 */

/**
 * No further step begins in a turn that has taken so many milliseconds. A call passes several turns, so a short one
 * shortens each wait.
 */
export const maxTurnMs = 0.5;

type Work = () => void;
/** Resolves when the work waits for something else than promises that are resolved. */
type Step = () => Promise<void>;

const callers: Work[] = [];
const answers: Work[] = [];
/** Limited by the calls and background tasks in progress, each of which has one at most. */
const steps: Step[] = [];
let isTurnPlanned = false;

/** Waits until the input of this turn has been read, and not for work that takes long. */
export function waitForEndOfInput(): Promise<void> {
  planTurn();
  return new Promise((resolve) => callers.push(resolve));
}

/** Runs work at the end of this turn, together with other such work. The work must not throw. */
export function runAtEndOfTurn(work: Work): void {
  planTurn();
  answers.push(work);
}

/** Runs what waits for the end of this turn. Called before other work begins there, so that answers do not wait for it. */
export function finishTurn(): void {
  for (const work of answers.splice(0)) work();
}

/** Runs a step of long work when it is its turn, after those that wait already. The step must not throw. */
export function runStep(step: Step): void {
  planTurn();
  steps.push(step);
}

/** Lets others run before long work continues: resolves when the next step of the work has its turn. */
export function waitForOthers(): Promise<void> {
  return new Promise((resolve) =>
    runStep(() => {
      resolve();
      return runUntilItWaits();
    }),
  );
}

/** Resolves when all callbacks of promises have run: a call that has started waits for something else then. */
export function runUntilItWaits(): Promise<void> {
  // A tick that is asked for within such a callback comes after all of them, otherwise before.
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}

function planTurn(): void {
  if (isTurnPlanned) return;
  isTurnPlanned = true;
  setImmediate(resumeCallers);
  // Node runs all ticks and callbacks of promises between two immediates, so callers have got as far as they can.
  setImmediate(() => void takeSteps());
}

function resumeCallers(): void {
  for (const resume of callers.splice(0)) resume();
}

async function takeSteps(): Promise<void> {
  const startedMs = performance.now();
  finishTurn();
  for (let step = steps.shift(); step; step = isOver(startedMs) ? undefined : steps.shift()) {
    await step();
    finishTurn();
  }
  isTurnPlanned = false;
  if (callers.length + answers.length + steps.length > 0) planTurn();
}

function isOver(startedMs: number): boolean {
  return performance.now() - startedMs >= maxTurnMs;
}
