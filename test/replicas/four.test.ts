import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { EventPayload } from "../../src/contract/events.ts";
import { sha256Hex } from "../../src/lib/crypto.ts";
import type { Row, TableName } from "../../src/store/tables.ts";
import { headerOf, openPost, type Post, smtp } from "../mail/post.ts";
import type { Desk } from "../support/desk.ts";
import { startProcess } from "../support/processes.ts";
import { auditOf } from "../support/state.ts";
import { openReceiver, type Receiver } from "../webhooks/receiver.ts";
import { openBalancer } from "./balancer.ts";
import { openGround } from "./ground.ts";
import { type Accepted, Mixed } from "./mixed.ts";
import { startReplica } from "./replica.ts";

const seconds = Number(process.env["TEST_REPLICA_SECONDS"] ?? 12);
const killEveryMs = Math.min(5_000, (seconds * 1_000) / 3);
/** What one token reaches in the time that there is. */
const limit = seconds < 60 ? 100 : 300;
const windowMs = 60_000;
const exportIntervalMs = 2_000;
const leasesEndMs = 120_000;
const many = 1_000_000;

const shared = {
  PROGRAMME_WEBHOOK_LOOPBACK: "true",
  PROGRAMME_REQUESTS_PER_MINUTE: String(limit),
  PROGRAMME_EXPORT_INTERVAL_SECONDS: String(exportIntervalMs / 1_000),
  PROGRAMME_CONFIRM: "ask",
  PROGRAMME_PRIVACY: "api",
};

/** Four replicas behind a balancer, with receivers of webhooks and mail; the desk looks at their database. */
async function openStage() {
  const post = await openPost();
  const environment = { ...shared, ...smtp(post, { PROGRAMME_SMTP_TIMEOUT_SECONDS: "15" }) };
  const { desk, database } = await openGround(environment);
  const receivers = [await openReceiver(), await openReceiver()];
  for (const { url } of receivers) await desk.app.webhooks?.endpoints.add(desk.businessId, url, []);
  const balancer = await openBalancer();
  const settings = { ...environment, PROGRAMME_PUBLIC_URL: balancer.origin };
  const replicas = await Promise.all(Array.from({ length: 4 }, () => startReplica(database, settings)));
  const origins = replicas.map(({ origin }) => origin);
  balancer.turnTo(origins);
  const { programId, trackId } = await desk.seed.track();
  const applicantEmails = ["ada", "ben", "cleo"].map((name) => `${name}@example.org`);
  for (const email of applicantEmails) await desk.seed.applicant({ email, programIds: [programId] });
  const { store } = desk.app;
  const revoke = async (token: string) => {
    const found = await store.findToken(sha256Hex(token));
    await store.revokeToken(found?.tokenId ?? "", new Date().toISOString());
  };
  const { origin } = balancer;
  const mixed = new Mixed({ origin, origins, programId, trackId, applicantEmails, token: () => desk.token(), revoke });
  return { desk, database, environment: settings, post, receivers, replicas, mixed };
}

type Stage = Awaited<ReturnType<typeof openStage>>;

/** Lets the clients work while one replica after the other is killed; how many were. */
async function killEachInTurn({ replicas, mixed }: Stage): Promise<number> {
  await mixed.start();
  const startedMs = performance.now();
  let kills = 0;
  while (performance.now() - startedMs < seconds * 1_000 - killEveryMs / 2) {
    const nextMs = startedMs + (kills + 1) * killEveryMs;
    await delay(Math.max(0, nextMs - performance.now()));
    await replicas[kills++ % replicas.length]?.killAndStart();
  }
  await mixed.stop();
  return kills;
}

