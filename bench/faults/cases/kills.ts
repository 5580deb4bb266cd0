import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../../../test/support/database/postgres-server.ts";
import { freePort } from "../../../test/support/processes/free-port.ts";
import { listAll } from "../check.ts";
import { type Answer, callRest, callTool } from "../client.ts";
import { connectInspector, type Inspector } from "../debugger.ts";
import { createSubmissionInput } from "../load.ts";
import type { CaseResult, FaultCase, StepResult } from "../measure.ts";
import { type Installation, install, onEnd, type Program, startProgram } from "../program.ts";
import { openReceiver, type Receiver } from "../receiver.ts";
import { startStdio } from "../stdio.ts";
import { commitSteps, listSteps, questionSteps, type Step } from "../steps.ts";
import { injectFault } from "../trace.ts";

type Door = "rest" | "http" | "stdio";

/** A process that is stopped at a step and killed. */
interface Victim {
  readonly pid: number;
  readonly inspector: Inspector;
  /** Resolves to undefined if the process ends first. */
  call(name: "create_submission" | "withdraw_submission", args: object, key: string): Promise<Answer | undefined>;
  kill(): Promise<void>;
}

async function startVictim(installation: Installation, door: Door): Promise<Victim> {
  const port = await freePort();
  const nodeArguments = [`--inspect=127.0.0.1:${port}`];
  if (door === "stdio") {
    const { callTool: call, pid, kill } = await startStdio(installation, nodeArguments);
    return { pid, inspector: await connectInspector(port), call, kill };
  }
  const program = await startProgram(installation, { nodeArguments });
  const at = { origin: program.origin, token: installation.token };
  return {
    pid: program.pid,
    inspector: await connectInspector(port),
    call: (name, args, key) =>
      door === "http" ? callTool(at, name, args, key) : callRest(at, "POST", "/submissions", args, key),
    kill: program.kill,
  };
}

/** The database as another process sees it. */
class Observer {
  readonly #program: Program;
  readonly #token: string;
  readonly #receiver: Receiver;

  constructor(program: Program, token: string, receiver: Receiver) {
    this.#program = program;
    this.#token = token;
    this.#receiver = receiver;
  }

