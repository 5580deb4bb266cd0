import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getUserDataDir, loadConfig } from "../../src/config/load.ts";
import { type SettingName, settings, table } from "../../src/config/table.ts";
import { UsageError } from "../../src/config/usage-error.ts";
import { boolean } from "../../src/config/values.ts";
import { limits } from "../../src/contract/access/limits.ts";

type Environment = Record<string, string>;

function refusal(env: Environment, options?: Record<string, unknown>): string {
  try {
    loadConfig(env, options);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "(accepted)";
}

describe("defaults", () => {
  test("listen on this machine only, with the specification's limits", () => {
    expect(loadConfig({})).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      allowedHosts: [],
      allowedOrigins: [],
      demo: false,
      idempotencyStrict: false,
      requestsPerMinute: limits.requestsPerMinute,
      exportIntervalSeconds: limits.exportIntervalSeconds,
      maxBodyBytes: limits.maxBodyBytes,
    });
  });

  test("there is no default token or public address", () => {
    const config = loadConfig({});
    expect(config.token).toBeUndefined();
    expect(config.publicUrl).toBeUndefined();
  });

  test("the database is in the data directory, or where it was asked for", () => {
    const PROGRAMME_DATA_DIR = "data";
    const byDefault = { database: join(resolve("data"), "programme.db"), databaseGiven: false };
    expect(loadConfig({ PROGRAMME_DATA_DIR })).toMatchObject(byDefault);
    expect(loadConfig({ PROGRAMME_DATABASE: "x.db" })).toMatchObject({
      database: resolve("x.db"),
      databaseGiven: true,
    });
    expect(loadConfig({}, { database: ":memory:" })).toMatchObject({ database: ":memory:", databaseGiven: true });
  });

  test("the data directory follows the platform's custom", () => {
    expect(getUserDataDir({}, "linux", "/home/ada")).toBe("/home/ada/.local/share/programme-mcp");
    expect(getUserDataDir({ XDG_DATA_HOME: "/data" }, "linux", "/home/ada")).toBe("/data/programme-mcp");
    expect(getUserDataDir({ XDG_DATA_HOME: "relative" }, "linux", "/home/ada")).toBe(
      "/home/ada/.local/share/programme-mcp",
    );
    expect(getUserDataDir({}, "darwin", "/Users/ada")).toBe("/Users/ada/Library/Application Support/programme-mcp");
    expect(getUserDataDir({ LOCALAPPDATA: "/local" }, "win32", "/Users/ada")).toBe("/local/programme-mcp");
  });
});

describe("precedence", () => {
  test("an option wins over its variable, a variable over the default", () => {
    expect(loadConfig({ PROGRAMME_PORT: "4000" }, { port: "5000" }).port).toBe(5000);
    expect(loadConfig({ PROGRAMME_PORT: "4000" }).port).toBe(4000);
  });

  test("empty text counts as not given", () => {
    expect(loadConfig({ PROGRAMME_PORT: "", PROGRAMME_TOKEN: "" }).port).toBe(3000);
    expect(loadConfig({ PROGRAMME_PORT: "4000" }, { port: "" }).port).toBe(4000);
  });

  test("a flag without a value is true", () => {
    expect(loadConfig({ PROGRAMME_IDEMPOTENCY_STRICT: "off" }, { idempotencyStrict: true }).idempotencyStrict).toBe(
      true,
    );
  });

  test("options of a command that are not settings are ignored", () => {
    expect(refusal({}, { scopes: "programs:read" })).toBe("(accepted)");
  });
});

