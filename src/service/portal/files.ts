import { limits } from "../../contract/access/limits.ts";
import { validationProblem } from "../../contract/errors.ts";
import type { File } from "../../contract/files.ts";
import type { PortalActionInput } from "../../contract/portal.ts";
import type { Submission } from "../../contract/submissions.ts";
import { pickKeys } from "../../domain/patch.ts";
import { checkDeadline } from "../../domain/submissions.ts";
import { isMediaType } from "../../lib/http/media-type.ts";
import type { PortalActionHandler, PortalContext } from "../../store/handler-context.ts";
import type { Row } from "../../store/tables.ts";
import { getOrThrow } from "../guards.ts";
import { editDraft } from "../submissions.ts";
import { saveSupplement } from "../supplements.ts";
import { loadApplicantAuthor, loadRespondentAuthor } from "./authors.ts";

/** Creates the record of a file whose bytes are already stored, and attaches it to a draft or a supplement response. */
export const attach_file: PortalActionHandler<"attach_file"> = {
  author: (store, input) => {
    const { submissionId, supplementResponseId } = getFileOwner(input);
    return supplementResponseId === undefined
      ? loadApplicantAuthor(store, submissionId)
      : loadRespondentAuthor(store, supplementResponseId);
  },

  async run(context, input) {
    if (!isMediaType(input.contentType)) {
      throw validationProblem({ path: "contentType", code: "invalid_format", message: "Expected a media type" });
    }
    const { submissionId, supplementResponseId } = getFileOwner(input);
    return supplementResponseId === undefined
      ? attachToDraft(context, input, await getOrThrow(context.store, "submissions", submissionId))
      : attachToSupplement(context, input, await getOrThrow(context.store, "supplements", supplementResponseId));
  },
};

type FileArguments = PortalActionInput<"attach_file">;

interface Values {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly fileIds: readonly string[];
}

type Owner =
  | { readonly submissionId: string; readonly supplementResponseId?: never }
  | { readonly submissionId?: never; readonly supplementResponseId: string };

function getFileOwner({ submissionId, supplementResponseId }: FileArguments): Owner {
  if (submissionId !== undefined && supplementResponseId === undefined) return { submissionId };
  if (submissionId === undefined && supplementResponseId !== undefined) return { supplementResponseId };
  const message = "Give either submissionId or supplementResponseId";
  throw validationProblem(
    ...["submissionId", "supplementResponseId"].map((path) => ({ path, code: "required", message })),
  );
}

async function attachToDraft(context: PortalContext, input: FileArguments, submission: Submission): Promise<File> {
  checkDeadline(submission, context.now);
  const file = await insertFile(context, input, { submissionId: submission.submissionId, supplementResponseId: null });
  const { fields, fileIds } = addFile(submission, file);
  await editDraft(context.store, submission, fields, { fileIds });
  return file;
}

async function attachToSupplement(
  context: PortalContext,
  input: FileArguments,
  supplement: Row<"supplements">,
): Promise<File> {
  const ids = pickKeys(supplement, "submissionId", "supplementResponseId");
  const file = await insertFile(context, input, ids);
  const { fields, fileIds } = addFile(supplement, file);
  await saveSupplement(context, { ...ids, version: supplement.version, fields, fileIds });
  return file;
}

function insertFile(
  { store, now, newId }: PortalContext,
  input: FileArguments,
  owner: Pick<File, "submissionId" | "supplementResponseId">,
) {
  return store.insert("files", {
    ...pickKeys(input, "fileName", "contentType", "sizeBytes", "sha256", "scanStatus"),
    ...owner,
    fileId: newId("fil"),
    fieldId: input.fieldId ?? null,
    uploadedAt: now,
  });
}

/** Returns the owner's files with a new one, and the change of the field that it belongs to. */
function addFile({ fields, fileIds }: Values, { fileId, fieldId }: File) {
  if (fileIds.length >= limits.attachedFiles) {
    throw validationProblem({
      path: "fileName",
      code: "too_big",
      message: `There are ${limits.attachedFiles} files already`,
    });
  }
  const value = fieldId === null ? undefined : fields[fieldId];
  const before = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return {
    fileIds: [...fileIds, fileId],
    fields: fieldId === null ? {} : { [fieldId]: [...before, fileId] },
  };
}
