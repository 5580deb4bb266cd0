import { randomBytes } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { issueToken } from "../../src/app/access/issue-token.ts";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { send } from "../support/clients/raw-http.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import { getFilesPrefix } from "../support/database/database-settings.ts";
import { openServersOnOneDatabase } from "../support/database/shared-database.ts";
import { openBucket } from "../support/servers/s3-bucket.ts";
import { openTestServer, type TestServer, test } from "../support/servers/test-server.ts";

const bytes = Buffer.from("0123456789abcdefghij");
const etag = `"${hashSha256Hex(bytes)}"`;
const refused = { status: 404, text: "This link is not valid, or no longer." };

/** A clean file of a portal's tenant and its download link. */
async function linked(
  server: TestServer,
  content: Uint8Array = bytes,
  given: Parameters<TestServer["seed"]["file"]>[0] = {},
) {
  const sha256 = await server.app.content.put(content);
  const { fileId } = await server.seed.file({ sha256, sizeBytes: content.byteLength, ...given });
  const { downloadUrl } = await (await server.as("REST")).get_file_download_url({ fileId });
  return { fileId, sha256, url: downloadUrl as string };
}

describe("a range request for a download", () => {
  const parts: readonly [range: string, text: string, shown: string][] = [
    ["bytes=0-4", "01234", "bytes 0-4/20"],
    ["bytes=5-5", "5", "bytes 5-5/20"],
    ["bytes=18-", "ij", "bytes 18-19/20"],
    ["bytes=0-", bytes.toString(), "bytes 0-19/20"],
    ["bytes=15-99999", "fghij", "bytes 15-19/20"],
    ["bytes=-3", "hij", "bytes 17-19/20"],
    ["bytes=-500", bytes.toString(), "bytes 0-19/20"],
    ["Bytes= 1-2 ", "12", "bytes 1-2/20"],
  ];

  test.each(parts)("%s is %s", async (range, text, shown) => {
    const { server, close } = await openTestServer();
    onTestFinished(close);
    const { url } = await linked(server);
    const answer = await send(url, { headers: { range } });
    expect([answer.status, answer.text]).toEqual([206, text]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-range": shown,
      "content-length": String(text.length),
      "accept-ranges": "bytes",
      etag,
    });
  });

  test("that is not satisfiable is refused with the size", async ({ server }) => {
    const { url } = await linked(server);
    const empty = await linked(server, Buffer.alloc(0));
    for (const [href, range, size] of [
      [url, "bytes=20-", 20],
      [url, "bytes=999-1000", 20],
      [url, "bytes=-0", 20],
      [empty.url, "bytes=0-", 0],
      [empty.url, "bytes=-1", 0],
    ] as const) {
      const answer = await send(href, { headers: { range } });
      expect([answer.status, answer.text, answer.headers.get("content-range")], range).toEqual([
        416,
        "",
        `bytes */${size}`,
      ]);
    }
  });

  test("with an unknown unit gets the whole file", async ({ server }) => {
    const { url } = await linked(server);
    for (const range of [
      "bytes=0-1,3-4",
      "bytes=4-1",
      "bytes=-",
      "bytes=a-b",
      "rows=0-1",
      "bytes 0-1",
      `bytes=0-${"9".repeat(400)}`,
    ]) {
      const answer = await send(url, { headers: { range } });
      expect([answer.status, answer.text], range).toEqual([200, bytes.toString()]);
    }
  });

  test("continues only with the same content", async ({ server }) => {
    const { url } = await linked(server);
    const goOn = async (ifRange: string) =>
      (await send(url, { headers: { range: "bytes=5-", "if-range": ifRange } })).status;
    expect(await goOn(etag)).toBe(206);
    expect(await goOn(`"${hashSha256Hex("other")}"`)).toBe(200);
    expect(await goOn(`W/${etag}`)).toBe(200);
    expect(await goOn("Fri, 20 Nov 2026 09:00:00 GMT")).toBe(200);
  });
});

describe("a download", () => {
  test("has headers with type, size and name", async ({ server }) => {
    const { url } = await linked(server);
    const digest = `sha-256=:${Buffer.from(hashSha256Hex(bytes), "hex").toString("base64")}:`;
    const whole = { "content-length": "20", "accept-ranges": "bytes", etag, "repr-digest": digest };
    for (const [method, text] of [
      ["HEAD", ""],
      ["GET", bytes.toString()],
    ] as const) {
      const answer = await send(url, { method });
      expect([answer.status, answer.text]).toEqual([200, text]);
      expect(Object.fromEntries(answer.headers)).toMatchObject(whole);
    }
    // A range of what is not sent has no meaning.
    expect((await send(url, { method: "HEAD", headers: { range: "bytes=0-1" } })).status).toBe(200);
  });

  test("that the client has cached is not sent again", async ({ server }) => {
    const { url } = await linked(server);
    for (const known of [etag, `"x", W/${etag}`, "*"]) {
      const answer = await send(url, { headers: { "if-none-match": known } });
      expect([answer.status, answer.text, answer.headers.get("etag")], known).toEqual([304, "", etag]);
    }
    expect((await send(url, { headers: { "if-none-match": '"x"' } })).status).toBe(200);
  });

  test("never has headers from an applicant's input", async ({ server }) => {
    const { url } = await linked(server, bytes, {
      contentType: "text/html\r\nset-cookie: a=b",
      fileName: "a\r\nb: c'(1)*.pdf\ud800",
    });
    const { status, headers } = await send(url, {});
    expect([status, headers.get("content-type"), headers.get("set-cookie")]).toEqual([
      200,
      "application/octet-stream",
      null,
    ]);
    expect(headers.get("content-disposition")).toBe(
      "attachment; filename=\"a__b__c_(1)_.pdf_\"; filename*=UTF-8''a%0D%0Ab%3A%20c%27%281%29%2A.pdf%EF%BF%BD",
    );
  });

  test("of a file that was found infected after its link was made is refused", async ({ server }) => {
    const { url, fileId } = await linked(server);
    await server.write(async (tx) => {
      const file = await tx.get("files", fileId);
      if (file) await tx.update("files", file, { scanStatus: "infected" });
    });
    expect(await send(url, {})).toMatchObject(refused);
  });

  test("of a file whose size is not the one it had is refused", async ({ server }) => {
    expect(await send((await linked(server, bytes, { sizeBytes: 21 })).url, {})).toMatchObject(refused);
  });
});

