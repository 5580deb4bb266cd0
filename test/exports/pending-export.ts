import { readdir } from "node:fs/promises";
import { pino } from "pino";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { ExportWorker, type ExportWorkerDeps } from "../../src/exports/worker.ts";
import { loadPersonsByRow } from "../../src/service/persons/includes.ts";
import { openDirectoryBlobStore } from "../../src/store/blobs/directory-blob-store.ts";
import type { TestServer } from "../support/servers/test-server.ts";

/** An export that waits, of a programme with a submission, and the token that asked for it. */
export async function createPendingExport(
  server: TestServer,
  granted: readonly Scope[] = ["exports:write", "exports:read"],
) {
  const clerk = await server.as("REST", granted);
  const { programId } = await server.seed.submission();
  const { exportId } = await clerk.create_export({ programId });
  return { exportId: exportId as string, programId, clerk };
}

/** Every file below a directory, its spools aside. */
export async function listArtifacts(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** A worker on a portal's store with something of it replaced. */
export function createWorker({ app, clock }: TestServer, given: Partial<ExportWorkerDeps>) {
  const log = pino({ level: "silent" });
  return new ExportWorker({
    store: app.store,
    artifacts: openDirectoryBlobStore("/nowhere"),
    clock,
    log,
    personsOf: loadPersonsByRow,
    protectionOf: () => (_, row) => row,
    ...given,
  });
}

/** ISO time that many milliseconds from now. */
export function at({ clock }: TestServer, ms: number): string {
  return new Date(clock.now().getTime() + ms).toISOString();
}
