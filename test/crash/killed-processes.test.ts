import { readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Row, TableName } from "../../src/store/tables.ts";
import { type MailServer, openMailServer, readHeader, smtp } from "../mail/mail-server.ts";
import { send } from "../support/clients/raw-http.ts";
import { listAudit } from "../support/data/state.ts";
import { getFilesPrefix } from "../support/database/database-settings.ts";
import { openServersOnOneDatabase } from "../support/database/shared-database.ts";
import { startProcess } from "../support/processes/processes.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { type Done, Load, type LoadTargets } from "./load.ts";
import { openReceivers, type Receivers } from "./receivers.ts";

const kills = Number(process.env["TEST_KILLS"] ?? 6);
/** The clock of each process is ahead of the previous one's, so that leases end some processes later. */
const aheadMs = 7_000;
/** In the last process, all leases of the earlier ones have expired. */
const leasesEndMs = 120_000;
const many = 1_000_000;

/** Opens a service with people to write to and receivers of all kinds. Nothing runs yet. */
async function openStage() {
  const mailServer = await openMailServer({ data: async () => void (await delay(30 * Math.random())) });
  const environment = {
    ...smtp(mailServer, { PROGRAMME_SMTP_TIMEOUT_SECONDS: "15" }),
    PROGRAMME_WEBHOOK_LOOPBACK: "true",
    PROGRAMME_EXPORT_INTERVAL_SECONDS: "0",
    PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
  };
  const { servers, database, close } = await openServersOnOneDatabase(1, environment);
  onTestFinished(close);
  const server = servers[0] as TestServer;
  server.clock.advance(Date.now() - server.clock.now().getTime());
  const { programId, trackId } = await server.seed.track();
  const applicantEmails = ["ada", "ben", "cleo", "dag", "eva"].map((name) => `${name}@example.org`);
  for (const email of applicantEmails) await server.seed.applicant({ email, programIds: [programId] });
  const loadTargets: LoadTargets = { token: await server.token(), programId, trackId, applicantEmails };
  const receivers = await openReceivers(server);
  return { server, database, mailServer, receivers, loadTargets, environment };
}

/**
 * Starts one process after the other and kills each in the middle of its work, every other one while the next is
 * already running. Returns what the last process has completed.
 */
async function killAgainAndAgain(database: string, environment: Record<string, string>, loadTargets: LoadTargets) {
  let current = await startProcess(database, environment);
  const load = new Load(loadTargets, current.origin);
  for (let kill = 1; kill <= kills; kill++) {
    const ahead = { aheadMs: kill * aheadMs + (kill === kills ? leasesEndMs : 0) };
    const next = startProcess(database, environment, ahead);
    if (kill % 2 === 0) await next;
    await delay(50 + 250 * Math.random());
    await current.kill();
    current = await next;
    load.turnTo(current.origin);
  }
  return { survivor: current, done: await load.stop() };
}

async function rowsOf<T extends TableName>({ app, businessId }: TestServer, table: T): Promise<Row<T>[]> {
  const rows: Row<T>[] = [];
  for await (const row of app.store.reader(businessId).scan(table, {})) rows.push(row);
  return rows;
}

/** Waits until the last process has done all remaining work. */
async function waitUntilSettled({ app, businessId }: TestServer, receivers: Receivers): Promise<void> {
  const reader = app.store.reader(businessId);
  const left = async () => ({
    exports: await reader.count("exports", { where: { status: "pending" } }),
    mail: await reader.count("emailSends", { where: { status: "queued" } }),
    events: receivers.missing(await app.store.outbox.lastPosition(businessId)),
    deliveries: await countUndelivered(),
  });
  // A receiver has an event before its delivery is recorded.
  const countUndelivered = async () => {
    const lists = receivers.good.map(({ endpointId }) =>
      app.store.outbox.listDeliveries(businessId, { endpointId }, many),
    );
    return (await Promise.all(lists)).flat().filter(({ status }) => status !== "delivered").length;
  };
  const nothing = { exports: 0, mail: 0, events: 0, deliveries: 0 };
  await waitFor(async () => expect(await left()).toEqual(nothing), 300_000);
}

async function expectSubmissions(server: TestServer, { submissions }: Done): Promise<void> {
  const rows = await rowsOf(server, "submissions");
  const found = new Map(
    rows.map(({ submissionId, title, state, version }) => [submissionId, { title, state, version }]),
  );
  expect(found).toEqual(submissions);
}

/** Expects exactly the events of the changes, both in the log and at the receivers. */
async function expectEvents(server: TestServer, { submissions }: Done, receivers: Receivers): Promise<void> {
  const events = await server.app.store.listEvents(server.businessId, many);
  const listEventRecords = (eventType: string) =>
    events.flatMap(({ eventType: type, data }) =>
      type === eventType && "submissionId" in data ? data.submissionId : [],
    );
  const withdrawn = [...submissions].filter(([, { state }]) => state === "WITHDRAWN");
  expect(listEventRecords("submission.draft_created").toSorted()).toEqual([...submissions.keys()].toSorted());
  expect(listEventRecords("submission.withdrawn").toSorted()).toEqual(
    withdrawn.map(([submissionId]) => submissionId).toSorted(),
  );
  expect(listEventRecords("submission.state_changed")).toHaveLength(withdrawn.length);
  expect(events).toHaveLength(submissions.size + 2 * withdrawn.length);
  const written = new Map(events.map((event) => [event.eventId, event]));
  for (const received of receivers.good) {
    expect(new Map(received.bodies().map((event) => [event.eventId, event]))).toEqual(written);
  }
}

