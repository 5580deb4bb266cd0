import { execFile } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTextCipher } from "../../src/lib/crypto/envelope-encryption.ts";
import { readOrMakeKey } from "../../src/lib/crypto/key-file.ts";
import { createLogger } from "../../src/lib/log.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { answers, openReceiver } from "./receiver.ts";
import { hour, openWebhookServer } from "./webhook-server.ts";

async function folder(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return directory.path;
}

const key = (byte: number) => () => Buffer.alloc(32, byte);

describe("an encrypted value", () => {
  test("is decrypted only with its key, purpose and context", () => {
    const encryption = createTextCipher(key(1), "one");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), fc.string(), (text, context, other) => {
        const encrypted = encryption.encrypt(text, context);
        expect(encryption.decrypt(encrypted, context)).toBe(text);
        expect(encryption.encrypt(text, context)).not.toBe(encrypted);
        if (other !== context) expect(encryption.decrypt(encrypted, other)).toBeUndefined();
        expect(createTextCipher(key(2), "one").decrypt(encrypted, context)).toBeUndefined();
        expect(createTextCipher(key(1), "two").decrypt(encrypted, context)).toBeUndefined();
      }),
    );
  });

  test("is not decrypted after a byte of it changed", () => {
    const encryption = createTextCipher(key(1), "one");
    const encrypted = encryption.encrypt("whsec_x", "here");
    const [version, encoded = ""] = encrypted.split(".");
    const bytes = Buffer.from(encoded, "base64url");
    for (let index = 0; index < bytes.length; index++) {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      expect(encryption.decrypt(`${version}.${altered.toString("base64url")}`, "here")).toBeUndefined();
    }
    for (const text of ["", ".", "v1", "v1.", "v1.AAAA", `v2.${encoded}`, encoded, "whsec_x"]) {
      expect([text, encryption.decrypt(text, "here")]).toEqual([text, undefined]);
    }
  });
});

describe("the key file", () => {
  test("is created once, readable by its owner only", async () => {
    const path = join(await folder(), "x.key");
    const made = readOrMakeKey(path);
    expect(made).toHaveLength(32);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toBe(`${made.toString("hex")}\n`);
    expect(readOrMakeKey(path)).toEqual(made);
  });

  test("is the same for processes that start at once", async () => {
    const path = join(await folder(), "x.key");
    const module = JSON.stringify(new URL("../../src/lib/crypto/key-file.ts", import.meta.url).href);
    const script = `process.stdout.write((await import(${module})).readOrMakeKey(${JSON.stringify(path)}).toString("hex"))`;
    const run = () => promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    const keys = await Promise.all(Array.from({ length: 6 }, run));
    expect(new Set(keys.map(({ stdout }) => stdout)).size).toBe(1);
    expect(keys[0]?.stdout).toBe(readOrMakeKey(path).toString("hex"));
  });

  test("that others can read, or without a key, is refused without showing its content", async () => {
    const path = join(await folder(), "x.key");
    writeFileSync(path, "f".repeat(63), { mode: 0o600 });
    expect(() => readOrMakeKey(path)).toThrow(new RegExp(`${path} does not contain a key`));
    writeFileSync(path, "f".repeat(64));
    expect(readOrMakeKey(path)).toEqual(Buffer.alloc(32, 0xff));
    chmodSync(path, 0o640);
    expect(() => readOrMakeKey(path)).toThrow(/chmod 600/);
    expect(() => readOrMakeKey(path)).not.toThrow(/f{60}/);
  });

  test("stands beside the database once something is served from it, unless a key is given", async () => {
    const [path, given] = [await folder(), await folder()];
    const database = join(path, "programme.db");
    const webhookServer = await openWebhookServer({ environment: { PROGRAMME_DATABASE: database } });
    expect(readdirSync(path)).not.toContain("programme.db.key");
    webhookServer.app.startWorkers();
    expect(statSync(`${database}.key`).mode & 0o777).toBe(0o600);
    const environment = { PROGRAMME_DATABASE: join(given, "programme.db"), PROGRAMME_SECRET_KEY: "0".repeat(64) };
    const other = await openWebhookServer({ environment });
    other.app.startWorkers();
    await other.add("https://hooks.example/");
    expect(readdirSync(given)).not.toContain("programme.db.key");
  });
});

test("signing secrets appear neither in the database files nor in the log", async () => {
  const path = await folder();
  const database = join(path, "programme.db");
  const lines: string[] = [];
  const log = await createLogger({ level: "trace", format: "json", stream: { write: (line) => lines.push(line) } });
  const webhookServer = await openWebhookServer({ environment: { PROGRAMME_DATABASE: database }, log });
  const [good, bad] = [await openReceiver(), await openReceiver(answers(500, {}, "The answer's own secret"))];
  const first = await webhookServer.add(`${good.url}?key=swordfish`);
  const second = await webhookServer.add(`${bad.url}/tail?key=swordfish`);
  const third = await webhookServer.webhooks.endpoints.rotateSecret(first, hour);
  await webhookServer.emit(3);
  await webhookServer.drain();
  expect([good.received.length, bad.received.length]).toEqual([3, 3]);
  const signatures = [...good.received, ...bad.received].map(({ headers }) => String(headers["webhook-signature"]));
  await webhookServer.webhooks.endpoints.remove(second);
  await webhookServer.close();

  const files = readdirSync(path).filter(
    (name) => name.startsWith("programme.db") && statSync(join(path, name)).isFile(),
  );
  expect(files).toEqual(expect.arrayContaining(["programme.db", "programme.db.key"]));
  const stored = files.map((name) => readFileSync(join(path, name)).toString("latin1")).join("\n");
  for (const { secret } of [first, second, third]) {
    const bare = secret.slice("whsec_".length);
    for (const form of [
      bare,
      Buffer.from(bare, "base64").toString("latin1"),
      Buffer.from(bare, "base64").toString("hex"),
    ]) {
      expect(stored).not.toContain(form);
    }
    expect(lines.join("")).not.toContain(bare);
  }
  expect(stored).toContain(good.url);
  const logged = lines.join("");
  expect(logged).toContain("Webhook delivered");
  expect(logged).toContain("Webhook not delivered");
  for (const hidden of ["swordfish", "127.0.0.1", "own secret", ...signatures]) expect(logged).not.toContain(hidden);
});
