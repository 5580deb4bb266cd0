import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { readMemoryMiB } from "../../process-usage.ts";
import { callRest, type Door } from "../client.ts";
import { type FaultCase, measureFault, openSubject, type Subject } from "../measure.ts";
import { type StartOptions, startProgram } from "../program.ts";

const [pressureMs, callers] = [15_000, 40];

interface Pressure {
  readonly heapMiB: number;
  readonly maxConcurrentRequests: number;
}

/** Clients send large records and read large pages at once, to a program with little memory. Ends are followed by a start. */
function createMemoryCase(name: string, { heapMiB, maxConcurrentRequests }: Pressure): FaultCase {
  return {
    name,
    async run() {
      const subject = await openSubject();
      const { installation } = subject;
      await subject.program.stop();
      const options = {
        nodeArguments: [`--max-old-space-size=${heapMiB}`],
        settings: { PROGRAMME_MAX_CONCURRENT_REQUESTS: String(maxConcurrentRequests) },
      };
      subject.program = await startProgram(installation, options);
      const doors: Door[] = [];
      for (let index = 0; index < callers; index += 1) {
        const { token } = JSON.parse(await installation.run("token", "create", "--scopes", "all", "--json"));
        doors.push({ origin: subject.program.origin, token });
      }
      return measureFault(subject, async () => {
        const untilMs = performance.now() + pressureMs;
        const counts = { large: 0, refused: 0, mostMiB: 0, ends: 0 };
        const clients = doors.map((door) => pressOn(door, untilMs, counts));
        while (performance.now() < untilMs) {
          await delay(100);
          if (subject.program.hasEnded()) counts.ends += await restart(subject, options);
          else counts.mostMiB = Math.max(counts.mostMiB, readMemoryMiB(subject.program.pid) || 0);
        }
        await Promise.all(clients);
        if (subject.program.hasEnded()) counts.ends += await restart(subject, options);
        return counts;
      });
    },
  };
}

/** Starts the program until it stays, as a service manager does. Returns how often it had ended. */
async function restart(subject: Subject, options: StartOptions): Promise<number> {
  const { port } = subject.program;
  for (let ends = 1; ; ends += 1) {
    const started = await startProgram(subject.installation, { ...options, port }).catch(() => undefined);
    if (!started) continue;
    subject.program = started;
    return ends;
  }
}

async function pressOn(door: Door, untilMs: number, counts: { large: number; refused: number }): Promise<void> {
  const metadata = { text: "x".repeat(50_000) };
  while (performance.now() < untilMs) {
    const person = { kinds: [], provenance: { source: "crm" }, metadata: { ...metadata, id: randomUUID() } };
    const calls = [callRest(door, "POST", "/persons", person), callRest(door, "GET", "/persons?limit=100")];
    for (const { ok, seen } of await Promise.all(calls)) {
      counts.large += ok ? 1 : 0;
      counts.refused += /^(503|429)/.test(seen) ? 1 : 0;
    }
    await delay(20);
  }
}

export const memoryCases: readonly FaultCase[] = [
  createMemoryCase("memory-limited", { heapMiB: 192, maxConcurrentRequests: 32 }),
  createMemoryCase("memory-exhausted", { heapMiB: 32, maxConcurrentRequests: 256 }),
];
