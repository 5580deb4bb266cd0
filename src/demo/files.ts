import type { File } from "../contract/files.ts";
import type { Document } from "./documents.ts";
import type { Author, Desk } from "./timeline.ts";

interface Upload extends Pick<File, "fileId" | "submissionId" | "supplementResponseId" | "fieldId"> {
  readonly document: Document;
  readonly by: Author;
  /** Default: clean. */
  readonly scanStatus?: File["scanStatus"];
}

/** Adds a file whose bytes are kept already. */
export async function addFile(desk: Desk, { document, by, scanStatus, ...ids }: Upload): Promise<void> {
  const { name, contentType, sizeBytes, sha256 } = document;
  const row = { ...ids, fileName: name, contentType, sizeBytes, sha256, scanStatus: scanStatus ?? "clean", uploadedAt: desk.now };
  await desk.add("files", row, { action: "file.uploaded", by });
}
