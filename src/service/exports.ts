import { limits } from "../contract/access/limits.ts";
import { shouldHideContacts } from "../contract/access/privacy.ts";
import { type Scope, sensitiveScope } from "../contract/access/scopes.ts";
import { problem, validationProblem } from "../contract/errors.ts";
import { type ExportJob, mayShowSensitive } from "../contract/exports.ts";
import type { Input } from "../contract/index.ts";
import { SubmissionState } from "../contract/submissions.ts";
import type { Handler, ReadContext } from "../store/handler-context.ts";
import type { Row } from "../store/tables.ts";
import { getOrThrow } from "./guards.ts";
import { hasOnlyStandardFields, requirePersonFields } from "./persons/includes.ts";

export const create_export: Handler<"create_export"> = async (context, input) => {
  const { store, caller, newId } = context;
  const { programId, trackId, persons } = input;
  checkFilters(input);
  await getOrThrow(store, "programs", programId);
  if (trackId !== undefined) {
    const track = await getOrThrow(store, "tracks", trackId);
    if (track.programId !== programId) throw problem("not_found");
  }
  if (persons) await requirePersonFields(context, persons.fieldIds, (index) => `persons.fieldIds.${index}`);
  const row = await store.insert("exports", {
    exportId: newId("exp"),
    programId,
    trackId: trackId ?? null,
    filters: {
      state: input.state ?? null,
      submittedFrom: input.submittedFrom ?? null,
      submittedTo: input.submittedTo ?? null,
    },
    persons: persons ? { fieldIds: [...new Set(persons.fieldIds)] } : null,
    status: "pending",
    sizeBytes: null,
    sha256: null,
    errorCode: null,
    completedAt: null,
    privacy: context.privacy ?? null,
    tokenId: caller.tokenId,
    scopes: [...caller.scopes],
  });
  return toExportJob(row);
};

export const get_export: Handler<"get_export"> = async (context, { exportId }) => {
  const row = await getOrThrow(context.store, "exports", exportId);
  if (row.status !== "completed" || row.completedAt === null) return toExportJob(row);
  const expiresAtMs = Date.parse(row.completedAt) + limits.exportRetentionSeconds * 1000;
  const nowMs = Date.parse(context.now);
  if (nowMs >= expiresAtMs) return { ...toExportJob(row), errorCode: "expired" };
  const missing = await findMissingFileScope(context, row);
  if (missing) return withholdLink(toExportJob(row), missing);
  const expiresAt = new Date(Math.min(nowMs + limits.exportLinkSeconds * 1000, expiresAtMs)).toISOString();
  const downloadUrl = await context.links.export(context.caller.businessId, exportId, expiresAt);
  return { ...toExportJob(row), downloadUrl, downloadExpiresAt: expiresAt };
};

/**
 * Returns a scope that the caller lacks to see all that the file shows. The file was written with the scopes of the
 * token that asked for it, and another token may have fewer.
 */
async function findMissingFileScope(context: ReadContext, row: Row<"exports">): Promise<Scope | undefined> {
  const lacks = (scope: Scope) => !context.caller.scopes.has(scope);
  if (row.persons && lacks("persons:read")) return "persons:read";
  if (!mayShowSensitive(row) || !lacks(sensitiveScope)) return undefined;
  // Over REST everyone sees an application's personal answers, agents only with the scope.
  if (shouldHideContacts(context.privacy)) return sensitiveScope;
  const isStandard = row.persons ? await hasOnlyStandardFields(context.store, row.persons.fieldIds) : true;
  return isStandard ? undefined : sensitiveScope;
}

function withholdLink(job: ExportJob, scope: Scope): ExportJob {
  const withheld = `The file shows data that your token may not see, so you get no link to it: ${scope} is missing. Start an export of your own.`;
  return { ...job, warnings: [...(job.warnings ?? []), withheld] };
}

/** @throws Problem `validation_failed` */
function checkFilters({ submittedFrom, submittedTo }: Input<"create_export">): void {
  if (submittedFrom === undefined || submittedTo === undefined || submittedFrom <= submittedTo) return;
  const message = "submittedFrom is after submittedTo";
  throw validationProblem(
    ...["submittedFrom", "submittedTo"].map((path) => ({ path, code: "invalid_value", message })),
  );
}

/** Returns an export without its internal fields: the token and scopes that it runs with. */
function toExportJob({ tokenId: _token, scopes: _scopes, privacy, ...job }: Row<"exports">): ExportJob {
  const { state } = job.filters;
  const warnings =
    state === null || SubmissionState.safeParse(state).success ? {} : { warnings: [unknownStateWarning] };
  const privacyMode = privacy === null ? {} : { privacy };
  return { ...job, ...privacyMode, downloadUrl: null, downloadExpiresAt: null, ...warnings };
}

const unknownStateWarning = `The given state is not a state of submissions, so the file contains none. The states are ${SubmissionState.options.join(", ")}.`;
