import type { File } from "../contract/files.ts";
import type { Document } from "./documents.ts";
import type { HistoryAuthor, HistoryTransaction } from "./timeline.ts";

interface Upload extends Pick<File, "fileId" | "submissionId" | "supplementResponseId" | "fieldId"> {
  readonly document: Document;
  /** Of the file, without the ending. */
  readonly name: string;
  readonly by: HistoryAuthor;
  /** Default: clean. */
  readonly scanStatus?: File["scanStatus"];
}

/** Adds a file whose bytes are kept already. */
export async function addFile(
  history: HistoryTransaction,
  { document, name, by, scanStatus, ...ids }: Upload,
): Promise<void> {
  const { ending, ...content } = document;
  const fileName = `${name}.${ending}`;
  const row = { ...ids, ...content, fileName, scanStatus: scanStatus ?? "clean", uploadedAt: history.now };
  await history.add("files", row, { action: "file.uploaded", by });
}
