import * as z from "zod";
import { limits } from "./access/limits.ts";
import { personal } from "./definition/field-annotations.ts";
import { common, Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";

export const File = z.object({
  fileId: Id,
  submissionId: Id.nullable(),
  supplementResponseId: Id.nullable(),
  fieldId: z.string().nullable(),
  fileName: personal(z.string()),
  contentType: z.string(),
  sizeBytes: z.int().min(0),
  sha256: z.string(),
  scanStatus: z.enum(["pending", "clean", "infected"]),
  uploadedAt: Timestamp,
  ...common,
});
export type File = z.output<typeof File>;

export const FileDownload = z.object({ fileId: Id, downloadUrl: z.url(), expiresAt: Timestamp });

export const list_submission_files = operation({
  summary: "List a submission's files",
  method: "GET",
  path: "/submissions/{submissionId}/files",
  resource: "programme://submissions/{submissionId}/files",
  scope: "files:read",
  effect: "read",
  data: z.array(File),
  maxRows: limits.listedFiles,
  audit: "file.listed",
  errors: ["not_found"],
});

export const get_file_download_url = operation({
  summary: "Get a download link of a file",
  description: "It works for 15 minutes. Only files that a scan found clean have one.",
  method: "GET",
  path: "/files/{fileId}/download-url",
  resource: "programme://files/{fileId}/download-url",
  scope: "files:read",
  effect: "read",
  data: FileDownload,
  audit: "file.download_url_created",
  errors: ["not_found", "invalid_state_transition"],
});
