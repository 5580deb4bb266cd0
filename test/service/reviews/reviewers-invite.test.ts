import { createHash } from "node:crypto";
import { describe, expect } from "vitest";
import type { Row } from "../../../src/store/tables.ts";
import { listChanges } from "../../support/data/state.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const email = "ida@example.org";
const written = ["emailSends inserted", "invitations inserted"];
const audited = ["email_send.created", "invitation.created"];

async function rowsOf<T extends "emailSends" | "invitations" | "reviewers">({ app, businessId }: TestServer, table: T) {
  return app.store.reader(businessId).find<T>(table, {}, { limit: 100 });
}

/** The secret in the link of a message. */
function secretOf(send: Row<"emailSends"> | undefined): string {
  return /\/invitations\/(\S+)/.exec(send?.body ?? "")?.[1] ?? "";
}

describe.each(surfaces)("inviting a reviewer over %s", (surface) => {
  test("creates a membership, an invitation and a message, and nothing else", async ({ server }) => {
    const chair = await server.as(surface, ["reviewers:write"]);
    const person = await server.seed.person({ primaryEmail: "IDA@example.org" });
    const { programId } = await server.seed.program({ name: "Open call" });
    const track = await server.seed.track({ programId });
    const one = await server.seed.round({ programId, trackId: track.trackId });
    const two = await server.seed.round({ programId: (await server.seed.program()).programId, trackId: track.trackId });
    const given = {
      email,
      firstName: "Ida",
      lastName: "Holm",
      affiliation: "Lab",
      expertise: ["Solar", "wind", "SOLAR"],
      roundIds: [one.roundId, two.roundId, one.roundId],
    };
    const trace = await recordTrace(server, () => chair.invite_reviewer({ ...given, role: "lead_reviewer" }));
    const now = server.clock.now().toISOString();
    expect(trace.data).toEqual({
      ...given,
      reviewerId: expect.stringMatching(/^rvw_/),
      businessId: server.businessId,
      expertise: ["Solar", "wind"],
      role: "lead_reviewer",
      status: "invited",
      programIds: [programId, two.programId],
      roundIds: [one.roundId, two.roundId],
      personId: person.personId,
      maxAssignments: null,
      invitedAt: now,
      acceptedAt: null,
      assignmentCounts: { assigned: 0, completed: 0 },
      version: 0,
      createdAt: now,
      updatedAt: now,
      createdBy: expect.stringMatching(/^tok_/),
      updatedBy: trace.data.createdBy,
    });
    expect(trace).toMatchObject({
      rows: [...written, "reviewers inserted"],
      events: [],
      audit: [...audited, "reviewer.invited"],
    });
  });

  test("needs only an address", async ({ server }) => {
    const chair = await server.as(surface);
    expect(await chair.invite_reviewer({ email })).toMatchObject({
      email,
      firstName: null,
      lastName: null,
      affiliation: null,
      expertise: [],
      role: "reviewer",
      programIds: [],
      roundIds: [],
      personId: null,
    });
  });

  test("stores the link's secret as a hash, and reveals it only in the message", async ({ server }) => {
    const chair = await server.as(surface);
    const answers = [await chair.invite_reviewer({ email }), await chair.invite_reviewer({ email })];
    const sends = await rowsOf(server, "emailSends");
    const invitations = await rowsOf(server, "invitations");
    const secrets = sends.map(secretOf);
    expect(new Set(secrets).size).toBe(2);
    for (const secret of secrets) expect(secret).toMatch(/^[\w-]{32,}$/);
    const hashes = secrets.map((secret) => createHash("sha256").update(secret).digest("hex"));
    expect(invitations.map(({ sha256 }) => sha256).sort()).toEqual(hashes.sort());
    expect(invitations.map(({ expiresAt }) => expiresAt)).toEqual(Array(2).fill("2026-12-04T09:00:00.000Z"));
    answers.push(await chair.list_email_sends({ recipientEmail: email }), await chair.list_audit_entries());
    const audit = await listChanges(server.app.store, server.businessId);
    const traces = JSON.stringify([
      answers,
      audit,
      await server.outbox(),
      invitations,
      await rowsOf(server, "reviewers"),
    ]);
    for (const secret of secrets) expect(traces).not.toContain(secret);
    for (const hash of hashes) expect(JSON.stringify([answers, audit])).not.toContain(hash);
    expect(JSON.stringify(audit)).not.toContain(email);
  });

  test("sends a message that names the programme and ends with the link", async ({ server }) => {
    const chair = await server.as(surface);
    const { programId } = await server.seed.program({ name: "Open\r\nBcc: all@example.org" });
    const { roundId } = await server.seed.round({
      programId,
      trackId: (await server.seed.track({ programId })).trackId,
    });
    const send = async (given: object) => {
      await chair.invite_reviewer({ email, ...given });
      return (await rowsOf(server, "emailSends")).at(-1);
    };
    expect(await send({ firstName: "Ida", roundIds: [roundId], message: "Please do" })).toMatchObject({
      programId,
      recipientEmail: email,
      recipientKind: "reviewer",
      template: "reviewer_invitation",
      status: "queued",
      subject: "Invitation to review: Open Bcc: all@example.org",
      body: expect.stringMatching(
        /^Dear Ida,\n\n.*\n\nPlease do\n\nAccept the invitation here: http\S+\/invitations\//s,
      ),
      sentAt: null,
    });
    const named = await send({ programName: "Spring\u2028call", suppressEmails: true });
    expect(named).toMatchObject({
      subject: "Invitation to review: Spring call",
      status: "suppressed",
      programId: null,
    });
    expect(await send({ suppressEmails: false })).toMatchObject({ subject: "Invitation to review", status: "queued" });
  });

  test("inviting an address again extends the same reviewer", async ({ server }) => {
    const chair = await server.as(surface);
    const [one, two] = [await server.seed.round(), await server.seed.round()];
    const known = await server.seed.reviewer({
      email: "Ida@Example.org",
      firstName: "Ida",
      affiliation: "Lab",
      expertise: ["Solar"],
      role: "lead_reviewer",
      programIds: [one.programId],
      roundIds: [one.roundId],
    });
    const again = { email, lastName: "Holm", expertise: ["solar", "Wind"], roundIds: [two.roundId, one.roundId] };
    const trace = await recordTrace(server, () => chair.invite_reviewer(again));
    expect(trace.data).toMatchObject({
      reviewerId: known.reviewerId,
      email: "Ida@Example.org",
      firstName: "Ida",
      lastName: "Holm",
      affiliation: "Lab",
      expertise: ["Solar", "Wind"],
      role: "lead_reviewer",
      programIds: [one.programId, two.programId],
      roundIds: [one.roundId, two.roundId],
      version: 1,
    });
    expect(trace.rows).toEqual([...written, "reviewers updated: expertise lastName programIds roundIds"]);
    expect(trace).toMatchObject({ events: [], audit: [...audited, "reviewer.invited"] });
    const idle = await recordTrace(server, () => chair.invite_reviewer({ email }));
    expect(idle).toMatchObject({ data: { version: 1 }, rows: written, audit: audited });
    const role = await chair.invite_reviewer({ email, role: "reviewer", affiliation: "Firm" });
    expect(role).toMatchObject({ role: "reviewer", affiliation: "Firm", version: 2 });
  });

  const statuses = [
    ["active", "active"],
    ["invited", "invited"],
    ["declined", "invited"],
    ["inactive", "invited"],
  ] as const;

  test.for(statuses)("a reviewer who is %s is %s afterwards", async ([status, after], { server }) => {
    const chair = await server.as(surface);
    const person = await server.seed.person({ primaryEmail: email });
    const before = await server.seed.reviewer({ email, status });
    const { invitedAt, acceptedAt } = before;
    const now = server.clock.now().toISOString();
    expect(await chair.invite_reviewer({ email })).toMatchObject({
      reviewerId: before.reviewerId,
      status: after,
      personId: person.personId,
      ...(after === "active" ? { invitedAt, acceptedAt } : { invitedAt: now, acceptedAt: null }),
    });
  });

  test("a round of another tenant or of an archived programme is refused", async ({ server }) => {
    const chair = await server.as(surface);
    const other = await server.other();
    const [own, foreign] = [await server.seed.round(), await other.seed.round()];
    const { programId } = await server.seed.program({ lifecycleStatus: "archived" });
    const archived = await server.seed.round({ programId, trackId: (await server.seed.track({ programId })).trackId });
    await other.seed.reviewer({ email });
    const refused = [
      [foreign.roundId, "not_found"],
      ["rnd_none", "not_found"],
      [archived.roundId, "program_archived"],
    ] as const;
    for (const [roundId, code] of refused) {
      const trace = await recordTrace(server, () => chair.invite_reviewer({ email, roundIds: [own.roundId, roundId] }));
      expect(trace).toMatchObject({ problem: { code }, ...nothing });
    }
    const trace = await recordTrace(server, () => chair.invite_reviewer({ email, roundIds: [own.roundId] }));
    expect(trace.rows).toEqual([...written, "reviewers inserted"]);
  });

  test("two concurrent invitations of one address create one reviewer", async ({ server }) => {
    const chair = await server.as(surface);
    const both = ["ida@example.org", "IDA@example.org"].map((each) => chair.invite_reviewer({ email: each }));
    const [one, two] = await Promise.all(both);
    expect(one.reviewerId).toBe(two.reviewerId);
    expect(await rowsOf(server, "reviewers")).toHaveLength(1);
  });

  const refused: readonly [path: string, given: object][] = [
    ["email", { email: undefined }],
    ["email", { email: "ida" }],
    ["email", { email: "ida@example.org\r\nBcc: all@example.org" }],
    ["firstName", { firstName: "" }],
    ["lastName", { lastName: "x".repeat(101) }],
    ["affiliation", { affiliation: "x".repeat(201) }],
    ["expertise.1", { expertise: ["solar", "x".repeat(51)] }],
    ["expertise", { expertise: Array(101).fill("solar") }],
    ["expertise", { expertise: ["one more"] }],
    ["roundIds.0", { roundIds: [""] }],
    ["programName", { programName: "x".repeat(201) }],
    ["message", { message: "x".repeat(1001) }],
    ["role", { role: "chair" }],
    ["suppressEmails", { suppressEmails: "maybe" }],
    ["status", { status: "active" }],
  ];

  test("unknown input is refused with its path, and no one is invited", async ({ server }) => {
    const chair = await server.as(surface);
    await server.seed.reviewer({ email, expertise: Array.from({ length: 100 }, (_, index) => `area ${index}`) });
    for (const [path, given] of refused) {
      const trace = await recordTrace(server, () => chair.invite_reviewer({ email, ...given }));
      expect(trace, path).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
      expect(trace.problem?.details["issues"], path).toMatchObject([{ path }]);
    }
  });
});