describe("refusals", () => {
  test("an unknown variable is reported with the nearest known one", () => {
    expect(refusal({ PROGRAMME_REQUEST_PER_MINUT: "1" })).toBe(
      "PROGRAMME_REQUEST_PER_MINUT is not a setting. Did you mean PROGRAMME_REQUESTS_PER_MINUTE?",
    );
  });

  test("every known variable with one letter missing is suggested", () => {
    const mistyped = settings.map(([, { variable }]) => [`${variable.slice(0, -2)}${variable.at(-1)}`, variable]);
    for (const [typo = "", variable] of mistyped) {
      expect(refusal({ [typo]: "1" })).toContain(`Did you mean ${variable}?`);
    }
  });

  test.each([
    ["DB", "DATABASE"],
    ["API_KEY", "TOKEN"],
    ["READONLY", "READ_ONLY"],
    ["LOG", "LOG_LEVEL"],
    ["SMTP", "SMTP_URL"],
    ["DATABASE_URL", "DATABASE"],
    ["PRIVACY_MODE", "PRIVACY"],
    ["CONFIRMATION", "CONFIRM"],
    ["URL", "BASE_URL"],
  ])("PROGRAMME_%s is suggested as PROGRAMME_%s, which means the same", (given, meant) => {
    expect(refusal({ [`PROGRAMME_${given}`]: "1" })).toMatch(new RegExp(`Did you mean PROGRAMME_${meant}\\?$`));
  });

  test.each(["FOO", "X", "", "constructor"])("PROGRAMME_%s is similar to none, so none is suggested", (given) => {
    expect(refusal({ [`PROGRAMME_${given}`]: "1" })).toMatch(/ is not a setting\. See: programme-mcp http --help$/);
  });

  test("the wrong one of a list is named, with the one that is meant", () => {
    expect(refusal({}, { tools: "list_tracks,list_program" })).toBe(
      '--tools must be tool names separated by commas, not "list_program". Did you mean list_programs?',
    );
    expect(refusal({ PROGRAMME_TOOLSETS: "program" })).toMatch(/, not "program"\. Did you mean programs\?$/);
    expect(refusal({}, { privacy: "pseudonimize" })).toMatch(/, not "pseudonimize"\. Did you mean pseudonymize\?$/);
    expect(refusal({}, { tools: "qqqqqqqqqqqqqqq" })).toMatch(/, not "qqqqqqqqqqqqqqq"\.$/);
  });

  test("variables of other programs are ignored", () => {
    expect(refusal({ PROGRAM_PORT: "x", PROGRAMMEPORT: "x" })).toBe("(accepted)");
  });

  test("an invalid value is reported with its source and the allowed values, on one line", () => {
    expect(refusal({ PROGRAMME_PORT: "http" })).toBe('PROGRAMME_PORT must be an integer from 0 to 65535, not "http".');
    expect(refusal({}, { port: "65536" })).toBe('--port must be an integer from 0 to 65535, not "65536".');
    expect(refusal({ PROGRAMME_LOG_LEVEL: "a\nb" })).not.toContain("\n");
  });

  test("possible secrets are not repeated", () => {
    expect(refusal({ PROGRAMME_TOKEN: "hunter2" })).toBe("PROGRAMME_TOKEN must be 64 hexadecimal digits.");
    expect(refusal({ PROGRAMME_PUBLIC_URL: "https://ada:hunter2@example.org" })).not.toContain("hunter2");
  });

  test.each([
    "ftp://example.org",
    "example.org",
    "https://example.org/?a=1",
    "https://example.org/#a",
  ])("%s is not a valid public address", (address) => {
    expect(refusal({ PROGRAMME_PUBLIC_URL: address })).toContain("PROGRAMME_PUBLIC_URL must be");
  });

  test.each([
    "example.org:80",
    "https://example.org",
    "a b",
    ",",
    "example.org,",
    "example.org/path",
  ])("%s is not a valid list of host names", (names) => {
    expect(refusal({ PROGRAMME_ALLOWED_HOSTS: names })).toContain("PROGRAMME_ALLOWED_HOSTS must be");
  });

  test.each([
    "localhost:6274",
    "http://localhost:6274/",
    "http://user@localhost:6274",
    "file://",
    "null",
    "*",
    "http://localhost:6274,",
  ])("%s is not a valid list of origins", (origins) => {
    expect(refusal({ PROGRAMME_ALLOWED_ORIGINS: origins })).toContain("PROGRAMME_ALLOWED_ORIGINS must be");
  });
});

