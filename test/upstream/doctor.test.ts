import { chmod, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readScopes, type Scope } from "../../src/contract/access/scopes.ts";
import { splitInput } from "../../src/contract/definition/operation.ts";
import { createScopeProbe } from "../../src/contract/definition/scope-probe.ts";
import { operations } from "../../src/contract/index.ts";
import { validateInput } from "../../src/pipeline/steps/validate.ts";
import { openHome } from "../support/processes/program.ts";
import { selfSigned } from "../support/servers/certificate.ts";
import { examine, failures, listening } from "./run-doctor.ts";
import { openService } from "./service.ts";

test("there is a cheap read for every read scope", () => {
  for (const scope of readScopes) {
    const { operation, input } = createScopeProbe(scope);
    expect(operations[operation]).toMatchObject({ scope, effect: "read" });
    expect(() => validateInput(operations[operation], splitInput(operations[operation], input))).not.toThrow();
  }
});

describe("with the product's own service", () => {
  test("that works, everything is checked, and nothing is changed", async () => {
    const service = await openService();
    const token = await service.token();
    const home = await openHome();
    const environment = { PROGRAMME_BASE_URL: service.origin, PROGRAMME_TOKEN: token };
    const report = await examine(home, environment);
    expect(failures(report)).toEqual([]);
    expect(report.of("service")?.found).toMatch(/answers in \d+ ms\.$/);
    expect(report.of("token")?.status).toBe("ok");
    expect(report.of("clock")?.found).toMatch(/ [01] seconds apart/);
    for (const scope of readScopes) expect(report.of(scope)?.found).toBe("The token has it.");
    expect(report.of("database file")?.found).toContain("the first start makes it");
    expect(JSON.stringify(report.checks)).not.toContain(token);
    const { stdout, stderr, code } = await home.run(["doctor", "--timeout-seconds", "30"], environment);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ok +configuration +programme-mcp /);
    expect(stdout).toMatch(/\nIt works\.\n$/);
    expect(await readdir(home.path, { recursive: true })).toEqual([]);
  });

  test("scopes that the token lacks are listed", async () => {
    const service = await openService();
    const home = await openHome();
    const held: Scope[] = ["programs:read", "submissions:read", "persons:read"];
    const environment = { PROGRAMME_BASE_URL: service.origin, PROGRAMME_TOKEN: await service.token(held) };
    const untold = await examine(home, environment);
    expect(untold.of("programs:read")?.status).toBe("ok");
    expect(untold.of("reviews:read")).toMatchObject({
      status: "warn",
      found: "The token lacks it: tools that need it are hidden.",
    });
    expect(untold.ok).toBe(true);
    const examined = await examine(home, environment, { scopes: "programs:read,reviews:read" });
    expect(examined.of("reviews:read")?.found).toBe("PROGRAMME_SCOPES names it, but the token lacks it.");
    expect(examined.of("persons:read")?.found).toBe("The token has it; PROGRAMME_SCOPES leaves it out.");
    expect(examined.of("audit:read")?.status).toBe("ok");
  });

  test("an unknown token is reported; without a token, its checks are skipped", async () => {
    const service = await openService();
    const home = await openHome();
    const wrong = await examine(home, { PROGRAMME_BASE_URL: service.origin, PROGRAMME_TOKEN: "a".repeat(64) });
    expect(failures(wrong)).toEqual(["token"]);
    const process = await home.run(["doctor", "--json"], {
      PROGRAMME_BASE_URL: service.origin,
      PROGRAMME_TOKEN: "a".repeat(64),
    });
    expect([process.code, JSON.parse(process.stdout).ok]).toEqual([1, false]);
    expect(wrong.of("token")?.fix).toContain("Make a new token");
    expect(wrong.of("programs:read")).toBeUndefined();
    const none = await examine(home, { PROGRAMME_BASE_URL: service.origin });
    expect(none.of("token")).toMatchObject({ status: "warn" });
    expect(none.of("programs:read")).toBeUndefined();
    expect([none.verdict, failures(none)]).toEqual(["untried", []]);
    const words = await home.run(["doctor"], { PROGRAMME_BASE_URL: service.origin });
    expect([words.code, words.stdout]).toEqual([1, expect.stringMatching(/whether it works was not tried\.\n$/)]);
  });

  const json = { "content-type": "application/json" };
  const envelope = JSON.stringify({ success: true, data: [] });
  const unauthorized = JSON.stringify({ success: false, error: { code: "unauthorized", message: "Who is it?" } });
  const odd: [string, number, Record<string, string>, string, string, RegExp][] = [
    ["another web site", 200, {}, "<html>", "service", /but not as the programme service does/],
    ["a wrong path", 404, {}, "Not found", "service", /status 404/],
    [
      "a redirect",
      301,
      { location: "https://new.example/x" },
      "",
      "service",
      /redirects \(301\) to https:\/\/new\.example\./,
    ],
    ["a service that is down", 503, json, envelope, "service", /status 503/],
    [
      "a clock an hour off",
      200,
      { ...json, date: new Date(Date.now() - 3_600_000).toUTCString() },
      envelope,
      "clock",
      /3[56]\d\d seconds apart/,
    ],
  ];
  test.each(odd)("%s is reported", async (_, status, headers, body, name, found) => {
    const server = createServer((_, response) => void response.writeHead(status, headers).end(body));
    const origin = `http://127.0.0.1:${await listening(server)}`;
    const report = await examine(await openHome(), { PROGRAMME_BASE_URL: origin, PROGRAMME_TOKEN: "a".repeat(64) });
    expect(failures(report)).toContain(name);
    expect(report.of(name)?.found).toMatch(found);
  });

  test("that is unreachable is reported once", async () => {
    const home = await openHome();
    const refused = await examine(home, { PROGRAMME_BASE_URL: "http://127.0.0.1:1", PROGRAMME_TOKEN: "a".repeat(64) });
    expect(failures(refused)).toEqual(["service"]);
    expect(refused.of("service")?.found).toBe("http://127.0.0.1:1 cannot be used: nothing listens there.");
    const unknown = await examine(home, { PROGRAMME_BASE_URL: "https://service.invalid" });
    expect(unknown.of("service")?.found).toMatch(/its name (is unknown|cannot be looked up now)/);
  });

  test("certificates: not trusted, trusted by a file of one's own, about to expire", async () => {
    const home = await openHome();
    const { cert, key } = selfSigned({ names: ["localhost"], addresses: [[127, 0, 0, 1]], validDays: 10 });
    const server = createTlsServer(
      { cert, key },
      (_, response) => void response.writeHead(401, json).end(unauthorized),
    );
    const origin = `https://localhost:${await listening(server)}`;
    const untrusted = await examine(home, { PROGRAMME_BASE_URL: origin });
    expect(untrusted.of("service")).toMatchObject({
      status: "fail",
      fix: expect.stringContaining("PROGRAMME_CA_FILE"),
    });
    expect(untrusted.of("service")?.found).toContain("its certificate is not trusted");
    const caFile = join(home.path, "ca.pem");
    await writeFile(caFile, cert);
    const trusted = await examine(home, { PROGRAMME_BASE_URL: origin, PROGRAMME_CA_FILE: caFile });
    expect(trusted.of("service")?.status).toBe("ok");
    expect(trusted.of("certificate")).toMatchObject({ status: "warn" });
    expect(trusted.of("certificate")?.found).toMatch(/by PROGRAMME_CA_FILE and expires in (9|10) days/);
    for (const content of ["no certificate", undefined]) {
      const file = join(home.path, content === undefined ? "missing.pem" : "bad.pem");
      if (content !== undefined) await writeFile(file, content);
      const bad = await examine(home, { PROGRAMME_BASE_URL: origin, PROGRAMME_CA_FILE: file });
      expect(bad.of("configuration")?.found).toContain("PROGRAMME_CA_FILE must be a readable file of PEM certificates");
    }
  });
});

