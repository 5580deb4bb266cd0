import { expect, test } from "vitest";
import { issueToken } from "../../src/app/access/issue-token.ts";
import type { AuditEntry } from "../../src/contract/audit.ts";
import { withAudit } from "../../src/pipeline/audit/with-audit.ts";
import { readData } from "../support/clients/clients.ts";
import { hasAddress } from "./addresses.ts";
import { openWorkflowFixture, type WorkflowFixture } from "./workflow-fixture.ts";

/** A programme and a submission with changes through the interface, an hour apart. */
async function changeRecords({ server }: Pick<WorkflowFixture, "server">) {
  const { submissionId, programId, version } = await server.seed.submission({ state: "SUBMITTED" });
  const rest = await server.as("REST");
  const pass = () => server.clock.advance(3_600_000);
  await rest.call("screen_submission", { submissionId, eligible: true, reason: "Fits the call", version });
  pass();
  await rest.call("update_program", { programId, name: "Spring call" });
  pass();
  await rest.call("withdraw_submission", { submissionId, reason: "Ask ada@example.org", version: version + 1 });
  return { programId, submissionId };
}

function toChange({ changes, ...entry }: AuditEntry) {
  const { auditId, occurredAt, action, entityType, entityId, submissionId, actorType, actorId, reason } = entry;
  const shown = { auditId, occurredAt, action, entityType, entityId, submissionId, actorType, actorId, reason };
  return { ...shown, fields: changes };
}

test("the history of a programme or record is that of the audit entries, newest first, embedded and remote", async () => {
  const fixture = await openWorkflowFixture();
  const { programId, submissionId } = await changeRecords(fixture);
  const entries = ((await fixture.list("list_audit_entries", { programId })) as AuditEntry[]).map(toChange);
  expect(entries.length).toBeGreaterThan(2);
  const all = await fixture.ask("get_history", { programId });
  expect(all).toMatchObject({ changes: entries, olderAt: null });
  expect(all.changes).toHaveLength(entries.length);
  const ofRecord = await fixture.ask("get_history", { programId, recordId: programId });
  expect(ofRecord.changes).toMatchObject(entries.filter(({ entityId }) => entityId === programId));
  const ofSubmission = await fixture.ask("get_history", { submissionId });
  expect(ofSubmission.changes).toMatchObject(entries.filter((entry) => entry.submissionId === submissionId));
  const [newest, second] = entries;
  const few = await fixture.ask("get_history", { programId, limit: 1 });
  expect(few).toMatchObject({ changes: [newest], olderAt: second?.occurredAt });
  const older = await fixture.ask("get_history", { programId, to: few.olderAt });
  expect(older.changes).toMatchObject(entries.slice(1));
  const since = await fixture.ask("get_history", { programId, from: newest?.occurredAt });
  expect(since.changes).toMatchObject([newest ?? {}]);
});

/** Entries of one submission by a token, a reviewer, an applicant and others whom no record names, a second apart. */
async function actOnSubmission({ server }: Pick<WorkflowFixture, "server">) {
  const { app, businessId, clock, seed } = server;
  const submission = await seed.submission();
  const { submissionId, programId, applicantId } = submission;
  const { reviewerId } = await seed.reviewer({ firstName: "Ruth", lastName: "Okafor", programIds: [programId] });
  await seed.applicant({ applicantId, name: "Ada Marsh" });
  const issue = async (business: string, name: string) =>
    (await issueToken(app.store, { businessId: business, name, scopes: [], expiresAt: null })).tokenId;
  const actors = [
    { actorType: "token", actorId: await issue(businessId, "Screening") },
    { actorType: "reviewer", actorId: reviewerId },
    { actorType: "applicant", actorId: applicantId },
    { actorType: "user", actorId: "command_line" },
    { actorType: "token", actorId: await issue((await server.other()).businessId, "Foreign") },
  ] as const;
  for (const actor of actors) {
    clock.advance(1000);
    await withAudit(
      app.store,
      { businessId, ...actor, now: clock.now(), action: "submission.updated" },
      async (transaction) => {
        const row = await transaction.get("submissions", submissionId);
        if (row) await transaction.update("submissions", row, { title: `By ${actor.actorId}` });
      },
    );
  }
  return submission;
}

test("the history of an id without changes is empty, as the audit log's list is", async () => {
  const fixture = await openWorkflowFixture();
  await changeRecords(fixture);
  for (const filter of [{ recordId: "per_unknown" }, { submissionId: "sub_unknown" }, { programId: "prg_unknown" }])
    expect(await fixture.ask("get_history", filter)).toMatchObject({ changes: [], olderAt: null });
});

test("a history names tokens of the tenant, reviewers and applicants", async () => {
  const fixture = await openWorkflowFixture();
  const { submissionId, programId } = await actOnSubmission(fixture);
  const names = [null, null, "Ada Marsh", "Ruth Okafor", "Screening"];
  for (const input of [{ submissionId }, { programId }, { recordId: submissionId }]) {
    const { changes } = await fixture.ask("get_history", input);
    expect(changes.map(({ actorName }: { actorName: string | null }) => actorName)).toEqual(names);
  }
});

test("without their scopes, a history names no reviewer and no applicant", async () => {
  const fixture = await openWorkflowFixture({}, ["audit:read"]);
  const { submissionId } = await actOnSubmission(fixture);
  for (const agent of Object.values(fixture.agents)) {
    for (const call of [agent.call("get_history", { submissionId }), agent.call("list_audit_entries", {})]) {
      const text = JSON.stringify(await call);
      expect(text).toContain("Screening");
      expect(text).not.toMatch(/Ruth|Okafor|Ada|Marsh|Foreign/);
    }
  }
  const { omitted } = await fixture.ask("get_history", { submissionId });
  expect(omitted).toEqual([{ what: "names of reviewers", scope: "reviewers:read" }]);
});

test("the history of a record alone reads no other record's changes on the embedded service", async () => {
  const { server, agents } = await openWorkflowFixture();
  const { submissionId } = await actOnSubmission({ server });
  await changeRecords({ server });
  const messages: (string | undefined)[] = [];
  const options = { onprogress: ({ message }: { message?: string | undefined }) => messages.push(message) };
  const found = readData(await agents.embedded.call("get_history", { recordId: submissionId }, options));
  expect(found.changes).toHaveLength(5);
  expect(messages).toEqual(["5 records read"]);
});

test.each(["pseudonymize", "redact"])("with %s, a history shows no address", async (privacy) => {
  const fixture = await openWorkflowFixture({ PROGRAMME_PRIVACY: privacy });
  const { programId } = await changeRecords(fixture);
  for (const agent of Object.values(fixture.agents)) {
    const text = JSON.stringify(await agent.call("get_history", { programId }));
    expect(text).toContain("Spring call");
    expect(hasAddress(text)).toBe(false);
  }
});

test("without the scope of the audit log there is no history", async () => {
  const { agents } = await openWorkflowFixture({}, ["programs:read"]);
  const results = await Promise.all(Object.values(agents).map((agent) => agent.call("get_history", {})));
  for (const result of results) expect(() => readData(result)).toThrow("insufficient_scope");
});
