/** A step of a write, as the function of the built program with which it begins. */
export interface FunctionStep {
  readonly name: string;
  readonly entered: RegExp;
  /** A function that the call enters before, where other work also enters the step's function. */
  readonly after?: RegExp;
}

/** A step within the commit, as one of its system calls. */
export interface SystemCallStep {
  readonly name: string;
  readonly systemCall: string;
  readonly nth: number;
}

export type Step = FunctionStep | SystemCallStep;

const transact = /^function transact\(/;
const saveAnswer = /^\tasync saveAnswer\(/;

const confirmation: FunctionStep = { name: "apply the confirmation", entered: /^async function applyConfirmation\(/ };

/** The steps of `pipeline.execute` for a write, in their order. */
const pipelineSteps: readonly FunctionStep[] = [
  { name: "authenticate", entered: /^async function authenticate\(/ },
  { name: "use the rate", entered: /async function consumePermit\(/ },
  { name: "prepare", entered: /^async function prepareCall\(/ },
  { name: "authorize", entered: /^function authorize\(/ },
  { name: "validate", entered: /^function validateInput\(operation/ },
  { name: "wait for a turn", entered: /async run\(key, work\)/ },
  { name: "open the transaction", entered: transact },
  { name: "look for an earlier answer", entered: /^\tasync findAnswer\(/ },
  { name: "run the handler", entered: /^async function runWriteHandler\(/ },
  { name: "record written", entered: /^\tasync #enqueue\(/, after: transact },
  { name: "append events", entered: /^\tasync appendEvents\(/ },
  { name: "append audit entries", entered: /^\tasync appendAudit\(/ },
  { name: "store the answer", entered: saveAnswer },
  // SQLite waits for the disk afterwards.
  { name: "commit", entered: /^\tasync (?:commitRelaxed\(\)|commitTransaction\(session\)) \{/, after: saveAnswer },
  { name: "committed", entered: /^async function createAnswer\(store/ },
  { name: "redact", entered: /^async function redactResult\(/, after: saveAnswer },
];

/** Calls with a confirmation are answered by the SDK, others by the fast path. */
const sending = {
  rest: /^function writeJson\(/,
  http: /^function runAtEndOfTurn\(|^\t+async send\(message/,
  stdio: /^\tasync send\(message\) \{/,
};

/** Returns the steps of a write through a door; with those of a confirmed call if it needs a confirmation. */
export function listSteps(door: keyof typeof sending, isConfirmed: boolean): Step[] {
  const send: FunctionStep = { name: "send the answer", entered: sending[door], after: saveAnswer };
  const steps = [...pipelineSteps, send];
  if (isConfirmed)
    steps.splice(
      steps.findIndex(({ name }) => name === "append events"),
      0,
      confirmation,
    );
  return steps;
}

/** The steps of a call that asks for a confirmation: it runs and is rolled back. */
export const questionSteps: readonly Step[] = [
  { name: "question: dry run", entered: /^function runDry\(/ },
  {
    name: "question: roll back",
    entered: /^\tasync rollbackTransaction\((?:session)?\) \{/,
    after: /^function runDry\(/,
  },
];

/** The system calls of a commit of SQLite: it writes to the log, then has the disk confirm it. */
export const commitSteps: readonly Step[] = [
  ...Array.from({ length: 10 }, (_, index) => ({ name: `write ${index + 1}`, systemCall: "pwrite64", nth: index + 1 })),
  { name: "fsync", systemCall: "fsync,fdatasync", nth: 1 },
];
