import { expect } from "vitest";
import { fieldIds } from "../support/data/seed-factory.ts";
import { tenantTest as test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";
import { actAt, lastEntries, loadRow } from "./portal-actions.ts";

const file = { fileName: "plan.pdf", contentType: "application/pdf", sizeBytes: 5, sha256: "a".repeat(64) };

test("a file is attached to a draft and to the field that it is for", async ({ server }) => {
  const act = actAt(server);
  const { submissionId, applicantId } = await server.seed.submission();
  const fieldId = fieldIds.annex;
  const trace = await recordTrace(server, () => act("attach_file", { submissionId, fieldId, ...file }));
  const { fileId } = trace.data;
  expect(trace).toMatchObject({
    data: { ...file, fileId: expect.stringMatching(/^fil_/), submissionId, fieldId, scanStatus: "clean" },
    rows: ["files inserted", "submissions updated: fields fileIds"],
    audit: ["file.uploaded", "submission.updated"],
    events: [],
  });
  const second = await act("attach_file", { submissionId, ...file, fileName: "budget.pdf", scanStatus: "pending" });
  expect(await loadRow(server, "submissions", submissionId)).toMatchObject({
    fileIds: [fileId, second.fileId],
    fields: { [fieldId]: [fileId] },
    version: 2,
  });
  for (const entry of await lastEntries(server, 4)) {
    expect(entry).toMatchObject({ actorType: "applicant", actorId: applicantId });
    expect(JSON.stringify(entry)).not.toMatch(/plan\.pdf|budget/);
  }
  const chair = await server.as("REST");
  const pending = chair.get_file_download_url({ fileId: second.fileId });
  await expect(pending).rejects.toMatchProblem("invalid_state_transition", { from: "pending" });
});

test("a file is attached to a supplement response, which becomes a draft", async ({ server }) => {
  const act = actAt(server);
  const submission = await server.seed.submission({ state: "SUBMITTED" });
  const { submissionId, schemaId, applicantId } = submission;
  const { supplementResponseId } = await server.seed.supplement({ submissionId, schemaId });
  const trace = await recordTrace(server, () => act("attach_file", { supplementResponseId, ...file }));
  expect(trace).toMatchObject({
    data: { submissionId, supplementResponseId, fieldId: null, createdBy: applicantId },
    rows: ["files inserted", "supplements updated: fileIds status"],
    audit: ["file.uploaded", "supplement.updated"],
  });
  const saved = await loadRow(server, "supplements", supplementResponseId);
  expect(saved).toMatchObject({ fileIds: [trace.data.fileId], status: "draft" });
});

test("a file is refused where nothing can be attached, and nothing is stored", async ({ server }) => {
  const act = actAt(server);
  const draft = await server.seed.submission();
  const { submissionId } = draft;
  const submitted = await server.seed.submission({ state: "SUBMITTED" });
  const late = await server.seed.submission({ deadline: "2026-11-20T08:59:59.000Z" });
  const full = await server.seed.submission({ fileIds: Array.from({ length: 100 }, (_, index) => `fil_${index}`) });
  const closed = await server.seed.supplement({ submissionId, schemaId: draft.schemaId, status: "closed" });
  const { supplementResponseId } = closed;
  const foreign = await (await server.other()).seed.submission();
  const cases = [
    [{ submissionId: submitted.submissionId }, "invalid_state_transition"],
    [{ submissionId: late.submissionId }, "deadline_passed"],
    [{ submissionId: foreign.submissionId }, "not_found"],
    [{ supplementResponseId }, "invalid_state_transition"],
    [{ submissionId, supplementResponseId }, "validation_failed"],
    [{}, "validation_failed"],
    [{ submissionId: full.submissionId }, "validation_failed"],
    [{ submissionId, fieldId: fieldIds.title }, "validation_failed"],
    [{ submissionId, fieldId: "fld_none" }, "validation_failed"],
    [{ submissionId, contentType: "pdf" }, "validation_failed"],
    [{ submissionId, contentType: "text/html\r\nx: y" }, "validation_failed"],
    [{ submissionId, fileName: "../plan.pdf" }, "validation_failed"],
    [{ submissionId, fileName: "a\nb.pdf" }, "validation_failed"],
    [{ submissionId, sha256: "../../secret" }, "validation_failed"],
    [{ submissionId, sizeBytes: -1 }, "validation_failed"],
  ] as const;
  for (const [given, code] of cases) {
    const trace = await recordTrace(server, () => act("attach_file", { ...file, ...given }));
    expect([given, trace]).toMatchObject([given, { problem: { code }, ...nothing }]);
  }
});
