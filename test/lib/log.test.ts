import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRandomToken } from "../../src/lib/crypto/crypto.ts";
import { createLogger, type Log } from "../../src/lib/log.ts";
import { maskText, maxLogTextChars } from "../../src/lib/mask.ts";
import { listLoadedPackages } from "../support/processes/loaded-packages.ts";

const lines: string[] = [];
const stream = { write: (line: string) => void lines.push(line) };
const log = await createLogger({ level: "info", format: "json", stream });

/** Returns what a piece of code logs: its line as it was written and as JSON. */
function logged(write: (log: Log) => void): { text: string; entry: Record<string, unknown> } {
  lines.length = 0;
  write(log);
  const [text = ""] = lines;
  expect(lines).toHaveLength(1);
  return { text, entry: JSON.parse(text) };
}

describe("a log line", () => {
  test("is JSON with level, ISO time and message", () => {
    const { entry } = logged((log) => log.warn({ requestId: "req_1" }, "Slow"));
    expect(entry).toEqual({ level: "warn", time: expect.any(String), requestId: "req_1", msg: "Slow" });
    expect(new Date(String(entry["time"])).toISOString()).toBe(entry["time"]);
  });

  test("below the level is not written, and its fields are not evaluated", () => {
    lines.length = 0;
    const facts = {
      get outcome(): string {
        throw new Error("looked at");
      },
    };
    log.debug(facts, "quiet");
    expect(lines).toEqual([]);
  });

  test.each([
    ["a header", { req: { headers: { authorization: "Digest abc" } } }, "abc"],
    ["a header of several values", { headers: { "Set-Cookie": ["sid=abc"] } }, "sid"],
    ["a secret", { endpoint: { secret: "hush" } }, "hush"],
    ["an address by its key", { email: "no-at-sign" }, "no-at-sign"],
    ["an address deep inside", { a: { b: [{ recipientEmail: "no-at-sign" }] } }, "no-at-sign"],
    ["a name", { person: { first_name: "Ada" } }, "Ada"],
    ["a number without a country", { phone: 812_345 }, "812345"],
    ["answers of a person", { customFields: { birth: "1815-12-10" } }, "1815"],
    ["a key of storage", { s3: { secretAccessKey: "abc/def" } }, "abc/def"],
  ])("hides %s, by its key", (_, fields, hidden) => {
    expect(logged((log) => log.info(fields, "x")).text).not.toContain(hidden);
  });

  test("keeps ids, versions, package paths, times, amounts and whether there is a secret", () => {
    const harmless =
      "sub_01JX0000000000000000000000 node_modules/@modelcontextprotocol/server undici@8.12.4 2026-11-20T08:00:00+0100 1.0.0+20130313144700 +12 45,000";
    const facts = { tokenId: "tok_1", hasSecret: true, secret: null, url: "https://example.org:8443/path?page=2" };
    const { entry } = logged((log) => log.info(facts, harmless));
    expect(entry).toEqual({ level: "info", time: expect.any(String), ...facts, msg: harmless });
  });

  test("truncates long texts", () => {
    const { entry } = logged((log) => log.info({ note: "é".repeat(500_000) }, "x"));
    expect(String(entry["note"]).length).toBeLessThan(maxLogTextChars + 100);
    expect(entry["note"]).toContain("(500000 characters)");
  });

  test.each([
    "a",
    "a@",
    "a%40",
    "+1 ",
    "://",
    "eyJa.",
    "bearer ",
    "password=",
    "-----BEGIN PRIVATE KEY-----",
  ])("of any length, made of %j, is masked in linear time", (piece) => {
    // Quadratic time would be minutes; the test's own time-out is the bound.
    maskText(piece.repeat(1_000_000 / piece.length));
  });
});

/** No word that anything else in a line could hold. */
const word = fc.stringMatching(/^q[0-9]{3}[A-Za-z0-9]{5,17}$/);
const hex = fc.stringMatching(/^[0-9a-f]{64}$/);

