import { validationProblem } from "../../contract/errors.ts";
import type { File } from "../../contract/files.ts";
import { limits } from "../../contract/limits.ts";
import type { PortalActionInput } from "../../contract/portal.ts";
import type { Submission } from "../../contract/submissions.ts";
import { pickKeys } from "../../domain/patch.ts";
import { checkDeadline } from "../../domain/submissions.ts";
import { isMediaType } from "../../lib/http/media-type.ts";
import type { ActHandler, ActWork } from "../../store/handler-context.ts";
import type { Row } from "../../store/tables.ts";
import { getOrThrow } from "../guards.ts";
import { editDraft } from "../submissions.ts";
import { saveSupplement } from "../supplements.ts";
import { loadApplicantAuthor, loadRespondentAuthor } from "./authors.ts";

/** The bytes are kept before; here the record is made, and what it is attached to names it. */
export const attach_file: ActHandler<"attach_file"> = {
  author: (store, input) => {
    const { submissionId, supplementResponseId } = getFileOwner(input);
    return supplementResponseId === undefined
      ? loadApplicantAuthor(store, submissionId)
      : loadRespondentAuthor(store, supplementResponseId);
  },

  async run(work, input) {
    if (!isMediaType(input.contentType)) {
      throw validationProblem({ path: "contentType", code: "invalid_format", message: "Expected a media type" });
    }
    const { submissionId, supplementResponseId } = getFileOwner(input);
    return supplementResponseId === undefined
      ? attachToDraft(work, input, await getOrThrow(work.store, "submissions", submissionId))
      : attachToSupplement(work, input, await getOrThrow(work.store, "supplements", supplementResponseId));
  },
};

type Given = PortalActionInput<"attach_file">;

interface Values {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly fileIds: readonly string[];
}

type Owner =
  | { readonly submissionId: string; readonly supplementResponseId?: never }
  | { readonly submissionId?: never; readonly supplementResponseId: string };

function getFileOwner({ submissionId, supplementResponseId }: Given): Owner {
  if (submissionId !== undefined && supplementResponseId === undefined) return { submissionId };
  if (submissionId === undefined && supplementResponseId !== undefined) return { supplementResponseId };
  const message = "Give either submissionId or supplementResponseId";
  throw validationProblem(
    ...["submissionId", "supplementResponseId"].map((path) => ({ path, code: "required", message })),
  );
}

async function attachToDraft(work: ActWork, given: Given, submission: Submission): Promise<File> {
  checkDeadline(submission, work.now);
  const file = await keep(work, given, { submissionId: submission.submissionId, supplementResponseId: null });
  const { fields, fileIds } = withFile(submission, file);
  await editDraft(work.store, submission, fields, { fileIds });
  return file;
}

async function attachToSupplement(work: ActWork, given: Given, supplement: Row<"supplements">): Promise<File> {
  const ids = pickKeys(supplement, "submissionId", "supplementResponseId");
  const file = await keep(work, given, ids);
  const { fields, fileIds } = withFile(supplement, file);
  await saveSupplement(work, { ...ids, version: supplement.version, fields, fileIds });
  return file;
}

function keep(
  { store, now, newId }: ActWork,
  given: Given,
  owner: Pick<File, "submissionId" | "supplementResponseId">,
) {
  return store.insert("files", {
    ...pickKeys(given, "fileName", "contentType", "sizeBytes", "sha256", "scanStatus"),
    ...owner,
    fileId: newId("fil"),
    fieldId: given.fieldId ?? null,
    uploadedAt: now,
  });
}

/** The owner's files with one more, and the change of the field that it is for. */
function withFile({ fields, fileIds }: Values, { fileId, fieldId }: File) {
  if (fileIds.length >= limits.attachedFiles) {
    throw validationProblem({
      path: "fileName",
      code: "too_big",
      message: `There are ${limits.attachedFiles} files already`,
    });
  }
  const named = fieldId === null ? undefined : fields[fieldId];
  const before = Array.isArray(named) ? named : named === undefined ? [] : [named];
  return {
    fileIds: [...fileIds, fileId],
    fields: fieldId === null ? {} : { [fieldId]: [...before, fileId] },
  };
}
