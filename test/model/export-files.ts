import { setTimeout as delay } from "node:timers/promises";
import { send } from "../support/clients/raw-http.ts";
import { runDueExports } from "../support/data/exports.ts";
import { listAudit } from "../support/data/state.ts";
import type { TestCaller, TestServer } from "../support/servers/test-server.ts";
import { findFileFaults, toSectionRows } from "./exports.ts";
import type { ModelExport, ModelTenant, SectionRow } from "./tenant.ts";

/**
 * Waits until all exports of a tenant are completed, and compares their files with the model's rows since their creation.
 * @throws Error for a file that differs
 */
export async function checkExportFiles(server: TestServer, { exports, fixed }: ModelTenant, token: string) {
  if (exports.length === 0) return;
  const caller = await server.with("REST", token);
  await runDueExports(server);
  for (const job of exports) {
    const { text, body } = await send(await awaitDownloadUrl(caller, job), {});
    const head = { exportId: body?.exportId, businessId: body?.businessId, programId: body?.programId };
    const expected = { exportId: job.exportId, businessId: server.businessId, programId: fixed.programId };
    const faults = findFileFaults(job, listDocumentRows(body));
    if (JSON.stringify(head) !== JSON.stringify(expected) || body.trackId !== job.trackId || faults.length > 0)
      throw new Error(`The file of ${JSON.stringify(expected)} differs:\n${faults.join("\n")}\n${text}`);
  }
  const completed = await listAudit(server.app.store, server.businessId, "export.completed");
  const ids = completed.map(({ entityId }) => entityId).sort();
  const exportIds = exports.map(({ exportId }) => exportId).sort();
  if (String(ids) !== String(exportIds)) throw new Error(`Completed were ${ids} instead of ${exportIds}`);
}

/** Returns the link of an export, which another process may still be working on. */
async function awaitDownloadUrl(caller: TestCaller, { exportId }: ModelExport): Promise<string> {
  for (;;) {
    const { status, downloadUrl } = await caller.get_export({ exportId });
    if (status === "completed") return downloadUrl;
    if (status !== "pending") throw new Error(`Export ${exportId} is ${status}`);
    await delay(5);
  }
}

function listDocumentRows(document: Readonly<Record<string, unknown>>): SectionRow[] {
  const persons = (document["persons"] ?? []) as { personId: string; applicantIds: readonly string[] }[];
  // An export reads applicants and persons one after the other, so that each link is compared by itself.
  const applicantsOfPersons = persons.flatMap(({ personId, applicantIds }) =>
    applicantIds.map((applicantId) => ({ link: `${personId} ${applicantId}` })),
  );
  return Object.entries({ ...document, applicantsOfPersons }).flatMap(([name, rows]) =>
    Array.isArray(rows) ? toSectionRows(name, rows) : [],
  );
}
