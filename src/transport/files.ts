import { Readable } from "node:stream";
import type { Context } from "hono";

/** A file that a signed link leads to. */
export interface LinkedFile {
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  open(): Readable;
}

export interface FileLinks {
  /** The file of a link, unless the link is altered, expired or foreign, or the file is gone. */
  fileOf(link: { fileId: string; query: Readonly<Record<string, string>> }): Promise<LinkedFile | undefined>;
}

/** Sends the file of a signed link; every bad link gets the same answer. */
export async function serveFile(links: FileLinks, context: Context): Promise<Response> {
  const file = await links.fileOf({ fileId: context.req.param("fileId") ?? "", query: context.req.query() });
  if (!file) return context.text("This link is not valid, or no longer.", 404, { "cache-control": "no-store" });
  return context.body(Readable.toWeb(file.open()) as ReadableStream, 200, {
    "content-type": file.contentType,
    "content-length": String(file.sizeBytes),
    // Always a download, never a page of this origin, whatever an applicant uploaded.
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.fileName)}`,
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
  });
}