/** Secrets: as they are written, and the part that nobody may read. */
const secrets = fc.oneof(
  hex.map((token) => ({ text: token, secret: token })),
  hex.map((token) => ({ text: token.toUpperCase(), secret: token.toUpperCase() })),
  hex.map((key) => ({ text: `gwk_${key}`, secret: key })),
  word.map((token) => ({ text: `Bearer ${token}`, secret: token })),
  word.map((token) => ({ text: `Authorization: Basic ${token}==`, secret: token })),
  fc.base64String({ minLength: 44, maxLength: 44 }).map((key) => ({ text: `whsec_${key}`, secret: key })),
  fc.tuple(word, word, word).map(([head, body, sign]) => ({ text: `eyJ${head}.${body}.${sign}`, secret: sign })),
  fc.tuple(word, word).map(([user, pass]) => ({ text: `smtps://${user}:${pass}@mailhost:465`, secret: pass })),
  fc
    .tuple(word, word)
    .map(([id, sign]) => ({ text: `https://x.org/files/${id}?expires=1&signature=${sign}`, secret: sign })),
  word.map((sign) => ({ text: `https://b.s3.org/k?X-Amz-Expires=60&X-Amz-Signature=${sign}`, secret: sign })),
  hex.map((key) => ({
    text: `-----BEGIN PRIVATE KEY-----\n${key.slice(0, 60)}\n-----END PRIVATE KEY-----`,
    secret: key.slice(0, 60),
  })),
  word.map((secret) => ({ text: `http://localhost:3000/invitations/${secret}`, secret })),
  word.map((secret) => ({ text: `{"password":"${secret}"}`, secret })),
  word.map((secret) => ({ text: `sid cookie: sid=${secret}; path=/`, secret })),
  fc.tuple(word, word).map(([name, host]) => ({ text: `${name}@${host}.example.org`, secret: name })),
  word.map((name) => ({ text: `${name}%40example.org`, secret: name })),
  fc.stringMatching(/^\+[1-9]\d{8,13}$/).map((phone) => ({ text: phone, secret: phone })),
  fc.stringMatching(/^[1-9]\d \(\d\d\) \d{3}-\d{4}$/).map((phone) => ({ text: `+${phone}`, secret: phone })),
);

/** The characters around a secret; a letter or digit right beside it would make it another word. */
const before = fc
  .tuple(fc.string({ unit: "binary", maxLength: 20 }), fc.constantFrom(" ", "\n", '"', "<", "(", ""))
  .map(([text, gap]) => text.replace(/[\p{L}\p{N}_.%+'~@:=?&;/-]+$/u, "") + gap);
const after = fc
  .tuple(fc.constantFrom(" ", "\n", '"', ">", ")"), fc.string({ unit: "binary", maxLength: 20 }))
  .map(([gap, text]) => gap + text);

/** Where a text ends up in a line. */
const places: Readonly<Record<string, (log: Log, text: string, depth: number) => void>> = {
  message: (log, text) => log.info(text),
  argument: (log, text) => log.info("before %s after", text),
  field: (log, text, depth) => log.info(nested({ note: text }, depth), "x"),
  list: (log, text, depth) => log.info({ notes: nested([text], depth) }, "x"),
  key: (log, text, depth) => log.info(nested({ [text]: 1 }, depth), "x"),
  "a child's bindings": (log, text) => log.child({ who: text }).info("x"),
  "an error's message and stack": (log, text) => log.error(new Error(text)),
  "an error's cause": (log, text, depth) => log.error({ err: causedBy(new Error(text), depth) }, "x"),
  "one of several errors": (log, text) => log.error({ err: new AggregateError([new Error(text)], "several") }, "x"),
  "an error's own fields": (log, text, depth) =>
    log.error({ err: Object.assign(new Error("x"), { response: nested({ body: text }, depth) }) }, "x"),
};

function nested(value: object, depth: number): object {
  return depth === 0 ? value : { inner: nested(value, depth - 1) };
}

function causedBy(error: Error, depth: number): Error {
  return depth === 0 ? error : new Error("outer", { cause: causedBy(error, depth - 1) });
}

describe("no secret survives", () => {
  test.each(Object.entries(places))("in %s", (_, write) => {
    fc.assert(
      fc.property(secrets, before, after, fc.nat({ max: 3 }), ({ text, secret }, prefix, suffix, depth) => {
        const line = logged((log) => write(log, prefix + text + suffix, depth)).text;
        expect(line).not.toContain(secret);
        expect(line).not.toContain(JSON.stringify(secret).slice(1, -1));
        expect(line).toContain("[redacted]");
      }),
      { numRuns: 300 },
    );
  });
});

describe("lines for people", () => {
  test("are written at once and without secrets, even if the process exits right after", () => {
    const token = createRandomToken();
    const script = `
      const { createLogger } = await import("./src/lib/log.ts");
      const log = await createLogger({ level: "info", format: "pretty" });
      log.info({ tool: "get_submission", token: "${token}" }, "Seen by ada@example.org");
      process.exit(0);`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
      encoding: "utf8",
    });
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: Seen by \[redacted\]/);
    expect(stderr).toContain('"tool":"get_submission"');
    expect(stderr).not.toContain(token);
  });

  test("the pretty printer is not loaded when the output is not a terminal", () => {
    const logging = (format: string) =>
      listLoadedPackages(`
        const { createLogger } = await import("./src/lib/log.ts");
        (await createLogger({ level: "info", format: "${format}" })).info("x");`);
    expect(logging("json")).toContain("pino");
    expect(logging("json")).not.toContain("pino-pretty");
    expect(logging("pretty")).toContain("pino-pretty");
  });
});
