import { setTimeout as delay } from "node:timers/promises";
import { type Ledger, readLedger } from "./check.ts";
import { Load, type LoadOptions } from "./load.ts";
import { type Installation, install, onEnd, type Program, type StartOptions, startProgram } from "./program.ts";
import { openReceiver, type Receiver } from "./receiver.ts";

/** The findings of one run of a fault. */
export interface CaseResult {
  readonly name: string;
  readonly ledgers: readonly Ledger[];
  /** The answers to failed attempts that callers saw, with how often. */
  readonly seen: Readonly<Record<string, number>>;
  readonly attempts: number;
  /** Time from the end of the fault until the first success after which nothing has failed. */
  readonly recoverySeconds?: number;
  /** Answers of `/readyz` other than 200 with all checks as usual. */
  readonly readiness: readonly string[];
  /** Messages of warnings and errors in the log. */
  readonly warnings: readonly string[];
  /** Further figures, by what they measure. */
  readonly figures: Readonly<Record<string, number>>;
  readonly steps?: readonly StepResult[];
}

/** The traces of a write whose process was killed at a step, and after the write was repeated. */
export interface StepResult {
  readonly step: string;
  readonly found: "nothing" | "everything" | "a part";
  readonly records: number;
  readonly entries: number;
  readonly events: number;
}

export interface FaultCase {
  readonly name: string;
  run(): Promise<Omit<CaseResult, "name">>;
}

/** A running program with a receiver of its events. */
export interface Subject {
  readonly installation: Installation;
  readonly receiver: Receiver;
  /** The program that clients call now. A case may replace it. */
  program: Program;
  /** Where clients call it. */
  origin(): string;
  /** The program whose probes and log are watched, if another one than `program`. */
  readonly watched?: Program;
}

export async function openSubject(
  settings: Readonly<Record<string, string>> = {},
  options: StartOptions = {},
  prepare: (installation: Installation) => Promise<unknown> = async () => undefined,
): Promise<Subject> {
  const installation = await install(settings);
  const receiver = await openReceiver();
  await installation.run("webhook", "add", receiver.url);
  await prepare(installation);
  const subject: Subject = {
    installation,
    receiver,
    program: await startProgram(installation, options),
    origin: () => subject.program.origin,
  };
  onEnd(() => subject.program.kill());
  return subject;
}

export interface Injection {
  readonly load: Load;
  /** Moment at which the load began. */
  readonly startedMs: number;
}

/** Times before a fault begins and after it has ended. */
const [beforeMs, afterMs] = [2_000, 3_000];

/** Calls a subject before, during and after a fault. `inject` resolves when the fault has ended. */
export async function measureFault(
  subject: Subject,
  inject: (injection: Injection) => Promise<Record<string, number> | undefined>,
  options: LoadOptions = {},
): Promise<Omit<CaseResult, "name">> {
  const { installation, receiver } = subject;
  const door = () => ({ origin: subject.origin(), token: installation.token });
  const startedMs = performance.now();
  const load = new Load(door, installation, options);
  const readiness = watchReadiness(() => (subject.watched ?? subject.program).origin);
  await delay(beforeMs);
  const figures = (await inject({ load, startedMs })) ?? {};
  const endedMs = performance.now();
  await waitUntilCalm(load);
  await load.stop();
  const ledger = await readLedger({ ...door(), origin: subject.program.origin }, load.acknowledged, receiver);
  return {
    ledgers: [ledger],
    seen: load.countFailures(),
    attempts: load.attempts.length,
    recoverySeconds: load.getRecoveryMs(endedMs) / 1_000,
    readiness: readiness.stop(),
    warnings: (subject.watched ?? subject.program).listWarnings(),
    figures,
  };
}

async function waitUntilCalm({ attempts }: Load): Promise<void> {
  const untilMs = performance.now() + 90_000;
  for (;;) {
    await delay(500);
    const sinceMs = performance.now() - afterMs;
    const recent = attempts.filter(({ atMs }) => atMs >= sinceMs);
    if (performance.now() > untilMs) return;
    if (recent.length > 0 && recent.every(({ ok }) => ok)) return;
  }
}

/** Asks `/readyz` again and again. `stop` returns what differed from ready, each once. */
function watchReadiness(origin: () => string) {
  const states = new Set<string>();
  const timer = setInterval(async () => {
    try {
      const answer = await fetch(`${origin()}/readyz`, { signal: AbortSignal.timeout(5_000) });
      states.add(describe(answer.status, (await answer.json()) as Readiness));
    } catch (error) {
      const { name, cause } = error as Error & { cause?: { code?: string } };
      states.add(`no answer (${name === "TimeoutError" ? "within 5 seconds" : (cause?.code ?? name)})`);
    }
  }, 200);
  return {
    stop() {
      clearInterval(timer);
      return [...states.difference(new Set(["200"]))];
    },
  };
}

interface Readiness {
  readonly checks: Readonly<Record<string, string>>;
}

function describe(status: number, { checks }: Readiness): string {
  const usual = ["ok", "running", "closed"];
  const troubles = Object.entries(checks).filter(([, value]) => !usual.includes(value));
  return [status, troubles.map(([name, value]) => `${name} ${value}`).join(", ")].join(" ").trim();
}
