import { describe, expect } from "vitest";
import type { Row } from "../../src/store/tables.ts";
import { seedMany } from "../support/data/lists.ts";
import { listChanges } from "../support/data/state.ts";
import { recordStatements } from "../support/database/statements.ts";
import { surfaces, type TestServer, test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";

const message = { subject: "News", body: "Dear all,\n\nit begins." };

async function sendsOf({ app, businessId }: TestServer): Promise<Row<"emailSends">[]> {
  return app.store.reader(businessId).find("emailSends", {}, { limit: 2000, orderBy: "emailSendId" });
}

describe.each(surfaces)("e-mail sends over %s", (surface) => {
  test("are listed by recipient in upper or lower case, newest first, without their text", async ({ server }) => {
    const chair = await server.as(surface, ["emails:read"]);
    await (await server.other()).seed.emailSend({ recipientEmail: "ada@example.org" });
    await server.seed.emailSend({ recipientEmail: "ada@example.com" });
    const rows = await seedMany(3, (index) => {
      server.clock.advance(1000);
      return server.seed.emailSend({ recipientEmail: index === 1 ? "ADA@example.org" : "ada@Example.org" });
    });
    const newest = rows.toReversed().map(({ body: _, ...send }) => send);
    const list = (given: Record<string, unknown>) => chair.list_email_sends(given);
    expect(await list({ recipientEmail: "Ada@Example.Org" })).toEqual(newest);
    expect(await list({ recipientEmail: "ada@example.org", limit: 2 })).toEqual(newest.slice(0, 2));
    expect(await list({ recipientEmail: "nobody@example.org" })).toEqual([]);
    const refused: readonly [path: string, given: Record<string, unknown>][] = [
      ["recipientEmail", {}],
      ["recipientEmail", { recipientEmail: "ada" }],
      ["limit", { recipientEmail: "ada@example.org", limit: 0 }],
      ["lastEvaluatedKey", { recipientEmail: "ada@example.org", lastEvaluatedKey: "x" }],
    ];
    for (const [path, given] of refused) {
      const issues = [expect.objectContaining({ path })];
      await expect(list(given)).rejects.toMatchProblem("validation_failed", { issues });
    }
  });
});

test("a page of e-mail sends has 50 rows by default and 100 at most", async ({ server }) => {
  const chair = await server.as("REST");
  await seedMany(101, () => server.seed.emailSend());
  const sizes = [{}, { limit: 3 }, { limit: 5000 }].map(async (given) => {
    const sends = await chair.list_email_sends({ recipientEmail: "ada@example.org", ...given });
    return sends.length;
  });
  expect(await Promise.all(sizes)).toEqual([50, 3, 100]);
});

describe.each(surfaces)("bulk e-mail over %s", (surface) => {
  test("queues one message for each recipient of each block, with the block's own text", async ({ server }) => {
    const chair = await server.as(surface, ["emails:write"]);
    const { programId } = await server.seed.program();
    const programIds = [programId];
    const rita = await server.seed.reviewer({ programIds, email: "rita@example.org", status: "declined" });
    const sam = await server.seed.reviewer({ programIds, email: "sam@example.org", status: "invited" });
    await server.seed.applicant({ programIds, email: "Rita@Example.org" });
    const blocks = {
      reviewers: { reviewerIds: [rita.reviewerId, sam.reviewerId], subject: "Reviewing", body: "It begins." },
      applicants: { applicantEmails: ["RITA@example.org"], ...message },
    };
    const trace = await recordTrace(server, () => chair.send_bulk_email({ programId, ...blocks }));
    expect(trace.data).toEqual({
      bulkId: expect.stringMatching(/^blk_/),
      programId,
      queued: 3,
      suppressed: 0,
      skipped: [],
    });
    expect(trace).toMatchObject({
      rows: Array(3).fill("emailSends inserted"),
      events: [],
      audit: Array(3).fill("email_send.queued"),
    });
    const { subject, body } = blocks.reviewers;
    const queued = { programId, bulkId: trace.data.bulkId, status: "queued", sentAt: null, template: null };
    expect(await sendsOf(server)).toMatchObject([
      { ...queued, recipientKind: "reviewer", recipientEmail: "rita@example.org", subject, body },
      { ...queued, recipientKind: "reviewer", recipientEmail: "sam@example.org", subject, body },
      { ...queued, recipientKind: "applicant", recipientEmail: "Rita@Example.org", ...message },
    ]);
    const changes = await listChanges(server.app.store, server.businessId);
    const named = { programId, entityType: "email_send", action: "email_send.queued" };
    const bulkId = expect.objectContaining({ path: "bulkId", to: trace.data.bulkId });
    expect(changes).toMatchObject(Array(3).fill({ ...named, changes: expect.arrayContaining([bulkId]) }));
    const audit = JSON.stringify(changes);
    expect(audit).not.toMatch(/example\.org|Reviewing|It begins|News/i);
  });

  test("skips and reports recipients outside the programme and repeated recipients", async ({ server }) => {
    const chair = await server.as(surface);
    const [here, there] = [await server.seed.program(), await server.seed.program()];
    const other = await server.other();
    const of = ({ programId }: { programId: string }) => ({ programIds: [programId] });
    const reviewer = async (from: TestServer, given: object) => (await from.seed.reviewer(given)).reviewerId;
    const one = await reviewer(server, of(here));
    const skipped = [
      one,
      await reviewer(server, of(there)),
      await reviewer(server, { ...of(here), status: "inactive" }),
      await reviewer(other, of(here)),
      "rvw_none",
    ];
    await server.seed.applicant({ ...of(here), email: "ada@example.org" });
    await server.seed.applicant({ ...of(there), email: "bo@example.org" });
    await other.seed.applicant({ ...of(here), email: "cy@example.org" });
    const unknown = ["bo@example.org", "cy@example.org", "di@example.org"];
    const trace = await recordTrace(server, () =>
      chair.send_bulk_email({
        programId: here.programId,
        reviewers: { reviewerIds: [one, ...skipped], ...message },
        applicants: { applicantEmails: ["ada@example.org", "ADA@example.org", ...unknown], ...message },
      }),
    );
    expect(trace.data).toMatchObject({
      queued: 2,
      skipped: [
        { recipient: one, reason: "duplicate" },
        ...skipped.slice(1).map((recipient) => ({ recipient, reason: "unknown_recipient" })),
        { recipient: "ADA@example.org", reason: "duplicate" },
        ...unknown.map((recipient) => ({ recipient, reason: "unknown_recipient" })),
      ],
    });
    expect(trace.rows).toEqual(Array(2).fill("emailSends inserted"));
    const nobody = await recordTrace(server, () =>
      chair.send_bulk_email({
        programId: here.programId,
        applicants: { applicantEmails: unknown.slice(0, 1), ...message },
      }),
    );
    expect(nobody).toMatchObject({ data: { queued: 0, skipped: [{}] }, ...nothing });
  });

  test("sends nothing for a block without recipients, and sends the other block", async ({ server }) => {
    const chair = await server.as(surface);
    const { programId } = await server.seed.program();
    await server.seed.applicant({ programIds: [programId] });
    const [none, one] = [[], ["ada@example.org"]];
    for (const [reviewerIds, applicantEmails, queued] of [
      [none, none, 0],
      [none, one, 1],
    ] as const) {
      const reviewers = { reviewerIds, ...message };
      const trace = await recordTrace(server, () =>
        chair.send_bulk_email({ programId, reviewers, applicants: { applicantEmails, ...message } }),
      );
      expect(trace).toMatchObject({ data: { queued, suppressed: 0, skipped: [] } });
      expect(trace.rows).toEqual(Array(queued).fill("emailSends inserted"));
    }
    expect(await chair.send_bulk_email({ programId, reviewers: { reviewerIds: [], ...message } })).toMatchObject({
      queued: 0,
    });
  });

  const block = { reviewerIds: ["rvw_1"], ...message };
  const people = { applicantEmails: ["ada@example.org"], ...message };
  const broken = ["a\r\nBcc: all@example.org", "a\nb", "a\rb", "a\u0085b", "a\u2028b", "a\u2029b", "a\tb", "a\u001bb"];
  const refused: readonly [given: object, ...paths: string[]][] = [
    [{}, "reviewers", "applicants"],
    ...broken.map((subject): [object, string] => [{ reviewers: { ...block, subject } }, "reviewers.subject"]),
    [
      { reviewers: { ...block, subject: "a\nb" }, applicants: { ...people, subject: "a\nb" } },
      "reviewers.subject",
      "applicants.subject",
    ],
    [{ reviewers: block, applicants: { ...people, subject: "" } }, "applicants.subject"],
    [{ reviewers: { ...block, subject: "x".repeat(501) } }, "reviewers.subject"],
    [{ reviewers: { ...block, body: "" } }, "reviewers.body"],
    [{ applicants: { ...people, body: "x".repeat(50_001) } }, "applicants.body"],
    [{ reviewers: { ...block, reviewerIds: [""] } }, "reviewers.reviewerIds.0"],
    [{ reviewers: { ...block, reviewerIds: Array(1001).fill("rvw_1") } }, "reviewers.reviewerIds"],
    [{ applicants: { ...people, applicantEmails: ["ada"] } }, "applicants.applicantEmails.0"],
    [{ applicants: { ...people, from: "me@example.org" } }, "applicants.from"],
    [{ reviewers: block, contacts: people }, "contacts"],
  ];

  test("is refused without blocks, with an incomplete block or with a line break in the subject", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const { programId } = await server.seed.program();
    await server.seed.reviewer({ reviewerId: "rvw_1", programIds: [programId] });
    await server.seed.applicant({ programIds: [programId] });
    for (const [given, ...paths] of refused) {
      const trace = await recordTrace(server, () => chair.send_bulk_email({ programId, ...given }));
      expect(trace, String(paths)).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
      expect(trace.problem?.details["issues"], String(paths)).toMatchObject(paths.map((path) => ({ path })));
    }
    const most = { reviewers: { reviewerIds: ["rvw_1"], subject: "x".repeat(500), body: "x".repeat(50_000) } };
    expect(await chair.send_bulk_email({ programId, ...most })).toMatchObject({ queued: 1 });
  });

  test("is refused for an archived programme, another tenant's programme and an unknown programme", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const archived = await server.seed.program({ lifecycleStatus: "archived" });
    const foreign = await (await server.other()).seed.program();
    const codes = { [archived.programId]: "program_archived", [foreign.programId]: "not_found", prg_none: "not_found" };
    for (const [programId, code] of Object.entries(codes)) {
      const trace = await recordTrace(server, () => chair.send_bulk_email({ programId, applicants: people }));
      expect(trace).toMatchObject({ problem: { code }, ...nothing });
    }
  });
});

test("a bulk e-mail to a thousand recipients looks them up in a few statements", async ({ server }) => {
  const chair = await server.as("REST");
  const { programId } = await server.seed.program();
  const row = await server.seed.applicant({ email: "a@example.org", programIds: [programId] });
  const applicantEmails = Array.from({ length: 1000 }, (_, index) => `a${index}@example.org`);
  await server.write(async (tx) => {
    for (const email of applicantEmails.slice(1)) {
      await tx.insert("applicants", { ...row, email, applicantId: email, innovatorId: email });
    }
  });
  const statements = await recordStatements(async () => {
    const outcome = await chair.send_bulk_email({ programId, applicants: { applicantEmails, ...message } });
    expect(outcome).toMatchObject({ queued: 999, skipped: [{ recipient: "a0@example.org" }] });
  });
  expect(statements.filter((sql) => sql.startsWith("select")).length).toBeLessThan(8);
});