/** Waits until all that is under way has ended. In a short run somebody comes for whom all leases have ended already. */
async function settled({ desk, database, environment, receivers }: Stage): Promise<void> {
  if (seconds < 60) await startProcess(database, environment, { aheadMs: leasesEndMs });
  const { store } = desk.app;
  const reader = store.reader(desk.businessId);
  const left = async () => {
    const events = await store.outbox.lastPosition(desk.businessId);
    return {
      exports: await reader.count("exports", { where: { status: "pending" } }),
      mail: await reader.count("emailSends", { where: { status: "queued" } }),
      events: Math.max(...receivers.map(({ eventIds }) => events - new Set(eventIds()).size)),
    };
  };
  const nothing = { exports: 0, mail: 0, events: 0 };
  await vi.waitFor(async () => expect(await left()).toEqual(nothing), { timeout: 240_000, interval: 250 });
}

async function rowsOf<T extends TableName>({ app, businessId }: Desk, table: T): Promise<Row<T>[]> {
  const rows: Row<T>[] = [];
  for await (const row of app.store.reader(businessId).scan(table, {})) rows.push(row);
  return rows;
}

/** The most requests that were certainly let in within one window: sent after its start, answered before its end. */
function mostIn(accepted: readonly Accepted[], lengthMs: number): number {
  return Math.max(
    0,
    ...accepted.map(({ sentMs: from }) => {
      const inside = accepted.filter(({ sentMs, receivedMs }) => sentMs >= from && receivedMs < from + lengthMs);
      return inside.length;
    }),
  );
}

async function expectRate({ desk, mixed }: Stage): Promise<Record<string, number>> {
  const told = mostIn(mixed.limited, windowMs);
  expect(told).toBeLessThanOrEqual(limit);
  const token = await desk.app.store.findToken(sha256Hex(mixed.limitedToken));
  const entries = await auditOf(desk.app.store, desk.businessId, "program.read");
  const own = entries.filter(({ tokenId, status }) => tokenId === token?.tokenId && status === 200);
  // A request counts some moment after the time that its entry says, before it was answered.
  const slowestMs = Math.max(...mixed.limited.map(({ sentMs, receivedMs }) => receivedMs - sentMs));
  const times = own.map(({ occurredAt }) => ({ sentMs: Date.parse(occurredAt), receivedMs: Date.parse(occurredAt) }));
  const recorded = mostIn(times, windowMs - slowestMs);
  expect(recorded).toBeLessThanOrEqual(limit);
  expect(mixed.refused).toBeGreaterThan(0);
  expect(mixed.limited.length).toBeGreaterThan(limit / 4);
  return { told, recorded, accepted: mixed.limited.length, refused: mixed.refused };
}

async function expectSubmissions({ desk, mixed }: Stage): Promise<void> {
  const rows = await rowsOf(desk, "submissions");
  const found = new Map(
    rows.map(({ submissionId, title, state, version }) => [submissionId, { title, state, version }]),
  );
  expect(found).toEqual(mixed.submissions);
  for (const action of ["submission.created", "submission.fields_updated"]) {
    const changes = (await auditOf(desk.app.store, desk.businessId, action)).filter(
      ({ changes }) => changes.length > 0,
    );
    expect(changes.map(({ submissionId }) => submissionId).toSorted(), action).toEqual([...found.keys()].toSorted());
  }
}

/** What is written down was received by all, as it is, and nothing else was. */
async function expectEvents({ desk, mixed, receivers }: Stage): Promise<number> {
  const events = await desk.app.store.listEvents(desk.businessId, many);
  const written = new Map(events.map((event) => [event.eventId, event]));
  for (const { received } of receivers) {
    const bodies = received.map(({ body }) => JSON.parse(body) as EventPayload);
    expect(new Map(bodies.map((event) => [event.eventId, event]))).toEqual(written);
  }
  const created = events.flatMap(({ eventType, data }) =>
    eventType === "submission.draft_created" && "submissionId" in data ? data.submissionId : [],
  );
  expect(created.toSorted()).toEqual([...mixed.submissions.keys()].toSorted());
  return events.length;
}