describe("with the embedded service", () => {
  test("a missing database is not created", async () => {
    const home = await openHome();
    const report = await examine(home);
    expect(report.ok).toBe(true);
    expect(report.of("token")?.status).toBe("skip");
    const named = await examine(home, { PROGRAMME_DATABASE: join(home.path, "p.db") });
    expect(named.of("token")?.fix).toContain("token create");
    const created = await examine(home, { PROGRAMME_DATABASE: join(home.path, "new", "p.db"), PROGRAMME_CREATE: "1" });
    expect([created.verdict, created.of("programs:read")?.status]).toEqual(["works", "ok"]);
    expect(await readdir(home.path, { recursive: true })).toEqual([]);
  });

  test("an existing database is opened, and the token checked", async () => {
    const { home, token, store } = await openService();
    const environment = { PROGRAMME_DATABASE: home.database };
    const without = await examine(home, environment);
    expect([without.ok, without.of("database")?.found]).toEqual([true, "It can be opened; it holds 1 organisation."]);
    expect(without.of("programs:read")?.status).toBe("ok");
    expect((await store.listTokens()).every(({ revokedAt }) => revokedAt !== null)).toBe(true);
    const known = await examine(home, { ...environment, PROGRAMME_TOKEN: await token(["programs:read"]) });
    expect([known.of("token")?.status, known.of("audit:read")?.status]).toEqual(["ok", "warn"]);
    const unknown = await examine(home, { ...environment, PROGRAMME_TOKEN: "b".repeat(64) });
    expect(failures(unknown)).toEqual(["token"]);
  });

  test("a database file with wrong permissions or content is reported", async () => {
    const home = await openHome();
    const environment = { PROGRAMME_DATABASE: home.database };
    await home.run(["token", "create"], environment);
    await chmod(home.database, 0o644);
    expect((await examine(home, environment)).of("database file")).toMatchObject({
      status: "warn",
      fix: `chmod 600 ${home.database}`,
    });
    const broken = join(home.path, "broken.db");
    await writeFile(broken, "this is no database at all, whatever its name says".repeat(100), { mode: 0o600 });
    expect(failures(await examine(home, { PROGRAMME_DATABASE: broken }))).toEqual(["database"]);
    expect(failures(await examine(home, { PROGRAMME_DATABASE: home.path }))).toEqual(["database file"]);
    const inFile = join(broken, "p.db");
    expect(failures(await examine(home, { PROGRAMME_DATABASE: inFile }))).toEqual(["database file"]);
  });
});

