import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { describe, expect } from "vitest";
import { rest, send } from "../support/clients/raw-http.ts";
import { getFilesPrefix } from "../support/database/database-settings.ts";
import { openServersOnOneDatabase } from "../support/database/shared-database.ts";
import { type TestServer, test } from "../support/servers/test-server.ts";

const bytes = Buffer.from("%PDF-1.7 and what an applicant wrote");

/** A clean file of a portal's tenant and its download link. */
async function linked(
  server: TestServer,
  given: Parameters<TestServer["seed"]["file"]>[0] = {},
  content: Uint8Array = bytes,
) {
  const sha256 = await server.app.content.put(content);
  const { submissionId } = await server.seed.submission();
  const { fileId } = await server.seed.file({ submissionId, sha256, sizeBytes: content.byteLength, ...given });
  const { body } = await rest(server, await server.token(), "get_file_download_url", { fileId });
  return { fileId, sha256, url: new URL(body.data.downloadUrl), expiresAt: body.data.expiresAt as string };
}

function altered(url: URL, changes: Record<string, string>): string {
  const copy = new URL(url);
  for (const [name, value] of Object.entries(changes)) copy.searchParams.set(name, value);
  return copy.href;
}

const refused = { status: 404, text: "This link is not valid, or no longer." };

describe("a download link", () => {
  test("gives the file to anyone who holds the link, with headers that prevent misuse by a page", async ({
    server,
  }) => {
    const { url, expiresAt } = await linked(server, { fileName: 'Łódź "plan".html', contentType: "text/html" });
    expect(url.origin).toBe(server.origin);
    expect(Date.parse(expiresAt) - server.clock.now().getTime()).toBe(15 * 60 * 1000);
    const answer = await send(url.href, {});
    expect([answer.status, answer.text]).toEqual([200, bytes.toString()]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/html",
      "content-length": String(bytes.byteLength),
      "content-disposition":
        "attachment; filename=\"__d___plan_.html\"; filename*=UTF-8''%C5%81%C3%B3d%C5%BA%20%22plan%22.html",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
    });
  });

  test("names its file in plain ASCII for every client, and exactly for those that read RFC 8187", async ({
    server,
  }) => {
    const { url, fileId } = await linked(server);
    const dispositionOf = async (fileName: string) => {
      await server.write(async (tx) => {
        const file = await tx.get("files", fileId);
        if (file) await tx.update("files", file, { fileName });
      });
      return (await send(url.href, { method: "HEAD" })).headers.get("content-disposition") ?? "";
    };
    for (const fileName of ["plan.pdf", "Work plan (2).pdf", "a_b-c.tar.gz"]) {
      expect(await dispositionOf(fileName)).toBe(`attachment; filename="${fileName}"`);
    }
    const attrChar = "[A-Za-z0-9!#$&+.^_`|~-]";
    const form = new RegExp(
      `^attachment; filename="([\\w.()-]+)"; filename\\*=UTF-8''((?:${attrChar}|%[0-9A-F]{2})*)$`,
    );
    const everyAscii = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code));
    for (const fileName of [everyAscii, "ä€😀.pdf", '"; filename="x', "100%41.pdf", " plan.pdf", "\u202epdf.exe"]) {
      const [, plain, extended = ""] = form.exec(await dispositionOf(fileName)) ?? [];
      expect(plain, fileName).toHaveLength([...fileName].length);
      expect(decodeURIComponent(extended)).toBe(fileName);
    }
  });

  test("expires after 15 minutes", async ({ server }) => {
    const { url } = await linked(server);
    server.clock.advance(15 * 60 * 1000 - 1);
    expect((await send(url.href, {})).status).toBe(200);
    server.clock.advance(1);
    expect(await send(url.href, {})).toMatchObject(refused);
  });

  test("that is altered in any part is not found", async ({ server }) => {
    const { url, fileId } = await linked(server);
    const other = await linked(server);
    const foreign = await linked(await server.other());
    const { signature = "", expires = "" } = Object.fromEntries(url.searchParams);
    const bad = [
      altered(url, { expires: String(Number(expires) + 1) }),
      altered(url, { expires: `${expires}.0` }),
      altered(url, { expires: "" }),
      altered(url, { business: "biz_other1" }),
      altered(url, { business: "" }),
      altered(url, { signature: `${signature.slice(0, -1)}${signature.endsWith("A") ? "B" : "A"}` }),
      altered(url, { signature: `${signature}A` }),
      altered(url, { signature: signature.toUpperCase() }),
      altered(url, { signature: "" }),
      url.href.replace(fileId, other.fileId),
      url.href.replace(fileId, foreign.fileId),
      foreign.url.href.replace("biz_other1", "biz_one"),
      url.href.replace(/\?.*/, ""),
    ];
    for (const href of bad) expect(await send(href, {}), href).toMatchObject(refused);
    expect((await send(url.href, {})).status).toBe(200);
  });

  test("opens only its own tenant's file, even if another tenant's file has the same id", async ({ server }) => {
    const other = await server.other();
    const { fileId, url } = await linked(server);
    const theirs = await linked(other, { fileId }, Buffer.from("theirs"));
    expect((await send(theirs.url.href, {})).text).toBe("theirs");
    expect(await send(altered(url, { business: other.businessId }), {})).toMatchObject(refused);
    expect((await send(url.href, {})).text).toBe(bytes.toString());
  });

  test("identifies a record, never a path", async ({ server }) => {
    const { url, fileId, sha256 } = await linked(server);
    const paths = [
      "..%2f..%2fetc%2fpasswd",
      "%252e%252e",
      `..%2f${fileId}`,
      `${fileId}%00`,
      sha256,
      `${sha256.slice(0, 2)}%2f${sha256}`,
      "%",
      "%zz",
    ];
    for (const path of paths) {
      expect(await send(url.href.replace(fileId, path), {}), path).toMatchObject(refused);
    }
    for (const path of ["%2e%2e", `../files/${fileId}/`, `${fileId}/..`, `${fileId}/x`]) {
      expect((await send(url.href.replace(fileId, path), {})).status, path).toBe(404);
    }
  });

  test("of a deleted file is not found", async ({ server }) => {
    const { url } = await linked(server);
    const row = await server.seed.file({ sha256: "f".repeat(64) });
    const { body } = await rest(server, await server.token(), "get_file_download_url", { fileId: row.fileId });
    expect(await send(body.data.downloadUrl, {})).toMatchObject(refused);
    expect((await send(url.href, {})).status).toBe(200);
  });

  test("sends a large file whole", async ({ server }) => {
    const content = randomBytes(3 * 1024 * 1024);
    const { url } = await linked(server, {}, content);
    const response = await fetch(url);
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
  });

  test("accepts only GET and HEAD", async ({ server }) => {
    const { url } = await linked(server);
    for (const method of ["POST", "PUT", "DELETE"]) expect((await send(url.href, { method })).status).toBe(404);
    const head = await send(url.href, { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
  });
});

test("a link works in every process, and a file that is missing on disk does not stop the service", async () => {
  const { servers, database, close } = await openServersOnOneDatabase(2);
  const [first, second] = servers as [TestServer, TestServer];
  const { url } = await linked(first);
  const elsewhere = `${second.origin}${url.pathname}${url.search}`;
  expect((await send(elsewhere, {})).text).toBe(bytes.toString());
  await rm(`${getFilesPrefix(database)}.files`, { recursive: true });
  expect((await send(elsewhere, {})).status).toBe(404);
  expect((await send(`${second.origin}/healthz`, {})).status).toBe(200);
  await close();
});