async function expectConfirmations({ desk, mixed }: Stage): Promise<void> {
  const bulks = Map.groupBy(await rowsOf(desk, "emailSends"), ({ subject }) => subject);
  for (const { subject, accepted } of mixed.confirmations) {
    const sends = bulks.get(subject) ?? [];
    expect(accepted).toBeLessThanOrEqual(1);
    expect(sends.length).toBeLessThanOrEqual(1);
    expect(sends.length).toBeGreaterThanOrEqual(accepted);
  }
  expect(mixed.confirmations.filter(({ accepted }) => accepted === 1).length).toBeGreaterThan(0);
}

async function expectMail({ desk, mixed }: Stage, post: Post): Promise<number> {
  const rows = await rowsOf(desk, "emailSends");
  const keyed = Map.groupBy(
    rows.filter(({ subject }) => subject === "News"),
    ({ bulkId }) => bulkId as string,
  );
  expect(new Map([...keyed].map(([bulkId, sends]) => [bulkId, sends.length]))).toEqual(mixed.bulks);
  const taken = post.taken.flatMap((letter) => headerOf(letter, "Message-ID"));
  expect(taken).toHaveLength(new Set(taken).size);
  const sent = rows.filter(({ status }) => status === "sent");
  const idOf = ({ emailSendId }: Row<"emailSends">) => `<${emailSendId}@example.org>`;
  expect(sent.map(idOf).filter((id) => !taken.includes(id))).toEqual([]);
  const unknown = expect.stringMatching(/^It is not known whether the mail server took the message/);
  const others = rows.filter(({ status }) => status !== "sent");
  for (const { status, error } of others) expect([status, error]).toEqual(["failed", unknown]);
  return others.length;
}

async function expectExports({ desk, mixed }: Stage): Promise<number> {
  const jobs = await rowsOf(desk, "exports");
  expect(jobs.filter(({ status }) => status !== "completed")).toEqual([]);
  const ids = jobs.map(({ exportId }) => exportId);
  expect(mixed.exportIds.filter((exportId) => !ids.includes(exportId))).toEqual([]);
  const times = jobs.map(({ createdAt }) => Date.parse(createdAt)).toSorted((a, b) => a - b);
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] as number));
  expect(gaps.filter((gapMs) => gapMs < exportIntervalMs)).toEqual([]);
  expect(mostIn(mixed.exports, exportIntervalMs)).toBeLessThanOrEqual(1);
  return jobs.length;
}

function duplicatesAt({ eventIds }: Receiver): number {
  return eventIds().length - new Set(eventIds()).size;
}

test("four replicas, one of which is killed again and again, hold what one process holds", async () => {
  const stage = await openStage();
  const kills = await killEachInTurn(stage);
  const { mixed, post, receivers } = stage;
  await settled(stage);
  const rate = await expectRate(stage);
  await expectSubmissions(stage);
  const events = await expectEvents(stage);
  await expectConfirmations(stage);
  const unknownMail = await expectMail(stage, post);
  const exports = await expectExports(stage);
  expect(new Set(mixed.afterRevocation)).toEqual(new Set([401]));
  expect(kills).toBeGreaterThanOrEqual(2);
  for (const replica of stage.replicas) expect(await replica.stop(), replica.said()).toBe(0);
  if (process.env["TEST_REPLICA_SECONDS"] === undefined) return;
  const requests = Object.fromEntries(mixed.tally.counts);
  const { repeated, submissions, confirmations, afterRevocation, bulks } = mixed;
  console.info({
    ...{ seconds, kills, requests, rate, repeated, submissions: submissions.size, bulks: bulks.size, events },
    confirmations: [0, 1].map((n) => confirmations.filter(({ accepted }) => accepted === n).length),
    ...{ exports, unknownMail, mail: post.taken.length, afterRevocation: afterRevocation.length },
    deliveredTwice: receivers.map(duplicatesAt),
  });
}, 900_000);
