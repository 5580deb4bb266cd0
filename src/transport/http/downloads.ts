import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { isMediaType } from "../../lib/http/media-type.ts";
import type { Log } from "../../lib/log.ts";
import type { Download, Downloads } from "../../pipeline/downloads.ts";
import { type LinkKind, linkPaths, type SignedUrl } from "../../pipeline/signed-urls.ts";
import { parseRange } from "./range.ts";

type Headers = Readonly<Record<string, string>>;

interface DownloadDeps {
  readonly downloads: Downloads;
  readonly log: Log;
}

/** Returns the signed link of a request, or undefined if its path is not that of a download. */
export function parseLink({ method, url = "" }: IncomingMessage): SignedUrl | undefined {
  const [path = "", ...query] = url.split("?");
  const [, folder, id, ...more] = path.split("/");
  const kind = (Object.keys(linkPaths) as LinkKind[]).find((name) => linkPaths[name] === folder);
  if (!kind || !id || more.length > 0 || (method !== "GET" && method !== "HEAD")) return undefined;
  return { kind, id: decodePart(id), query: Object.fromEntries(new URLSearchParams(query.join("?"))) };
}

/**
 * Sends the file that a signed link names, whole or in part (RFC 9110). Every invalid link gets the same answer. Resolves
 * when the answer has begun; never rejects.
 */
export async function serveDownload(
  { downloads, log }: DownloadDeps,
  link: SignedUrl,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const download = await downloads.find(link);
    if (download) await send(download, request, response);
    else sendText(response, 404, "This link is not valid, or no longer.");
  } catch (error) {
    log.error({ err: error, requestId: response.getHeader("x-request-id") }, "The download failed");
    if (response.headersSent) response.destroy();
    else sendText(response, 500, "Internal error");
  }
}

async function send(download: Download, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { sizeBytes } = download;
  const { headers: requestHeaders, method } = request;
  const headers = createHeaders(download);
  const whole = { ...headers, "content-length": String(sizeBytes) };
  if (listsTag(requestHeaders["if-none-match"], headers.etag)) return end(response, 304, headers);
  if (method === "HEAD") return end(response, 200, whole);
  if (download.address) {
    const location = await download.address(headers["content-disposition"]);
    return end(response, 302, { location, "cache-control": "no-store" });
  }
  const isRangeValid = requestHeaders["if-range"] === undefined || requestHeaders["if-range"] === headers.etag;
  const range = isRangeValid ? parseRange(requestHeaders.range, sizeBytes) : undefined;
  if (range === "unsatisfiable") return end(response, 416, { "content-range": `bytes */${sizeBytes}` });
  const content = await download.open(range);
  if (range) {
    const { start, end: last } = range;
    const part = { "content-length": String(last - start + 1), "content-range": `bytes ${start}-${last}/${sizeBytes}` };
    response.writeHead(206, { ...headers, ...part });
  } else response.writeHead(200, whole);
  // A later failure closes the connection, so that the client does not take a part for the whole file.
  pipeline(content, response, () => undefined);
}

function createHeaders({ sha256, contentType, fileName }: Download) {
  return {
    etag: `"${sha256}"`,
    "accept-ranges": "bytes",
    "repr-digest": `sha-256=:${Buffer.from(sha256, "hex").toString("base64")}:`,
    "content-type": isMediaType(contentType) ? contentType : "application/octet-stream",
    // An upload must never be shown as a page of this origin.
    "content-disposition": formatContentDisposition(fileName),
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
  };
}

/** Names that every client reads alike: no quotes, escapes or characters beyond ASCII (RFC 6266, appendix D). */
const plainName = /^[\w.()-][\w .()-]*$/;

/** Formats a `Content-Disposition` header, with a plain name for clients that do not read the extended one. */
function formatContentDisposition(fileName: string): string {
  if (plainName.test(fileName)) return `attachment; filename="${fileName}"`;
  const plain = fileName.replace(/[^\w.()-]/gu, "_");
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeExtendedValue(fileName)}`;
}

/** Percent-encodes all characters of an extended value but `attr-char` (RFC 8187, section 3.2.1). */
function encodeExtendedValue(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns whether a list of entity tags includes `etag`, or is `*`. */
function listsTag(list: string | undefined, etag: string): boolean {
  return list?.split(",").some((entry) => [etag, "*"].includes(entry.trim().replace(/^W\//, ""))) === true;
}

/** Decodes a segment of a path. Returns a badly encoded one unchanged: it names nothing either way. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function sendText(response: ServerResponse, status: number, text: string): void {
  const headers = { "content-type": "text/plain; charset=UTF-8", "cache-control": "no-store" };
  response.writeHead(status, headers).end(text);
}

function end(response: ServerResponse, status: number, headers: Headers): void {
  response.writeHead(status, headers).end();
}
