import { limits } from "../contract/access/limits.ts";
import { problem } from "../contract/errors.ts";
import type { Handler } from "../store/handler-context.ts";
import { getOrThrow } from "./guards.ts";

export const list_submission_files: Handler<"list_submission_files"> = async ({ store }, { submissionId }) => {
  await getOrThrow(store, "submissions", submissionId);
  return store.find("files", { where: { submissionId } }, { limit: limits.listedFiles, descending: true });
};

export const get_file_download_url: Handler<"get_file_download_url"> = async (context, { fileId }) => {
  const file = await getOrThrow(context.store, "files", fileId);
  // Anyone who has the link can use it, so a file gets one only after a clean scan.
  if (file.scanStatus !== "clean") {
    throw problem("invalid_state_transition", { from: file.scanStatus, operation: "download", allowedFrom: ["clean"] });
  }
  const expiresAt = new Date(Date.parse(context.now) + limits.fileLinkSeconds * 1000).toISOString();
  return { fileId, downloadUrl: await context.links.file(context.caller.businessId, fileId, expiresAt), expiresAt };
};