/** The healthy receivers have everything; deliveries to the others are still pending. */
async function expectDeliveries({ app, businessId }: TestServer, receivers: Receivers, events: number): Promise<void> {
  const listed = (endpointId: string) => app.store.outbox.listDeliveries(businessId, { endpointId }, many);
  for (const { endpointId } of receivers.good) {
    const deliveries = await listed(endpointId);
    expect(deliveries).toHaveLength(events);
    expect(deliveries.filter(({ status }) => status !== "delivered")).toEqual([]);
  }
  const { hopeless, tedious } = receivers;
  for (const [name, endpointId] of Object.entries({ ...hopeless, ...tedious })) {
    const statuses = (await listed(endpointId)).map(({ status }) => status);
    expect(statuses, name).toHaveLength(events);
    expect(
      [...statuses].filter((status) => status === "failed" || status === "cancelled"),
      name,
    ).toEqual([]);
    if (name in hopeless) expect(statuses, name).not.toContain("delivered");
  }
  expect((await listed(tedious["slow"] ?? "")).some(({ status }) => status !== "delivered")).toBe(true);
  expect(receivers.strayed()).toEqual([]);
}

async function expectMail(server: TestServer, { bulks }: Done, mailServer: MailServer): Promise<void> {
  const rows = await rowsOf(server, "emailSends");
  const perBulk = Map.groupBy(rows, ({ bulkId }) => bulkId as string);
  expect(new Map([...perBulk].map(([bulkId, sends]) => [bulkId, sends.length]))).toEqual(bulks);
  const accepted = mailServer.accepted.flatMap((letter) => readHeader(letter, "Message-ID"));
  expect(accepted).toHaveLength(new Set(accepted).size);
  const idOf = ({ emailSendId }: Row<"emailSends">) => `<${emailSendId}@example.org>`;
  const sent = rows.filter(({ status }) => status === "sent");
  expect(sent.map(idOf).filter((id) => !accepted.includes(id))).toEqual([]);
  expect(accepted.filter((id) => !rows.some((row) => idOf(row) === id))).toEqual([]);
  const others = rows.filter(({ status }) => status !== "sent");
  const unknown = expect.stringMatching(/^It is not known whether the mail server took the message/);
  for (const { status, error } of others) expect([status, error]).toEqual(["failed", unknown]);
  // A process sends at most as many messages at once as it has connections.
  expect(others.length).toBeLessThanOrEqual(4 * kills);
  expect(sent.length).toBeGreaterThan(others.length);
}

/** Expects that no export is stuck: each has one file, or was given up after ten processes were killed during it. */
async function expectExports(server: TestServer, { exportIds }: Done, database: string): Promise<void> {
  const jobs = await rowsOf(server, "exports");
  expect(jobs.map(({ exportId }) => exportId).toSorted()).toEqual(exportIds.toSorted());
  const [completed, others] = [jobs.filter(({ sha256 }) => sha256), jobs.filter(({ sha256 }) => !sha256)];
  for (const { status, errorCode } of completed) expect([status, errorCode]).toEqual(["completed", null]);
  for (const { status, errorCode } of others) expect([status, errorCode]).toEqual(["failed", "abandoned"]);
  expect(completed.length).toBeGreaterThan(others.length);
  const entries = await readdir(`${getFilesPrefix(database)}.exports`, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  expect(files.toSorted()).toEqual(completed.map(({ sha256 }) => sha256).toSorted());
  const idsOf = async (action: string) =>
    (await listAudit(server.app.store, server.businessId, action)).map(({ entityId }) => entityId).toSorted();
  expect(await idsOf("export.completed")).toEqual(completed.map(({ exportId }) => exportId).toSorted());
  expect(await idsOf("export.failed")).toEqual(others.map(({ exportId }) => exportId).toSorted());
  const caller = await server.as("REST");
  for (const { exportId, programId } of completed.slice(-3)) {
    const { downloadUrl } = await caller.get_export({ exportId });
    expect((await send(downloadUrl, {})).body).toMatchObject({ exportId, programId });
  }
}

async function expectNoLease({ app: { store }, businessId }: TestServer): Promise<void> {
  const later = new Date(Date.now() + 86_400_000).toISOString();
  expect(await store.outbox.listDeliveries(businessId, { status: "leased" }, many)).toEqual([]);
  expect(await store.exportQueue.claim(later, later)).toBeUndefined();
  expect(await store.mailQueue.lease(later, later)).toBeUndefined();
}

test("processes killed again and again while they do everything at once lose nothing and do nothing twice", async () => {
  const { server, database, mailServer, receivers, loadTargets, environment } = await openStage();
  const { survivor, done } = await killAgainAndAgain(database, environment, loadTargets);
  await waitUntilSettled(server, receivers);
  const events = await server.app.store.outbox.lastPosition(server.businessId);
  await expectDeliveries(server, receivers, events);
  expect(await survivor.stop()).toBe(0);
  await expectSubmissions(server, done);
  await expectEvents(server, done, receivers);
  await expectMail(server, done, mailServer);
  await expectExports(server, done, database);
  await expectNoLease(server);
  // There was something to lose each time.
  expect(done.submissions.size).toBeGreaterThan(2 * kills);
  expect(done.unanswered).toBeGreaterThan(kills);
}, 900_000);
