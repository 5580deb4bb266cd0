import { limits } from "../contract/access/limits.ts";
import { shouldHideContacts } from "../contract/access/privacy.ts";
import { excludeSensitiveScopes, type Scope } from "../contract/access/scopes.ts";
import { problem } from "../contract/errors.ts";
import { create_export } from "../contract/exports.ts";
import type { Clock } from "../lib/clock.ts";
import { withAudit } from "../pipeline/audit/with-audit.ts";
import { loadCurrentScopes } from "../pipeline/steps/authenticate.ts";
import { authorize, authorizeInput } from "../pipeline/steps/authorize.ts";
import { loadView } from "../pipeline/steps/redact.ts";
import type { BlobContent, BlobStore, ExportLease, Spool, Store } from "../store/port.ts";
import type { Row } from "../store/tables.ts";
import { ExportFailure, LeaseLost } from "./failure.ts";
import { type ProtectRow, renderDocument } from "./render.ts";
import type { PersonLoader } from "./sections.ts";

type Job = Row<"exports">;

export interface JobDeps {
  readonly store: Store;
  readonly artifacts: BlobStore;
  readonly clock: Clock;
  readonly personsOf: PersonLoader;
  /** Returns how rows of a tenant are shown to agents. */
  readonly protectionOf: (businessId: string) => ProtectRow;
  /** Limits the size of the file. */
  readonly maxBytes: number;
}

/** An export whose lease this process holds. */
export interface LeasedExport {
  readonly lease: ExportLease;
  readonly job: Job;
  /** Identifies the attempt in the log and in audit entries. */
  readonly requestId: string;
  /** Aborts when the lease is lost or the process ends. */
  readonly signal: AbortSignal;
}

/**
 * Writes an export's file, stores it and completes the job. A failure leaves nothing visible.
 * @throws Problem `invalid_token`, `insufficient_scope`; ExportFailure, LeaseLost; the signal's reason
 */
export async function performExport(deps: JobDeps, leased: LeasedExport): Promise<BlobContent> {
  const { store, artifacts } = deps;
  const spool = await artifacts.spool(leased.lease.exportId);
  try {
    await write(deps, leased, spool);
    const content = await spool.finish();
    // The token may have lost access while the file was written.
    await loadScopes(deps, leased.job);
    leased.signal.throwIfAborted();
    // Noted first, so that the process that takes over after a crash finds the stored file.
    if (!(await store.exportQueue.note(leased.lease, content.sha256))) throw new LeaseLost();
    await storeFile(spool);
    await complete(deps, leased, content).catch(async (error: unknown) => {
      // The process that took over may have looked for the file before it was stored.
      if (error instanceof LeaseLost) await artifacts.remove(content.sha256);
      throw error;
    });
    return content;
  } finally {
    await spool.discard();
  }
}

/** @throws ExportFailure `storage_unavailable`; the next attempt removes the noted file */
async function storeFile(spool: Spool): Promise<void> {
  try {
    await spool.keep();
  } catch (error) {
    throw new ExportFailure("storage_unavailable", error);
  }
}

async function write(deps: JobDeps, { job, signal }: LeasedExport, spool: Spool): Promise<void> {
  const { store, clock, personsOf, protectionOf, maxBytes } = deps;
  const reader = await store.listReader(job.businessId);
  const scopes = await loadScopes(deps, job);
  const view = await loadView(reader, job.privacy === "redact" ? excludeSensitiveScopes(scopes) : scopes);
  const protect = shouldHideContacts(job.privacy ?? undefined) ? protectionOf(job.businessId) : undefined;
  const generatedAt = clock.now().toISOString();
  await renderDocument({ reader, job, personsOf, signal }, { view, protect }, generatedAt, async (text) => {
    await spool.write(text);
    if (spool.sizeBytes > maxBytes) throw new ExportFailure("artifact_too_large");
  });
}

/**
 * Loads the scopes of an export: those that its token or person had when it was created and still has.
 * @throws Problem `invalid_token` when the token was revoked or has expired, or the person was disabled, `insufficient_scope`
 */
async function loadScopes({ store, clock }: JobDeps, job: Job): Promise<ReadonlySet<Scope>> {
  const { tokenId, businessId } = job;
  const current = tokenId === null ? undefined : await loadCurrentScopes(store, { businessId, tokenId }, clock.now());
  if (!current) throw problem("invalid_token");
  const scopes = new Set(job.scopes).intersection(current);
  authorize({ scopes }, create_export);
  authorizeInput({ scopes }, create_export, { persons: job.persons ?? undefined });
  return scopes;
}

/** @throws LeaseLost */
async function complete(deps: JobDeps, leased: LeasedExport, content: BlobContent): Promise<void> {
  const now = deps.clock.now();
  const keptUntil = new Date(now.getTime() + limits.exportRetentionSeconds * 1000).toISOString();
  const patch = { status: "completed", ...content, completedAt: now.toISOString() } as const;
  await settle(deps, leased, { now, action: "export.completed", patch, keptUntil });
}

/** @throws LeaseLost */
export async function failExport(deps: JobDeps, leased: LeasedExport, errorCode: string): Promise<void> {
  const patch = { status: "failed", errorCode } as const;
  await settle(deps, leased, { now: deps.clock.now(), action: "export.failed", patch });
}

interface End {
  readonly now: Date;
  readonly action: string;
  readonly patch: Partial<Pick<Job, "status" | "sha256" | "sizeBytes" | "completedAt" | "errorCode">>;
  readonly keptUntil?: string;
}

async function settle({ store }: JobDeps, leased: LeasedExport, { now, action, patch, keptUntil }: End): Promise<void> {
  const { lease, requestId } = leased;
  const { businessId, exportId } = lease;
  const change = { businessId, actorType: "system", actorId: "exports", requestId, action, now } as const;
  await withAudit(store, change, async (transaction) => {
    const job = await transaction.get("exports", exportId);
    if (!job || !(await transaction.endExport(lease, keptUntil))) throw new LeaseLost();
    await transaction.update("exports", job, patch);
  });
}