  get door() {
    return { origin: this.#program.origin, token: this.#token };
  }

  /** Counts the records and the audit entries of a creation or a withdrawal. */
  async count(action: Action, address: string): Promise<{ records: number; entries: number; id: string | undefined }> {
    const rows = await listAll<Row>(this.door, "/submissions?limit=100");
    const own = rows.filter(({ innovatorEmail }) => innovatorEmail === address);
    const id = own[0]?.submissionId;
    if (id === undefined) return { records: 0, entries: 0, id };
    const path = `/audit?limit=100&submissionId=${id}&action=${actions[action].audited}`;
    const entries = await listAll<{ status: number | null }>(this.door, path);
    const changed = action === "create" ? own : own.filter(({ version }) => version > 0);
    // A change that is made twice raises the version twice.
    const records = changed.reduce((sum, { version }) => sum + (action === "create" ? 1 : version), 0);
    return { records, entries: entries.filter(({ status }) => status === null).length, id };
  }

  /** Waits for the first event of each kind of a record, and counts them. */
  async countEvents(action: Action, id: string): Promise<number> {
    const count = () =>
      [...this.#receiver.events.values()].filter(
        ({ event: { eventType, data } }) =>
          eventType === actions[action].event && "submissionId" in data && data.submissionId === id,
      ).length;
    for (let tries = 0; tries < 600 && count() === 0; tries += 1) await delay(100);
    return count();
  }
}

interface Row {
  readonly submissionId: string;
  readonly innovatorEmail: string;
  readonly version: number;
}

const actions = {
  create: { audited: "submission.created", event: "submission.draft_created" },
  withdraw: { audited: "submission.withdrawn", event: "submission.withdrawn" },
};
type Action = keyof typeof actions;

interface Killed {
  readonly step: string;
  readonly address: string;
  readonly found: StepResult["found"];
  readonly repeated: string;
}

interface Plan {
  readonly door: Door;
  readonly action: Action;
  readonly steps: readonly Step[];
}

/** Kills a process at every step of a write, each time in a new process. The next process repeats the write. */
async function killAtEachStep({ door, action, steps }: Plan, settings: Record<string, string>) {
  const installation = await install(settings);
  const receiver = await openReceiver();
  await installation.run("webhook", "add", receiver.url);
  const observer = new Observer(await startProgram(installation), installation.token, receiver);
  const killed: Killed[] = [];
  let victim = await startVictim(installation, door);
  for (const step of steps) {
    const address = `${randomUUID()}@example.org`;
    const prepared = await prepareCall(action, installation, address, observer);
    const isQuestion = questionSteps.includes(step);
    const key = randomUUID();
    const args = isQuestion ? prepared.args : await prepared.confirm(victim);
    await killAt(step, victim, () => victim.call(prepared.name, args, key));
    const { records, entries } = await observer.count(action, address);
    victim = await startVictim(installation, door);
    const repeat = isQuestion ? await prepared.confirm(victim) : args;
    const answer = await repeatUntilAnswered(() => victim.call(prepared.name, repeat, key));
    const found = records === 0 && entries === 0 ? "nothing" : records === 1 && entries === 1 ? "everything" : "a part";
    killed.push({ step: step.name, address, found, repeated: answer.seen });
  }
  return await listResults(killed, action, observer);
}

async function killAt(step: Step, { pid, inspector, kill }: Victim, call: () => Promise<Answer | undefined>) {
  if ("systemCall" in step) {
    const end = await injectFault(pid, step.systemCall, `signal=KILL:when=${step.nth}`);
    const answer = await call();
    if (answer?.ok) throw new Error(`The call has ended before ${step.name}`);
    await kill();
    await end();
    return;
  }
  const { entered, after } = step;
  const stopped = inspector.stopAt([...(after ? [after] : []), entered]);
  // The breakpoints are set by then.
  await delay(200);
  const answered = call();
  const first = await Promise.race([stopped, answered]);
  if (first) throw new Error(`The call did not stop at ${entered}: ${first.seen}`);
  await kill();
  inspector.close();
  await answered;
}

interface PreparedCall {
  readonly name: "create_submission" | "withdraw_submission";
  readonly args: object;
  /** Returns the arguments of the call that makes the change, which may need a confirmation. */
  confirm(victim: Victim): Promise<object>;
}

async function prepareCall(
  action: Action,
  { trackId }: Installation,
  address: string,
  { door }: Observer,
): Promise<PreparedCall> {
  const submission = createSubmissionInput(trackId, address);
  if (action === "create") return { name: "create_submission", args: submission, confirm: async () => submission };
  const { data } = await repeatUntilAnswered(() => callRest(door, "POST", "/submissions", submission));
  const args = { submissionId: data.submissionId, version: 0, reason: "No more" };
  const name = "withdraw_submission";
  return {
    name,
    args,
    async confirm(victim) {
      const question = await repeatUntilAnswered(() => victim.call(name, args, randomUUID()));
      return { ...args, confirmation: question.data.confirmation.token };
    },
  };
}

async function repeatUntilAnswered(call: () => Promise<Answer | undefined>): Promise<Answer> {
  for (;;) {
    const answer = await call();
    if (answer?.ok) return answer;
    // Each killed process keeps a tenth of the token's rate for a minute.
    if (!answer || !/rate_limited|unavailable/.test(answer.seen))
      throw new Error(`The program answers ${answer?.seen}`);
    await delay(1_000);
  }
}

async function listResults(killed: readonly Killed[], action: Action, observer: Observer): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const { step, address, found } of killed) {
    const { records, entries, id } = await observer.count(action, address);
    results.push({
      step,
      found,
      records,
      entries,
      events: id === undefined ? 0 : await observer.countEvents(action, id),
    });
  }
  return results;
}

function createKillCase(
  name: string,
  plan: Plan,
  openDatabase = async (): Promise<Record<string, string>> => ({}),
): FaultCase {
  return {
    name,
    async run(): Promise<Omit<CaseResult, "name">> {
      const steps = await killAtEachStep(plan, await openDatabase());
      return { ledgers: [], seen: {}, attempts: steps.length, readiness: [], warnings: [], figures: {}, steps };
    },
  };
}

async function openPostgres(): Promise<Record<string, string>> {
  const server = await startPostgres({ settings: { synchronous_commit: "on" } });
  onEnd(() => server.stop());
  return { PROGRAMME_DATABASE: server.address, PROGRAMME_SECRET_KEY: "5e".repeat(32) };
}

const create = (door: Door): Plan => ({ door, action: "create", steps: listSteps(door, false) });
const withdraw = (door: Door): Plan => ({
  door,
  action: "withdraw",
  steps: [...questionSteps, ...listSteps(door, true)],
});

export const killCases: readonly FaultCase[] = [
  createKillCase("kill-rest", create("rest")),
  createKillCase("kill-mcp", create("http")),
  createKillCase("kill-stdio", create("stdio")),
  createKillCase("kill-mcp-confirmed", withdraw("http")),
  createKillCase("kill-stdio-confirmed", withdraw("stdio")),
  createKillCase("kill-rest-postgres", create("rest"), openPostgres),
  createKillCase("kill-in-commit", { door: "rest", action: "create", steps: commitSteps }),
];
