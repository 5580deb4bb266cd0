import { expect, onTestFinished, test } from "vitest";
import { createSeededRandom } from "../../src/lib/crypto/random.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { type Agent, type Outcome, openAgent } from "./agent.ts";
import { openMisbehaving, passingFaults } from "./misbehaving-proxy.ts";
import { openService, type Service } from "./service.ts";

const calls = 1_000;
const inFlight = 32;
const timeoutSeconds = 12;
const faults = Object.values(passingFaults);

/** One call of the thousand; writes can be counted in the database by what makes them unmistakable. */
interface Job {
  readonly mark: string;
  readonly writes: boolean;
  /** An automation's own idempotency key. */
  readonly key: string | undefined;
  run(agent: Agent): Promise<Outcome>;
}

interface Ended {
  readonly job: Job;
  readonly outcome: Outcome;
  readonly seconds: number;
}

/** Writes that nothing but the idempotency key keeps from being applied twice. */
async function jobsOf({ seed }: Service): Promise<Job[]> {
  const { programId, trackId } = await seed.track();
  const kinds = [
    (mark: string) =>
      ["create_person", { kinds: ["contact"], provenance: { source: "test", sourceId: mark } }] as const,
    (mark: string) =>
      [
        "create_submission",
        {
          trackId,
          fields: {},
          deadline: "2030-01-01T00:00:00Z",
          innovatorId: mark,
          innovatorEmail: `${mark}@example.org`,
          innovatorName: "Ada Marsh",
        },
      ] as const,
    (mark: string) =>
      [
        "invite_reviewer",
        { email: `${mark}@example.org`, suppressEmails: true, firstName: "Rita", lastName: "Okafor" },
      ] as const,
    () => ["list_persons", { limit: 5 }] as const,
    () => ["get_program", { programId }] as const,
  ];
  return Array.from({ length: calls }, (_, index) => {
    const mark = `mark-${index}`;
    const key = index % 2 === 0 ? `workflow-7/step-${index}` : undefined;
    const [name, args] = (kinds[index % kinds.length] as (typeof kinds)[number])(mark);
    const writes = !/^(list|get)_/.test(name);
    return { mark, writes, key, run: (agent) => agent.call(name, args, { key }) };
  });
}

/** Counts each mark in the upstream's database. */
async function applied({ store, businessId }: Service): Promise<Map<string, number>> {
  const reader = store.reader(businessId);
  const marks: unknown[] = [];
  for await (const { provenance } of reader.scan("persons", {})) marks.push(provenance.sourceId);
  for await (const { innovatorId } of reader.scan("submissions", {})) marks.push(innovatorId);
  for await (const { email } of reader.scan("reviewers", {})) marks.push(email.replace("@example.org", ""));
  return new Map([...Map.groupBy(marks, String)].map(([mark, found]) => [mark, found.length]));
}

async function runAll(jobs: readonly Job[], agent: Agent): Promise<Ended[]> {
  const [waiting, ended]: [Job[], Ended[]] = [[...jobs], []];
  const worker = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      const startedMs = performance.now();
      const outcome = await job.run(agent);
      ended.push({ job, outcome, seconds: (performance.now() - startedMs) / 1000 });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return ended;
}

test("a thousand calls through a service that fails one request in five: all end, every write is applied once", async () => {
  const service = await openService();
  const proxy = await openMisbehaving(service.origin);
  const app = await openRemote(proxy.origin, { PROGRAMME_TIMEOUT_SECONDS: String(timeoutSeconds) });
  onTestFinished(async () => {
    await app.close();
    await proxy.close();
  });
  const random = createSeededRandom(20_261_120);
  let failed = 0;
  proxy.behave(() => {
    if (random() >= 0.2) return undefined;
    failed += 1;
    return faults[Math.floor(random() * faults.length)];
  });
  const jobs = await jobsOf(service);
  const agent = await openAgent(app, await service.token());
  const ended = await runAll(jobs, agent);

  expect(ended).toHaveLength(calls);
  expect(failed / proxy.requests.length).toBeCloseTo(0.2, 1);
  expect(Math.max(...ended.map(({ seconds }) => seconds))).toBeLessThan(timeoutSeconds + 1);
  const unhappy = ended.filter(({ outcome }) => outcome.error);
  // Six tries in a row go wrong once in 15,000 calls.
  expect(unhappy.map(({ outcome }) => outcome.error?.code).join()).toMatch(/^(upstream_\w+,?|rate_limited,?)*$/);
  expect(unhappy.length).toBeLessThan(5);

  const first = await applied(service);
  for (const { job, outcome } of ended.filter(({ job }) => job.writes)) {
    const times = first.get(job.mark) ?? 0;
    if (!outcome.error) expect(times, job.mark).toBe(1);
    // Who is not told that it may have been applied may call again at once.
    else expect(times, job.mark).toBeLessThanOrEqual(outcome.error.code === "upstream_uncertain" ? 1 : 0);
  }

  // An automation runs again under its own keys: what was applied is not applied twice, what was not is made up for.
  proxy.behave(() => undefined);
  const again = await runAll(
    jobs.filter(({ key, writes }) => writes && key !== undefined),
    agent,
  );
  expect(again.filter(({ outcome }) => outcome.error)).toEqual([]);
  // What was answered is answered again. A replay that follows a retry of the request itself is not marked.
  const answered = new Map(ended.map(({ job, outcome }) => [job.mark, outcome]));
  for (const { job, outcome } of again) {
    const earlier = answered.get(job.mark);
    if (earlier && !earlier.error) expect(outcome.data, job.mark).toEqual(earlier.data);
  }
  const replayed = again.filter(({ outcome }) => outcome.notes?.join().includes("earlier identical call"));
  expect(replayed.length).toBeGreaterThan(again.length / 2);
  const counts = await applied(service);
  for (const { job } of again) expect(counts.get(job.mark), job.mark).toBe(1);
  expect([...counts.values()].every((times) => times === 1)).toBe(true);
}, 180_000);