test("incoming webhooks are listed with secret, organisation and address", async () => {
  const { home, businessId } = await openService();
  const check = async (environment: Record<string, string>) => {
    const report = await examine(home, { PROGRAMME_DATABASE: home.database, ...environment });
    expect(JSON.stringify(report.checks)).not.toContain("a-secret");
    return report.of("webhooks in");
  };
  const [secret, publicUrl] = ["crm=a-secret-of-16-characters", "https://desk.example"];
  expect((await check({}))?.status).toBe("skip");
  expect((await check({ PROGRAMME_WEBHOOK_SECRETS: secret }))?.fix).toContain("PROGRAMME_PUBLIC_URL");
  const ready = { PROGRAMME_WEBHOOK_SECRETS: secret, PROGRAMME_PUBLIC_URL: publicUrl };
  expect(await check(ready)).toMatchObject({
    status: "ok",
    found: "They come in at https://desk.example/webhooks/crm, each with a secret.",
  });
  const rotating = { ...ready, PROGRAMME_WEBHOOK_SECRETS: `${secret};a-secret-that-is-older` };
  expect((await check(rotating))?.found).toMatch(/Being replaced: crm\.$/);
  const readers = (id: string) => ({ ...ready, PROGRAMME_WEBHOOK_READERS: `crm=${id}` });
  expect((await check(readers(businessId)))?.status).toBe("ok");
  expect(await check(readers("biz_nobody"))).toMatchObject({ status: "fail" });
});

test("an invalid setting is reported first", async () => {
  const home = await openHome();
  const plain = await examine(home, { PROGRAMME_BASE_URL: "http://programme.example" });
  expect(failures(plain)).toEqual(["configuration"]);
  expect(plain.of("configuration")?.found).toContain("PROGRAMME_BASE_URL must be an https address");
  const unknown = await examine(home, { PROGRAMME_BASE_ULR: "https://programme.example" });
  expect(unknown.of("configuration")?.found).toContain("Did you mean PROGRAMME_BASE_URL?");
});