test.for([20, 500_000])("content of %i bytes that was altered on disk aborts the download", async (size) => {
  const { servers, database, close } = await openServersOnOneDatabase(1);
  onTestFinished(close);
  const content = randomBytes(size);
  const { url, sha256 } = await linked(servers[0] as TestServer, content);
  content[size - 1] = (content[size - 1] ?? 0) ^ 1;
  await writeFile(join(`${getFilesPrefix(database)}.files`, sha256.slice(0, 2), sha256), content);
  await expect(fetch(url).then((response) => response.arrayBuffer())).rejects.toThrow();
});

test("clients that disconnect leave no file open", async () => {
  const { servers, close } = await openServersOnOneDatabase(1);
  onTestFinished(close);
  const { url, sha256 } = await linked(servers[0] as TestServer, randomBytes(8_000_000));
  for (let round = 0; round < 20; round++) {
    await new Promise<void>((resolve) => {
      const client = request(url, (response) => response.once("data", () => resolve(void client.destroy())));
      client.on("error", () => undefined).end();
    });
    await send(url, { method: "HEAD" });
  }
  const open = async () => {
    const links = await readdir("/proc/self/fd", { withFileTypes: true }).catch(() => []);
    const { readlink } = await import("node:fs/promises");
    const targets = await Promise.all(links.map(({ name }) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
    return targets.filter((target) => target.endsWith(sha256)).length;
  };
  await expect.poll(open).toBe(0);
});

describe("with a bucket", () => {
  test("downloads go through the service, whole and in part", async () => {
    const bucket = await openBucket();
    const { server, close } = await openTestServer(bucket.environment);
    onTestFinished(close);
    const { url, sha256 } = await linked(server);
    expect(url).toMatch(server.origin);
    expect((await send(url, {})).text).toBe(bytes.toString());
    expect(await send(url, { headers: { range: "bytes=2-3" } })).toMatchObject({ status: 206, text: "23" });
    expect((await send(url, { method: "HEAD" })).headers.get("content-length")).toBe("20");
    await server.app.content.remove(sha256);
    expect(await send(url, {})).toMatchObject(refused);
    await bucket.close();
    expect((await send(url, {})).status).toBe(500);
  });

  test("downloads are redirected if configured: signed for a minute, and only for a valid link", async () => {
    const bucket = await openBucket();
    const { server, close } = await openTestServer({ ...bucket.environment, PROGRAMME_S3_REDIRECT: "true" });
    onTestFinished(close);
    const { url, sha256 } = await linked(server, bytes, { fileName: "plan.pdf" });
    const answer = await send(url, {});
    const location = new URL(answer.headers.get("location") ?? "");
    expect([answer.status, answer.text, location.origin]).toEqual([302, "", bucket.endpoint]);
    expect(location.pathname).toBe(`/programme/files/${sha256.slice(0, 2)}/${sha256}`);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      "X-Amz-Expires": "60",
      "response-content-disposition": 'attachment; filename="plan.pdf"',
      "response-content-type": "application/pdf",
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await send(`${url}A`, {})).toMatchObject(refused);
    expect((await send(url, { method: "HEAD" })).headers.get("content-length")).toBe("20");
  });
});

test("links work without HTTP: a local port opens with the first", async () => {
  const app = await createApp(loadConfig({ PROGRAMME_DATABASE: ":memory:", PROGRAMME_LOG_LEVEL: "silent" }));
  onTestFinished(() => app.close());
  const businessId = "biz_one";
  const now = new Date().toISOString();
  await app.store.insertBusiness({ businessId, name: "One", createdAt: now });
  const { token } = await issueToken(app.store, { businessId, name: "test", scopes: ["files:read"], expiresAt: null });
  const seed = createFactory((work) => app.store.transaction({ businessId, actorId: "usr", now }, work));
  const { fileId } = await seed.file({ sha256: await app.content.put(bytes), sizeBytes: bytes.byteLength });
  const link = async () => {
    const parts = { params: { fileId }, query: {}, body: undefined };
    const answer = await app.pipeline.execute({ operation: "get_file_download_url", token, parts, requestId: "req_1" });
    return new URL((answer as unknown as { data: { downloadUrl: string } }).data.downloadUrl);
  };
  const [first, second] = [await link(), await link()];
  expect([first.hostname, second.host]).toEqual(["127.0.0.1", first.host]);
  expect((await send(first.href, {})).text).toBe(bytes.toString());
  expect((await send(new URL("/mcp", first).href, { method: "POST" })).status).toBe(404);
});
