import { expect } from "vitest";
import type { EventPayload } from "../../src/contract/events.ts";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import type { Row, TableName } from "../../src/store/tables.ts";
import { readHeader } from "../mail/mail-server.ts";
import { listAudit } from "../support/data/state.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import type { Accepted } from "./mixed-load.ts";
import { exportIntervalMs, type ReplicaSet } from "./replica-set.ts";

const windowMs = 60_000;
const many = 1_000_000;

async function rowsOf<T extends TableName>({ app, businessId }: TestServer, table: T): Promise<Row<T>[]> {
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

export async function expectRate({ server, mixed, limit }: ReplicaSet): Promise<Record<string, number>> {
  const mostLimited = mostIn(mixed.limited, windowMs);
  expect(mostLimited).toBeLessThanOrEqual(limit);
  const token = await server.app.store.findToken(hashSha256Hex(mixed.limitedToken));
  const entries = await listAudit(server.app.store, server.businessId, "program.read");
  const own = entries.filter(({ tokenId, status }) => tokenId === token?.tokenId && status === 200);
  // A request counts some moment after the time that its entry says, before it was answered.
  const slowestMs = Math.max(...mixed.limited.map(({ sentMs, receivedMs }) => receivedMs - sentMs));
  const times = own.map(({ occurredAt }) => ({ sentMs: Date.parse(occurredAt), receivedMs: Date.parse(occurredAt) }));
  const recorded = mostIn(times, windowMs - slowestMs);
  expect(recorded).toBeLessThanOrEqual(limit);
  expect(mixed.refused).toBeGreaterThan(0);
  expect(mixed.limited.length).toBeGreaterThan(limit / 4);
  return { mostLimited, recorded, accepted: mixed.limited.length, refused: mixed.refused };
}

export async function expectSubmissions({ server, mixed }: ReplicaSet): Promise<void> {
  const rows = await rowsOf(server, "submissions");
  const found = new Map(
    rows.map(({ submissionId, title, state, version }) => [submissionId, { title, state, version }]),
  );
  expect(found).toEqual(mixed.submissions);
  for (const action of ["submission.created", "submission.fields_updated"]) {
    const changes = (await listAudit(server.app.store, server.businessId, action)).filter(
      ({ changes }) => changes.length > 0,
    );
    expect(changes.map(({ submissionId }) => submissionId).toSorted(), action).toEqual([...found.keys()].toSorted());
  }
}

/** Expects that every receiver got what is written down, as it is, and nothing else. */
export async function expectEvents({ server, mixed, receivers }: ReplicaSet): Promise<number> {
  const events = await server.app.store.listEvents(server.businessId, many);
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

export async function expectConfirmations({ server, mixed }: ReplicaSet): Promise<void> {
  const bulks = Map.groupBy(await rowsOf(server, "emailSends"), ({ subject }) => subject);
  for (const { subject, accepted } of mixed.confirmations) {
    const sends = bulks.get(subject) ?? [];
    expect(accepted).toBeLessThanOrEqual(1);
    expect(sends.length).toBeLessThanOrEqual(1);
    expect(sends.length).toBeGreaterThanOrEqual(accepted);
  }
  expect(mixed.confirmations.filter(({ accepted }) => accepted === 1).length).toBeGreaterThan(0);
}

export async function expectMail({ server, mixed, mailServer }: ReplicaSet): Promise<number> {
  const rows = await rowsOf(server, "emailSends");
  const keyed = Map.groupBy(
    rows.filter(({ subject }) => subject === "News"),
    ({ bulkId }) => bulkId as string,
  );
  expect(new Map([...keyed].map(([bulkId, sends]) => [bulkId, sends.length]))).toEqual(mixed.bulks);
  const accepted = mailServer.accepted.flatMap((letter) => readHeader(letter, "Message-ID"));
  expect(accepted).toHaveLength(new Set(accepted).size);
  const sent = rows.filter(({ status }) => status === "sent");
  const idOf = ({ emailSendId }: Row<"emailSends">) => `<${emailSendId}@example.org>`;
  expect(sent.map(idOf).filter((id) => !accepted.includes(id))).toEqual([]);
  const unknown = expect.stringMatching(/^It is not known whether the mail server took the message/);
  const others = rows.filter(({ status }) => status !== "sent");
  for (const { status, error } of others) expect([status, error]).toEqual(["failed", unknown]);
  return others.length;
}

export async function expectExports({ server, mixed }: ReplicaSet): Promise<number> {
  const jobs = await rowsOf(server, "exports");
  expect(jobs.filter(({ status }) => status !== "completed")).toEqual([]);
  const ids = jobs.map(({ exportId }) => exportId);
  expect(mixed.exportIds.filter((exportId) => !ids.includes(exportId))).toEqual([]);
  const times = jobs.map(({ createdAt }) => Date.parse(createdAt)).toSorted((a, b) => a - b);
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] as number));
  expect(gaps.filter((gapMs) => gapMs < exportIntervalMs)).toEqual([]);
  expect(mostIn(mixed.exports, exportIntervalMs)).toBeLessThanOrEqual(1);
  return jobs.length;
}
