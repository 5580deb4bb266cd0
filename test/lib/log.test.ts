import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { randomToken } from "../../src/lib/crypto.ts";
import { createLogger, type Log } from "../../src/lib/log.ts";

/** What a piece of code logs: each line as it was written and as JSON. */
function logged(write: (log: Log) => void): { text: string; entry: Record<string, unknown> } {
  const lines: string[] = [];
  write(createLogger({ level: "info", format: "json", stream: { write: (line) => lines.push(line) } }));
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

  test("below the level is not written", () => {
    const lines: string[] = [];
    const log = createLogger({ level: "error", format: "json", stream: { write: (line) => lines.push(line) } });
    log.info("quiet");
    expect(lines).toEqual([]);
  });

  test.each([
    ["a header", { req: { headers: { authorization: "Basic abc" } } }, "abc"],
    ["a secret", { endpoint: { secret: "whsec" } }, "whsec"],
    ["an address by its key", { email: "no-at-sign" }, "no-at-sign"],
  ])("hides %s", (_, fields, hidden) => {
    expect(logged((log) => log.info(fields, "x")).text).not.toContain(hidden);
  });

  test.each([
    ["in the message", (log: Log, text: string) => log.info(`before ${text} after`)],
    ["in an argument", (log: Log, text: string) => log.info("before %s after", text)],
    ["in a field", (log: Log, text: string) => log.info({ note: `\n${text}` }, "x")],
    ["in an error and its stack", (log: Log, text: string) => log.error(new Error(`failed\n${text}`))],
    ["in a child's bindings", (log: Log, text: string) => log.child({ who: `"${text}"` }).info("x")],
  ])("hides tokens and addresses %s", (_, write) => {
    for (const secret of [
      randomToken(),
      randomToken().toUpperCase(),
      "ada.l+x@mail.example.org",
      "ada%40example.org",
    ]) {
      const { text } = logged((log) => write(log, secret));
      expect(text).not.toContain(secret);
      expect(text).toContain("[redacted]");
    }
  });

  test("keeps ids, versions and package paths", () => {
    const harmless = "sub_01JX0000000000000000000000 node_modules/@modelcontextprotocol/server undici@8.12.4";
    expect(logged((log) => log.info(harmless)).entry["msg"]).toBe(harmless);
  });

  test("stays JSON, and hides the address, whatever stands before it", () => {
    const unfit = /[\p{L}\p{N}._%+'~-]$/u;
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (before) => {
        fc.pre(!unfit.test(before));
        const { entry } = logged((log) => log.info({ note: `${before}ada@example.org` }, "x"));
        expect(entry["note"]).not.toContain("ada@example.org");
        expect(String(entry["note"]).endsWith("[redacted]")).toBe(true);
      }),
    );
  });

  test("is masked in linear time", () => {
    const startedMs = performance.now();
    logged((log) => log.info({ note: "a".repeat(500_000) }, "x"));
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});
