import { expect, test } from "vitest";
import type { AuditEntry } from "../../src/contract/audit.ts";
import { hasAddress } from "./addresses.ts";
import { openScene, readData, type Scene } from "./scene.ts";

/** A programme and a submission with changes through the interface, an hour apart. */
async function changeRecords({ server }: Scene) {
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
  const scene = await openScene();
  const { programId, submissionId } = await changeRecords(scene);
  const entries = ((await scene.list("list_audit_entries", { programId })) as AuditEntry[]).map(toChange);
  expect(entries.length).toBeGreaterThan(2);
  const all = await scene.ask("get_history", { programId });
  expect(all).toMatchObject({ changes: entries, olderAt: null });
  expect(all.changes).toHaveLength(entries.length);
  const ofRecord = await scene.ask("get_history", { programId, recordId: programId });
  expect(ofRecord.changes).toMatchObject(entries.filter(({ entityId }) => entityId === programId));
  const ofSubmission = await scene.ask("get_history", { submissionId });
  expect(ofSubmission.changes).toMatchObject(entries.filter((entry) => entry.submissionId === submissionId));
  const [newest, second] = entries;
  const few = await scene.ask("get_history", { programId, limit: 1 });
  expect(few).toMatchObject({ changes: [newest], olderAt: second?.occurredAt });
  const older = await scene.ask("get_history", { programId, to: few.olderAt });
  expect(older.changes).toMatchObject(entries.slice(1));
  const since = await scene.ask("get_history", { programId, from: newest?.occurredAt });
  expect(since.changes).toMatchObject([newest ?? {}]);
});

test.each(["pseudonymize", "redact"])("with %s, a history shows no address", async (privacy) => {
  const scene = await openScene({ PROGRAMME_PRIVACY: privacy });
  const { programId } = await changeRecords(scene);
  for (const agent of Object.values(scene.agents)) {
    const text = JSON.stringify(await agent.call("get_history", { programId }));
    expect(text).toContain("Spring call");
    expect(hasAddress(text)).toBe(false);
  }
});

test("without the scope of the audit log there is no history", async () => {
  const { agents } = await openScene({}, ["programs:read"]);
  const results = await Promise.all(Object.values(agents).map((agent) => agent.call("get_history", {})));
  for (const result of results) expect(() => readData(result)).toThrow("insufficient_scope");
});