describe("listening beyond this machine", () => {
  test.each(["0.0.0.0", "::", "192.0.2.1", "example.org"])("%s needs the allowed host names", (host) => {
    expect(refusal({ PROGRAMME_HOST: host })).toContain("PROGRAMME_ALLOWED_HOSTS is needed");
    expect(refusal({ PROGRAMME_HOST: host, PROGRAMME_ALLOWED_HOSTS: "example.org" })).toBe("(accepted)");
  });

  test.each(["127.0.0.1", "127.9.9.9", "::1", "localhost"])("%s is this machine", (host) => {
    expect(refusal({ PROGRAMME_HOST: host })).toBe("(accepted)");
  });

  test("the public address says which host is meant", () => {
    const config = loadConfig({ PROGRAMME_HOST: "0.0.0.0", PROGRAMME_PUBLIC_URL: "https://calls.example.org/api/" });
    expect(config.allowedHosts).toEqual(["calls.example.org"]);
    expect(config.publicUrl).toBe("https://calls.example.org/api");
  });

  test("the public address is among the origins of pages", () => {
    const given = { PROGRAMME_PUBLIC_URL: "https://calls.example.org/api/" };
    const own = "https://calls.example.org";
    expect(loadConfig(given).allowedOrigins).toEqual([own]);
    const more = { ...given, PROGRAMME_ALLOWED_ORIGINS: "http://LocalHost:6274" };
    expect(loadConfig(more).allowedOrigins).toEqual([own, "http://localhost:6274"]);
  });

  test("host names are compared in lower case", () => {
    const config = loadConfig({ PROGRAMME_ALLOWED_HOSTS: "Example.ORG , [::1]" });
    expect(config.allowedHosts).toEqual(["example.org", "[::1]"]);
  });
});

describe("every integer setting", () => {
  const bounds: [SettingName, number, number][] = settings.flatMap(([name, setting]) => {
    const [, min, max] = /^an integer from (\d+) to (\d+)$/.exec(setting.type.allowed) ?? [];
    return max === undefined ? [] : [[name, Number(min), Number(max)]];
  });
  const given = (name: SettingName, text: string) => ({ [table[name].variable]: text });

  test("there are some", () => {
    expect(bounds.map(([name]) => name)).toContain("port");
  });

  test.each(bounds)("%s accepts values within its bounds", (name, min, max) => {
    fc.assert(
      fc.property(fc.integer({ min, max }), (value) => {
        expect(loadConfig(given(name, String(value)))[name]).toBe(value);
        expect(loadConfig(given(name, ` ${value}\n`))[name]).toBe(value);
      }),
    );
  });

  test.each(bounds)("%s refuses values outside its bounds", (name, min, max) => {
    fc.assert(
      fc.property(fc.oneof(fc.bigInt({ max: BigInt(min) - 1n }), fc.bigInt({ min: BigInt(max) + 1n })), (value) => {
        expect(refusal(given(name, String(value)))).toContain("must be an integer");
      }),
    );
  });

  test.each(bounds)("%s refuses everything except digits", (name) => {
    const text = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.nat().map((n) => `0x${n.toString(16)}`),
    );
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(!/^\s*\d*\s*$/.test(value));
        expect(refusal(given(name, value))).toContain("must be an integer");
      }),
    );
  });
});

describe("every boolean setting", () => {
  const words = { true: ["true", "1", "yes", "on"], false: ["false", "0", "no", "off"] };
  const flags = settings.flatMap(([name, setting]) => (setting.type === boolean ? [name] : []));

  test("there are some", () => {
    expect(flags).toContain("demo");
  });

  /** The word in any mixture of cases. */
  const anyCase = (word: string) => fc.mixedCase(fc.constant(word), { toggleCase: (letter) => letter.toUpperCase() });

  test.each(flags)("%s reads its words in any case", (name) => {
    for (const [value, spellings] of Object.entries(words)) {
      fc.assert(
        fc.property(fc.oneof(...spellings.map(anyCase)), (spelling) => {
          expect(String(loadConfig({ [table[name].variable]: spelling })[name])).toBe(value);
        }),
      );
    }
  });

  test.each(flags)("%s refuses any other word", (name) => {
    const known = Object.values(words).flat();
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (word) => {
        fc.pre(!known.includes(word.trim().toLowerCase()));
        expect(refusal({ [table[name].variable]: word })).toContain("must be true or false");
      }),
    );
  });
});
