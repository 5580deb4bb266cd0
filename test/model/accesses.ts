import { expect } from "vitest";
import { listAudit } from "../support/data/state.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { accessActions } from "./dated-lists/audit-entries.ts";
import type { ModelTenant } from "./tenant.ts";

/** The audit entries of requests that changed nothing. They are written later, so they are compared at the very end. */
export interface AccessRecord {
  readonly server: TestServer;
  /** One text for each entry, sorted. */
  readonly entries: readonly string[];
}

/** Returns the entries that the requests of a tenant make. */
export function listAccesses(server: TestServer, { auditEntries }: ModelTenant): AccessRecord {
  const accesses = auditEntries.filter(({ isCertain, shown }) => !isCertain && shown["status"] !== null);
  return { server, entries: accesses.map(({ entityId, shown }) => describe({ ...shown, entityId })).sort() };
}

/**
 * Compares these entries with those that the store holds.
 * @throws AssertionError if one is missing, is there twice, or differs
 */
export async function checkAccesses({ server: { app, businessId }, entries }: AccessRecord): Promise<void> {
  const stored = await Promise.all(accessActions.map((action) => listAudit(app.store, businessId, action)));
  const accesses = stored.flat().filter(({ status }) => typeof status === "number");
  expect(accesses.map((each) => describe({ ...each })).sort()).toEqual(entries);
}

const compared = [
  ...["requestId", "action", "status", "replayed", "entityType", "entityId", "programId", "submissionId"],
  ...["actorType", "actorId", "tokenId", "reason"],
];

function describe(entry: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(compared.map((name) => entry[name] ?? null));
}
