import { Readable } from "node:stream";
import type { Context } from "hono";
import type { Download, Downloads } from "../gate/downloads.ts";
import type { LinkKind } from "../gate/links.ts";
import { isMediaType } from "../lib/media-type.ts";
import { rangeOf } from "./range.ts";

/** Sends what a signed link leads to, whole or in part (RFC 9110); every bad link gets the same answer. */
export async function serveDownload(downloads: Downloads, kind: LinkKind, context: Context): Promise<Response> {
  const { req } = context;
  const download = await downloads.find({ kind, id: req.param("id") ?? "", query: req.query() });
  if (!download) return context.text("This link is not valid, or no longer.", 404, { "cache-control": "no-store" });
  const headers = headersOf(download);
  if (names(req.header("if-none-match"), headers.etag)) return new Response(null, { status: 304, headers });
  const whole = { ...headers, "content-length": String(download.sizeBytes) };
  if (req.method === "HEAD") return new Response(null, { headers: whole });
  if (download.address) {
    const location = await download.address(headers["content-disposition"]);
    return new Response(null, { status: 302, headers: { location, "cache-control": "no-store" } });
  }
  const range = rangeFor(req.header("if-range"), headers.etag)
    ? rangeOf(req.header("range"), download.sizeBytes)
    : undefined;
  if (range === undefined) return new Response(await bodyOf(download), { headers: whole });
  if (range === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${download.sizeBytes}` } });
  }
  const { start, end } = range;
  const part = {
    "content-length": String(end - start + 1),
    "content-range": `bytes ${start}-${end}/${download.sizeBytes}`,
  };
  return new Response(await bodyOf(download, range), { status: 206, headers: { ...headers, ...part } });
}

function headersOf({ sha256, contentType, fileName }: Download) {
  return {
    etag: `"${sha256}"`,
    "accept-ranges": "bytes",
    "repr-digest": `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`,
    "content-type": isMediaType(contentType) ? contentType : "application/octet-stream",
    // Always a download, never a page of this origin, whatever an applicant uploaded.
    "content-disposition": `attachment; filename*=UTF-8''${extendedValue(fileName)}`,
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
  };
}

/** As RFC 8187 spells a file name in a header. */
function extendedValue(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Whether a list of entity tags has this one, or is `*`. */
function names(list: string | undefined, etag: string): boolean {
  return list?.split(",").some((entry) => [etag, "*"].includes(entry.trim().replace(/^W\//, ""))) === true;
}

/** Whether a range is to be sent, rather than all: `If-Range` must not name something else. */
function rangeFor(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || ifRange === etag;
}

async function bodyOf(download: Download, range?: { readonly start: number; readonly end: number }) {
  return Readable.toWeb(await download.open(range)) as ReadableStream;
}
