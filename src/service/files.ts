import { problem } from "../contract/errors.ts";
import { limits } from "../contract/limits.ts";
import type { Handler } from "../store/handler-context.ts";
import { getOrThrow } from "./guards.ts";

export const list_submission_files: Handler<"list_submission_files"> = async ({ store }, { submissionId }) => {
  await getOrThrow(store, "submissions", submissionId);
  return store.find("files", { where: { submissionId } }, { limit: limits.listedFiles, descending: true });
};

export const get_file_download_url: Handler<"get_file_download_url"> = async (work, { fileId }) => {
  const file = await getOrThrow(work.store, "files", fileId);
  // A link works for whoever holds it: nothing is handed on before the scan has found it clean.
  if (file.scanStatus !== "clean") {
    throw problem("invalid_state_transition", { from: file.scanStatus, operation: "download", allowedFrom: ["clean"] });
  }
  const expiresAt = new Date(Date.parse(work.now) + limits.fileLinkSeconds * 1000).toISOString();
  return { fileId, downloadUrl: await work.links.file(work.caller.businessId, fileId, expiresAt), expiresAt };
};
