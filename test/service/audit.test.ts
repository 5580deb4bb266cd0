import { describe, expect } from "vitest";
import type { AuditEntry } from "../../src/contract/audit.ts";
import { createId } from "../../src/lib/ids.ts";
import { readPages } from "../support/data/lists.ts";
import { surfaces, type TestServer, test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";

/** Entries of two programmes as other actors of the product make them, a second apart, oldest first. */
async function ledgerOf({ app, businessId, clock }: TestServer): Promise<AuditEntry[]> {
  const cases = [
    ["submission.advanced", "submission", "prg_a", "sub_1"],
    ["submission.advanced", "submission", "prg_a", "sub_2"],
    ["submission.withdrawn", "submission", "prg_b", "sub_3"],
    ["assignment.removed", "assignment", "prg_a", "sub_1"],
    ["person.updated", "person", null, null],
    ["program.updated", "program", "prg_b", null],
  ] as const;
  const entries: AuditEntry[] = [];
  for (const [action, entityType, programId, submissionId] of cases) {
    clock.advance(1000);
    const occurredAt = clock.now().toISOString();
    const of = { action, entityType, entityId: createId("ent"), programId, submissionId };
    const by = { actorType: "user", actorId: "usr_1", tokenId: null, requestId: "req_1" } as const;
    const changes = [{ path: "state", from: "DRAFT", to: "SUBMITTED" }, { path: "metadata.note" }];
    entries.push({
      auditId: createId("aud"),
      businessId,
      ...of,
      ...by,
      status: null,
      changes,
      reason: "Asked for",
      occurredAt,
    });
  }
  const actor = { businessId, actorId: "usr_1", now: clock.now().toISOString() };
  await app.store.transaction(actor, (transaction) => transaction.appendAudit(entries));
  return entries;
}

describe.each(surfaces)("the audit log over %s", (surface) => {
  test("returns the entries that match each filter and all filters together, newest first", async ({ server }) => {
    const clerk = await server.as(surface, ["audit:read"]);
    await ledgerOf(await server.other());
    const entries = await ledgerOf(server);
    const newest = entries.toReversed();
    const filters: readonly Record<string, string>[] = [
      {},
      { submissionId: "sub_1" },
      { programId: "prg_a" },
      { programId: "prg_b" },
      { action: "submission.advanced" },
      { entityType: "submission" },
      { entityType: "person" },
      { programId: "prg_a", entityType: "submission" },
      { programId: "prg_a", action: "submission.advanced", submissionId: "sub_2" },
      { programId: "prg_none" },
      { action: "submission" },
    ];
    for (const query of filters) {
      const found = newest.filter((entry) =>
        Object.entries(query).every(([name, value]) => entry[name as "action"] === value),
      );
      expect(await clerk.list_audit_entries(query), JSON.stringify(query)).toEqual(found);
      const pages = await readPages(clerk, "list_audit_entries", { ...query, limit: 2 });
      expect(pages.flat(), JSON.stringify(query)).toEqual(found);
    }
    const refused = [
      { action: "" },
      { entityType: "x".repeat(65) },
      { programId: "" },
      { limit: 0 },
      { actorId: "usr_1" },
    ];
    for (const query of refused) {
      const issues = [expect.objectContaining({ path: Object.keys(query)[0] })];
      await expect(clerk.list_audit_entries(query)).rejects.toMatchProblem("validation_failed", { issues });
    }
    const { page } = await clerk.call("list_audit_entries", { limit: 1 });
    const other = { lastEvaluatedKey: page?.lastEvaluatedKey, programId: "prg_a" };
    await expect(clerk.list_audit_entries(other)).rejects.toMatchProblem("invalid_cursor");
  });

  test("shows an entry only to its own tenant", async ({ server }) => {
    const clerk = await server.as(surface);
    const [entry] = await ledgerOf(server);
    const [foreign] = await ledgerOf(await server.other());
    expect(await clerk.get_audit_entry({ auditId: entry?.auditId })).toEqual(entry);
    for (const auditId of [foreign?.auditId, "aud_none"]) {
      const trace = await recordTrace(server, () => clerk.get_audit_entry({ auditId }));
      expect(trace).toMatchObject({ problem: { code: "not_found" }, ...nothing });
    }
  });

  test("shows who made a change, with which token and request, without personal data", async ({ server }) => {
    const clerk = await server.as(surface);
    const other = await (await server.other()).as(surface);
    const { personId } = await server.seed.person();
    const contactDetails = { phone: "+46 8 777" };
    const person = await clerk.update_person({ personId, version: 0, kinds: ["contact"], contactDetails });
    const [entry, ...others] = await clerk.list_audit_entries();
    expect(others).toEqual([]);
    expect(entry).toEqual({
      auditId: expect.stringMatching(/^aud_/),
      businessId: server.businessId,
      action: "person.updated",
      entityType: "person",
      entityId: personId,
      programId: null,
      submissionId: null,
      actorType: "token",
      actorId: person.updatedBy,
      actorName: "test",
      tokenId: person.updatedBy,
      requestId: expect.any(String),
      status: null,
      changes: expect.any(Array),
      reason: null,
      occurredAt: server.clock.now().toISOString(),
    });
    expect(entry.changes).toHaveLength(2);
    expect(entry.changes).toEqual(
      expect.arrayContaining([
        { path: "contactDetails.phone" },
        { path: "kinds", from: ["applicant"], to: ["contact"] },
      ]),
    );
    expect(await clerk.list_audit_entries({ action: "person.updated" })).toEqual([entry]);
    expect(await other.list_audit_entries()).toEqual([]);
    expect(await other.list_audit_entries({ action: "person.updated" })).toEqual([]);
  });

  test("finds entries of a supplement and a file by their submission's programme", async ({ server }) => {
    const clerk = await server.as(surface);
    const draft = await server.seed.submission();
    const { submissionId, programId, schemaId } = draft;
    const { supplementResponseId, version } = await server.seed.supplement({ submissionId, schemaId, status: "draft" });
    await clerk.close_supplement({ submissionId, supplementResponseId, version });
    server.clock.advance(1000);
    const content = { fileName: "plan.pdf", contentType: "application/pdf", sizeBytes: 4, sha256: "0".repeat(64) };
    await server.app.portalServices?.portal.act(server.businessId, "attach_file", { submissionId, ...content });
    const entries = await clerk.list_audit_entries({ programId });
    const place = { programId, submissionId };
    expect(entries).toMatchObject([place, place, { ...place, entityId: supplementResponseId }]);
    const actions = entries.map(({ action }: AuditEntry) => action);
    expect(actions.toSorted()).toEqual(["file.uploaded", "submission.updated", "supplement.closed"]);
    const { programId: other } = await server.seed.program();
    expect(await clerk.list_audit_entries({ programId: other })).toEqual([]);
  });

  test("shows reads and refusals, with their status, only when filtered by action", async ({ server }) => {
    const clerk = await server.as(surface);
    const stranger = await (await server.other()).as(surface);
    const { personId } = await server.seed.person();
    await clerk.get_person({ personId });
    await stranger.get_person({ personId }).catch(() => undefined);
    await clerk.update_person({ personId, version: 7, primaryEmail: "secret@example.org" }).catch(() => undefined);
    const limited = await server.as(surface, ["persons:read"]);
    await limited.update_person({ personId, version: 0 }).catch(() => undefined);
    await server.app.pipeline.flush();
    expect(await clerk.list_audit_entries()).toEqual([]);
    const of = async (action: string) => clerk.list_audit_entries({ action });
    const entry = { entityType: "person", entityId: personId, changes: [], reason: null, actorType: "token" };
    expect(await of("person.read")).toMatchObject([{ ...entry, status: 200 }]);
    const refused = await of("person.updated");
    expect(refused).toMatchObject([{ ...entry }, { ...entry }]);
    expect(refused.map(({ status }: AuditEntry) => status).sort()).toEqual([403, 409]);
    expect(JSON.stringify(refused)).not.toContain("secret");
    const { auditId } = refused[0];
    expect(await clerk.get_audit_entry({ auditId })).toEqual(refused[0]);
    expect(await stranger.list_audit_entries({ action: "person.read" })).toMatchObject([{ status: 404 }]);
  });
});
