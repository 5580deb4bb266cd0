import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { createId } from "../../src/lib/ids.ts";
import { openDirectoryBlobStore } from "../../src/store/blobs/directory-blob-store.ts";
import { openS3BlobStore } from "../../src/store/blobs/s3-blob-store.ts";
import type { BlobStore } from "../../src/store/port.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { openBucket } from "../support/servers/s3-bucket.ts";

/** A content store, and how its disk looks from outside. */
interface Place {
  readonly content: BlobStore;
  /** Every file of the store's own, its spools aside. */
  files(): Promise<string[]>;
  readonly spools: string;
  /** The file that holds some bytes. */
  fileOf(sha256: string): string;
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const places: Record<string, () => Promise<Place>> = {
  async directory() {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    const root = join(path, "files");
    const spools = join(root, "spool");
    return {
      content: openDirectoryBlobStore(root),
      files: async () => (await filesBelow(root)).filter((file) => !file.startsWith(spools)),
      spools,
      fileOf: (sha256) => join(root, sha256.slice(0, 2), sha256),
    };
  },
  async bucket() {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    const { endpoint, directory } = await openBucket();
    const credentials = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
    const bucket = { name: "programme", region: "us-east-1", endpoint, credentials, redirect: false };
    const spools = join(path, "spool");
    const objects = join(directory, "programme");
    return {
      content: openS3BlobStore(bucket, "files", spools),
      files: async () => (await filesBelow(objects)).filter((file) => file.endsWith("_object")),
      spools,
      fileOf: (sha256) => join(objects, "files", sha256.slice(0, 2), `${sha256}._S3rver_object`),
    };
  },
};

const pdf = Buffer.from("%PDF-1.7 what an applicant wrote");

describe.each(Object.keys(places))("content in a %s", (name) => {
  const open = () => (places[name] as () => Promise<Place>)();

  test("is read by its SHA-256, whole and in part", async () => {
    const { content, files } = await open();
    const sha256 = await content.put(pdf, { contentType: "application/pdf", sizeBytes: pdf.byteLength });
    expect(sha256).toBe(hashSha256Hex(pdf));
    expect(await content.find(sha256)).toEqual({ sha256, sizeBytes: pdf.byteLength });
    expect(await buffer(await content.open(sha256))).toEqual(pdf);
    expect((await buffer(await content.open(sha256, { start: 1, end: 3 }))).toString()).toBe("PDF");
    expect(await content.put(pdf)).toBe(sha256);
    expect(await files()).toHaveLength(1);
  });

  test("may be large or empty", async () => {
    const { content, spools } = await open();
    for (const bytes of [randomBytes(3 * 1024 * 1024 + 1), Buffer.alloc(0)]) {
      const sha256 = await content.put(bytes);
      expect(await content.find(sha256)).toEqual({ sha256, sizeBytes: bytes.byteLength });
      expect((await buffer(await content.open(sha256))).equals(bytes)).toBe(true);
    }
    expect(await filesBelow(spools)).toEqual([]);
  });

  test("that does not match its declared hash is refused, and nothing is stored", async () => {
    const { content, files } = await open();
    const png = Buffer.from("89504e470d0a1a0a00", "hex");
    const refused = [
      [pdf, { sha256: hashSha256Hex(png) }, "sha256"],
      [pdf, { sizeBytes: pdf.byteLength + 1 }, "sizeBytes"],
      [pdf, { contentType: "image/png" }, "contentType"],
      [png, { contentType: "application/pdf; v=1" }, "contentType"],
      [pdf, { contentType: "IMAGE/JPEG" }, "contentType"],
      [pdf, { contentType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document" }, "contentType"],
      [pdf, { contentType: "pdf" }, "contentType"],
      [pdf, { contentType: "text/plain\r\nset-cookie: a=b" }, "contentType"],
    ] as const;
    for (const [bytes, declared, path] of refused) {
      await expect(content.put(bytes, declared), path).rejects.toMatchObject({
        code: "validation_failed",
        details: { issues: [{ path }] },
      });
    }
    expect(await files()).toEqual([]);
    await content.put(png, { contentType: "image/png", sha256: hashSha256Hex(png), sizeBytes: png.byteLength });
    await content.put(pdf, { contentType: "text/plain; charset=utf-8" });
    expect(await files()).toHaveLength(2);
  });

  test("that was altered on disk is never returned complete", async () => {
    const { content, fileOf } = await open();
    const bytes = randomBytes(300_000);
    const sha256 = await content.put(bytes);
    const altered = Buffer.from(bytes);
    altered[299_999] = (altered[299_999] ?? 0) ^ 1;
    await writeFile(fileOf(sha256), altered);
    await expect(buffer(await content.open(sha256))).rejects.toThrow("differs from what was stored");
    await truncate(fileOf(sha256), 0);
    await expect(buffer(await content.open(sha256))).rejects.toThrow("differs from what was stored");
  });

  test("that a fault truncated is stored again", async () => {
    const { content, fileOf } = await open();
    const sha256 = await content.put(pdf);
    await truncate(fileOf(sha256), 3);
    await content.put(pdf);
    expect(await buffer(await content.open(sha256))).toEqual(pdf);
  });

  test("is deleted when removed; missing content cannot be read, and can be removed again", async () => {
    const { content, files } = await open();
    const sha256 = await content.put(pdf);
    await content.remove(sha256);
    await content.remove(sha256);
    expect(await content.find(sha256)).toBeUndefined();
    await expect(content.open(sha256)).rejects.toThrow();
    expect(await files()).toEqual([]);
  });

  test("has no name but a SHA-256, never a path", async () => {
    const { content, files } = await open();
    await content.put(pdf);
    const names = [
      "",
      "..",
      "../../etc/passwd",
      "spool",
      `../${hashSha256Hex("x")}`,
      hashSha256Hex("x").toUpperCase(),
      "a".repeat(65),
    ];
    for (const bad of names) {
      await expect(content.find(bad), bad).rejects.toThrow("Not a SHA-256");
      await expect(content.open(bad), bad).rejects.toThrow("Not a SHA-256");
      await expect(content.remove(bad), bad).rejects.toThrow("Not a SHA-256");
    }
    for (const bad of ["", "..", "exp_1/../..", `../${createId("exp")}`, createId("exp").toLowerCase()]) {
      await expect(content.spool(bad), bad).rejects.toThrow("Not an id");
    }
    expect(await files()).toHaveLength(1);
  });

  test("that is streamed is visible only when it is complete", async () => {
    const { content, files, spools } = await open();
    const spool = await content.spool(createId("exp"));
    const parts = ["{", "ä€😀", randomBytes(400_000), "", Buffer.from("}")];
    for (const part of parts) await spool.write(part);
    const whole = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
    expect(spool.sizeBytes).toBe(whole.byteLength);
    const found = await spool.finish();
    expect(found).toEqual({ sha256: hashSha256Hex(whole), sizeBytes: whole.byteLength });
    expect(await content.find(found.sha256)).toBeUndefined();
    await spool.keep();
    await spool.discard();
    expect((await buffer(await content.open(found.sha256))).equals(whole)).toBe(true);
    expect([await files(), await filesBelow(spools)]).toMatchObject([{ length: 1 }, { length: 0 }]);
  });

  test("that is aborted leaves nothing; leftovers of a process are removed later", async () => {
    const { content, files, spools } = await open();
    const [first, other] = [createId("exp"), createId("exp")];
    const given = await content.spool(first);
    await given.write("given up");
    await given.discard();
    expect(await filesBelow(spools)).toEqual([]);
    const [ended, alsoEnded] = [await content.spool(first), await content.spool(other)];
    await ended.write("left");
    await alsoEnded.write("left too");
    const again = await content.spool(first);
    const left = await filesBelow(spools);
    expect(left).toHaveLength(2);
    const old = left.find((file) => file.includes(other)) as string;
    await utimes(old, new Date("2026-01-01"), new Date("2026-01-01"));
    await content.sweep(new Date("2026-01-02"));
    expect(await filesBelow(spools)).toEqual(left.filter((file) => file !== old));
    for (const spool of [again, ended, alsoEnded]) await spool.discard();
    expect(await files()).toEqual([]);
  });
});

test("files of a directory store are readable by the owner only", async () => {
  const { content, fileOf } = await (places["directory"] as () => Promise<Place>)();
  const sha256 = await content.put(pdf);
  const modes = await Promise.all(
    [fileOf(sha256), join(fileOf(sha256), "..")].map(async (path) => (await stat(path)).mode),
  );
  expect(modes.map((mode) => mode & 0o077)).toEqual([0, 0]);
  expect(await readFile(fileOf(sha256))).toEqual(pdf);
});

describe("a bucket", () => {
  async function bucketAt(endpoint: string, secretAccessKey = "S3RVER") {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    await mkdir(path, { recursive: true });
    const credentials = { accessKeyId: "S3RVER", secretAccessKey };
    return openS3BlobStore({ name: "programme", region: "eu-1", endpoint, credentials, redirect: true }, "files", path);
  }

  test("that refuses the key or does not answer is an error, never missing content", async () => {
    const { endpoint, close } = await openBucket();
    const wrong = await bucketAt(endpoint, "wrong");
    await expect(wrong.find(hashSha256Hex("x"))).rejects.toThrow();
    await expect(wrong.put(pdf)).rejects.toThrow();
    const right = await bucketAt(endpoint);
    expect(await right.find(hashSha256Hex("x"))).toBeUndefined();
    await close();
    await expect(right.find(hashSha256Hex("x"))).rejects.toThrow();
  });

  test("returns presigned URLs for one object, with its download headers", async () => {
    const content = await bucketAt((await openBucket()).endpoint);
    const sha256 = await content.put(pdf);
    // A plain one: this service signs the characters of an extended one otherwise than Amazon's.
    const disposition = "attachment; filename=plan.pdf";
    const address = new URL((await content.address?.(sha256, { contentType: "text/csv", disposition })) ?? "");
    const answer = await fetch(address);
    expect([answer.status, await answer.text()]).toEqual([200, pdf.toString()]);
    expect(answer.headers.get("content-type")).toBe("text/csv");
    expect(answer.headers.get("content-disposition")).toBe(disposition);
    expect(Number(address.searchParams.get("X-Amz-Expires"))).toBe(60);
    const other = await content.put(Buffer.from("other"));
    expect(
      (await fetch(address.href.replaceAll(sha256, other).replace(`/${sha256.slice(0, 2)}/`, `/${other.slice(0, 2)}/`)))
        .status,
    ).toBe(403);
  });
});
