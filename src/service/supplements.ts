import { isDeepStrictEqual } from "node:util";
import { limits } from "../contract/access/limits.ts";
import { problem } from "../contract/errors.ts";
import type { Input } from "../contract/index.ts";
import type { Submission } from "../contract/submissions.ts";
import type { SupplementResponse } from "../contract/supplements.ts";
import { mergeValues } from "../domain/fields.ts";
import { pickKeys } from "../domain/patch.ts";
import { getEventIds } from "../domain/submissions.ts";
import { checkSupplementTransition, createSupplementStateFields } from "../domain/supplements.ts";
import type { ChangeContext, Handler } from "../store/handler-context.ts";
import type { Reader } from "../store/port.ts";
import type { Patch } from "../store/tables.ts";
import { checkFields, checkFileFields, loadForm } from "./forms.ts";
import { getOrThrow, loadWritableProgram, requireVersion } from "./guards.ts";

const contentKeys = ["fields", "fileIds", "contributorId", "contributorIndex"] as const;

export const list_submission_supplements: Handler<"list_submission_supplements"> = async (
  { store },
  { submissionId },
) => {
  await getOrThrow(store, "submissions", submissionId);
  return store.find("supplements", { where: { submissionId } }, { limit: limits.listedSupplements, descending: true });
};

export const update_supplement: Handler<"update_supplement"> = (context, input) => saveSupplement(context, input);

/**
 * Changes a supplement response's content, its status, or both.
 * @throws Problem `not_found`, `version_conflict`, `program_archived`, `invalid_state_transition`, `validation_failed`
 */
export async function saveSupplement(
  { store, now, emit }: Pick<ChangeContext, "store" | "now" | "emit">,
  input: Input<"update_supplement">,
): Promise<SupplementResponse> {
  const { submission, supplement } = await loadWritableSupplement(store, input);
  const namesContent = contentKeys.some((key) => input[key] !== undefined);
  // The content of a closed response changes only if the same request reopens it.
  if (namesContent && (input.status ?? "closed") === "closed") checkSupplementTransition("edit", supplement.status);
  const content = await checkContent(store, supplement, input);
  const changesContent = !isDeepStrictEqual({ ...supplement, ...content }, supplement);
  const to = input.status ?? (changesContent && supplement.status === "not_started" ? "draft" : supplement.status);
  const updated = await store.update("supplements", supplement, {
    ...content,
    ...createSupplementStateFields(supplement.status, to, now),
  });
  if (to === "submitted" && supplement.status !== "submitted") {
    const { supplementResponseId } = supplement;
    emit("supplement.response.submitted", { ...getEventIds(submission), supplementResponseId });
  }
  return updated;
}

export const close_supplement: Handler<"close_supplement"> = async ({ store, now }, input) => {
  const { supplement } = await loadWritableSupplement(store, input);
  checkSupplementTransition("close", supplement.status);
  return store.update("supplements", supplement, createSupplementStateFields(supplement.status, "closed", now));
};

export const reopen_supplement: Handler<"reopen_supplement"> = async ({ store, now }, input) => {
  const { supplement } = await loadWritableSupplement(store, input);
  checkSupplementTransition("reopen", supplement.status);
  return store.update("supplements", supplement, createSupplementStateFields(supplement.status, "draft", now));
};

/** @throws Problem `not_found` (also for another submission's supplement), `version_conflict`, `program_archived` */
async function loadWritableSupplement(
  store: Reader,
  input: Input<"close_supplement">,
): Promise<{ submission: Submission; supplement: SupplementResponse }> {
  const submission = await getOrThrow(store, "submissions", input.submissionId);
  const supplement = await getOrThrow(store, "supplements", input.supplementResponseId);
  if (supplement.submissionId !== submission.submissionId) throw problem("not_found");
  requireVersion(supplement, input.version);
  await loadWritableProgram(store, submission.programId);
  return { submission, supplement };
}

/** Returns the content fields of an input after checking them. */
async function checkContent(
  store: Reader,
  supplement: SupplementResponse,
  input: Input<"update_supplement">,
): Promise<Patch<"supplements">> {
  const { schemaId, fields } = supplement;
  if (input.fields) await checkFields(store, await loadForm(store, schemaId), input.fields, supplement);
  const fileIds = input.fileIds && [...new Set(input.fileIds)];
  await checkFileFields(
    store,
    (input.fileIds ?? []).map((fileId, index) => [`fileIds.${index}`, fileId]),
    supplement,
  );
  const contributor = pickKeys(input, "contributorId", "contributorIndex");
  const content = { ...contributor, fileIds, fields: input.fields && mergeValues(fields, input.fields) };
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined));
}
