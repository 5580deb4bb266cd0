import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { operationNames, operations } from "../../src/contract/index.ts";
import { type Scope, scopes, sensitiveScope } from "../../src/contract/scopes.ts";
import { randomToken } from "../../src/lib/crypto.ts";
import { idempotencyMetaKey } from "../../src/tools/idempotency.ts";
import { browsers } from "../resources/browsers.ts";
import { clients, confirmationOf, errorOf } from "../support/clients.ts";
import { type Desk, openDesk } from "../support/desk.ts";
import { personFieldIds } from "../support/factory.ts";
import {
  type Behind,
  called,
  callTool,
  listTools,
  messageOf,
  openGateway,
  postMcp,
  scopesWithout,
  toolNames,
} from "../support/gateway.ts";
import { rest } from "../support/raw.ts";
import { openRemote } from "../support/remote.ts";

const overHttp = Object.entries(clients).filter(([name]) => name.endsWith("HTTP"));
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

describe("two tenants with their own product tokens, on one process before a remote service", () => {
  async function scene(environment: Record<string, string> = {}, service: Record<string, string> = {}) {
    const { desk, close } = await openDesk(service);
    onTestFinished(close);
    const app = await openRemote(desk.origin, environment, { clock: desk.clock });
    onTestFinished(() => app.close());
    const { origin } = await app.listen();
    const at = (tenant: Desk) => ({ ...tenant, origin });
    return { one: at(desk), two: at(await desk.other()), app };
  }

  test.each(overHttp)("get their own data through clients of %s", async (_, connect) => {
    const { one, two } = await scene();
    const scenes = await Promise.all(
      [one, two].map(async (tenant) => ({
        program: await tenant.seed.program(),
        client: await connect(tenant, await tenant.token()),
      })),
    );
    for (const { client, program } of [...scenes, ...scenes]) {
      expect((await client.call("list_programs", {})).structuredContent?.data).toEqual([program]);
    }
    const foreign = await scenes[1]?.client.call("get_program", { programId: scenes[0]?.program.programId });
    expect(errorOf(foreign as NonNullable<typeof foreign>).code).toBe("not_found");
  });

  test("are answered apart when they ask at once under the same number", async () => {
    const { one, two } = await scene();
    const scenes = await Promise.all(
      [one, two].map(async (each) => ({ each, token: await each.token(), program: await each.seed.program() })),
    );
    const rounds = Array.from({ length: 20 }, () => scenes).flat();
    const answers = await Promise.all(
      rounds.map(({ each, token }) => postMcp(each, token, callTool("list_programs", {}, { id: 7 }))),
    );
    for (const [index, answer] of answers.entries()) {
      expect(messageOf(answer)).toMatchObject({
        id: 7,
        result: { structuredContent: { data: [rounds[index]?.program] } },
      });
    }
  });

  test("learn of their own token's scopes alone", async () => {
    const { one, two } = await scene({ PROGRAMME_SCOPES: "" });
    const [few, all] = [await one.token(["programs:read"]), await two.token()];
    const before = await toolNames(one, few);
    expect(before).toContain("list_reviewers");
    expect(errorOf(await called(one, few, "list_reviewers", {})).code).toBe("insufficient_scope");
    expect(await toolNames(one, few)).not.toContain("list_reviewers");
    expect(await toolNames(two, all)).toEqual(before);
    expect((await called(two, all, "list_reviewers", {})).isError).toBeFalsy();
  });

  test("lose their own token alone", async () => {
    const { one, two, app } = await scene();
    const [unknown, good] = [randomToken(), await two.token()];
    expect(errorOf(await called(one, unknown, "list_programs", {})).code).toBe("invalid_token");
    expect((await postMcp(one, unknown, listTools)).status).toBe(401);
    expect((await postMcp(two, good, listTools)).status).toBe(200);
    await expect(app.upstream.identify(unknown)).rejects.toMatchObject({ code: "invalid_token" });
  });

  test("use up their own rate alone, and their own export", async () => {
    const { one, two } = await scene({ PROGRAMME_REQUESTS_PER_MINUTE: "4" });
    const [mine, theirs] = [await one.token(), await two.token()];
    const { programId } = await one.seed.program();
    const other = await two.seed.program();
    expect((await called(one, mine, "create_export", { programId })).isError).toBeFalsy();
    expect(errorOf(await called(one, mine, "create_export", { programId })).code).toBe("export_rate_limited");
    expect((await called(two, theirs, "create_export", { programId: other.programId })).isError).toBeFalsy();
    for (let count = 0; count < 3; count++) await called(one, mine, "list_programs", {});
    expect(errorOf(await called(one, mine, "list_programs", {})).code).toBe("rate_limited");
    expect((await called(two, theirs, "list_programs", {})).isError).toBeFalsy();
  });

  test("hold their own sessions, under whatever id", async () => {
    const { one, two } = await scene();
    const [mine, theirs] = [await one.token(), await two.token()];
    const opened = await postMcp(one, mine, initialize);
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    expect((await postMcp(one, mine, listTools, session)).status).toBe(200);
    expect((await postMcp(two, theirs, listTools, session)).status).toBe(404);
    expect((await postMcp(one, mine, listTools, session)).status).toBe(200);
  });

  test("confirm their own calls alone", async () => {
    const { one, two } = await scene({ PROGRAMME_CONFIRM: "ask" });
    const [mine, theirs, third] = [await one.token(), await two.token(), await one.token()];
    const { submissionId, version } = await one.seed.submission({ state: "IN_REVIEW" });
    const args = { submissionId, version, reason: "Out of scope" };
    const { token: confirmation } = confirmationOf(await called(one, mine, "eliminate_submission", args));
    for (const [tenant, token] of [
      [two, theirs],
      [one, third],
    ] as const) {
      const foreign = await called(tenant, token, "eliminate_submission", { ...args, confirmation });
      expect(errorOf(foreign).code).toBe("confirmation_invalid");
    }
    const own = await called(one, mine, "eliminate_submission", { ...args, confirmation });
    expect(own.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
  });

  test("open their own handles alone", async () => {
    const { one, two } = await scene({ PROGRAMME_PRIVACY: "blind" });
    const [mine, theirs] = [await one.token(), await two.token()];
    const given = { primaryEmail: "same@example.org" };
    const { personId } = await one.seed.person(given);
    await two.seed.person(given);
    const shown = (await called(one, mine, "get_person", { personId })).structuredContent?.data["primaryEmail"];
    expect(shown).toMatch(/handle\.invalid$/);
    expect((await called(one, mine, "resolve_persons", { email: shown })).isError).toBeFalsy();
    expect(errorOf(await called(two, theirs, "resolve_persons", { email: shown })).code).toBe("invalid_handle");
  });

  test("are shown person fields by their own schema alone", async () => {
    const { one, two } = await scene({ PROGRAMME_SCOPES: scopesWithout(sensitiveScope).join() });
    const customFields = { [personFieldIds.standard]: "weaving" };
    const schema = await one.seed.personSchema();
    const fields = schema.fields.map((field) => ({ ...field, sensitivity: "pii" as const }));
    await two.seed.personSchema({ fields });
    const shown = [];
    for (const tenant of [one, two]) {
      const { personId } = await tenant.seed.person({ customFields });
      const person = await called(tenant, await tenant.token(), "get_person", { personId });
      shown.push(person.structuredContent?.data["customFields"]);
    }
    expect(shown).toEqual([customFields, {}]);
  });

  test("use the same idempotency key, each for a change of its own", async () => {
    const { one, two } = await scene();
    const meta = { [idempotencyMetaKey]: "run-1" };
    for (const tenant of [one, two]) {
      const { programId, version } = await tenant.seed.program();
      const token = await tenant.token();
      const args = { programId, version, name: "Renamed" };
      for (let count = 0; count < 2; count++) {
        const result = await called(tenant, token, "update_program", args, { meta });
        expect(result.structuredContent?.data).toMatchObject({ programId, version: version + 1 });
      }
    }
  });

  test("hear of their own token's scopes alone", async () => {
    const { one, two } = await scene({ PROGRAMME_SCOPES: "" });
    const [few, all] = [await one.token(["programs:read"]), await two.token()];
    const connect = browsers["2026-07-28 over HTTP"] as (typeof browsers)[string];
    const [mine, theirs] = [await connect(one, few), await connect(two, all)];
    await mine.follow();
    await theirs.follow();
    await called(one, few, "list_reviewers", {});
    await vi.waitFor(() => expect(mine.heard.lists).toContain("tools"));
    await wait(200);
    expect(theirs.heard.lists).toEqual([]);
  });
});

describe.each<Behind>(["embedded", "remote"])("a gateway to the %s service", (behind) => {
  test.each(overHttp)("shows clients of %s what their key may use, and refuses the rest", async (_, connect) => {
    const { desk, caller, admit } = await openGateway(behind);
    const program = await desk.seed.program();
    const reader = await caller("reader", { scopes: ["programs:read", "feedback:write"] });
    const whole = await caller("whole");
    await admit(reader.entry, whole.entry);
    const client = await connect(desk, reader.key);
    const listed = (await client.list()).map(({ name }) => name);
    expect(listed.slice(0, 3)).toEqual(["get_program", "list_programs", "release_feedback"]);
    expect(listed).not.toContain("list_submissions");
    expect((await client.call("list_programs", {})).structuredContent?.data).toEqual([program]);
    const refused = errorOf(await client.call("list_submissions", {}));
    expect(refused).toMatchObject({ code: "insufficient_scope", next: expect.stringContaining("submissions:read") });
    const other = await connect(desk, whole.key);
    expect((await other.list()).length).toBeGreaterThanOrEqual(operationNames.length);
    expect((await other.call("list_submissions", {})).isError).toBeFalsy();
  });

  test("refuses product tokens and strangers plainly, and takes product tokens at REST as ever", async () => {
    const { desk, caller, admit } = await openGateway(behind);
    const token = await desk.token();
    const { key, entry } = await caller("crm", { token });
    const late = await caller("late", { token, expiresAt: "2026-11-20T09:00:00Z" });
    await admit(entry, late.entry);
    expect((await postMcp(desk, key, listTools)).status).toBe(200);
    for (const stranger of [token, late.key, `gwk_${randomToken()}`, key.toUpperCase(), entry.sha256, "a.b.c", "x"]) {
      const answer = await postMcp(desk, stranger, listTools);
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, 'Bearer error="invalid_token"']);
    }
    const missing = await postMcp(desk, undefined, listTools);
    expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    if (behind === "remote") return;
    expect((await rest(desk, token, "list_programs", {})).status).toBe(200);
    expect((await rest(desk, key, "list_programs", {})).status).toBe(401);
  });

  test("confines expansions, resources, prompts and previews to a key's scopes", async () => {
    const { desk, caller, admit } = await openGateway(behind, { PROGRAMME_CONFIRM: "ask" });
    const reviewer = await desk.seed.reviewer();
    const { programId } = await desk.seed.program({ name: "Secret call" });
    const { submissionId, version } = await desk.seed.submission({ programId, state: "IN_REVIEW", title: "A lamp" });
    const granted: Scope[] = ["reviewers:read", "submissions:write"];
    const { key, entry } = await caller("clerk", { scopes: granted });
    await admit(entry);

    const plain = await called(desk, key, "get_reviewer", { reviewerId: reviewer.reviewerId });
    expect(plain.isError).toBeFalsy();
    const expanded = { reviewerId: reviewer.reviewerId, includePersonFieldIds: personFieldIds.standard };
    expect(errorOf(await called(desk, key, "get_reviewer", expanded))).toMatchObject({
      code: "insufficient_scope",
      details: { requiredScopes: ["persons:read"] },
    });
    const read = {
      jsonrpc: "2.0",
      id: 1,
      method: "resources/read",
      params: { uri: `programme://programs/${programId}` },
    };
    expect(messageOf(await postMcp(desk, key, read)).error.data.code).toBe("insufficient_scope");
    const listed = { jsonrpc: "2.0", id: 1, method: "resources/list", params: {} };
    expect((await postMcp(desk, key, listed)).text).not.toContain("Secret call");

    const asked = await called(desk, key, "eliminate_submission", { submissionId, version, reason: "No" });
    const { question } = confirmationOf(asked);
    expect(question).toContain(submissionId);
    expect(question).not.toMatch(/Secret call/);
    // Behind a remote service a title is read before it is shown; without the scope it is not.
    if (behind === "remote") expect(question).not.toMatch(/A lamp/);
  });

  test("hides sensitive data from a key without that scope, whatever its product token has", async () => {
    const { desk, caller, admit } = await openGateway(behind);
    await desk.seed.personSchema();
    const customFields = { [personFieldIds.standard]: "weaving", [personFieldIds.pii]: "1970-01-01" };
    const { personId } = await desk.seed.person({ customFields });
    const [token, narrow, whole] = [
      await desk.token(),
      await caller("narrow", { scopes: scopesWithout(sensitiveScope) }),
      await caller("whole"),
    ];
    await admit(narrow.entry, whole.entry, { ...narrow.entry, name: "again", sha256: "0".repeat(64) });
    const shown = async (key: string) => (await called(desk, key, "get_person", { personId })).structuredContent?.data;
    expect(await shown(whole.key)).toMatchObject({ primaryEmail: "grace@example.org", customFields });
    const hidden = await shown(narrow.key);
    expect(hidden).toMatchObject({ customFields: { [personFieldIds.standard]: "weaving" } });
    expect(JSON.stringify(hidden)).not.toMatch(/grace@example|1970-01-01/);
    expect(token).toBeDefined();
  });

  test("lets no key export person fields that it may not see", async () => {
    const { desk, caller, admit } = await openGateway(behind);
    await desk.seed.personSchema();
    const { programId } = await desk.seed.program();
    const narrow = await caller("narrow", { scopes: scopesWithout(sensitiveScope) });
    await admit(narrow.entry);
    const exported = (fieldId: string) =>
      called(desk, narrow.key, "create_export", { programId, persons: { fieldIds: [fieldId] } });
    expect(errorOf(await exported(personFieldIds.pii))).toMatchObject({
      code: "insufficient_scope",
      details: { requiredScopes: [sensitiveScope] },
    });
    expect(await desk.app.store.reader(desk.businessId).find("exports", {}, { limit: 10 })).toEqual([]);
    expect((await exported(personFieldIds.standard)).isError).toBeFalsy();
  });

  describe("two callers behind one product token", () => {
    async function pair(environment: Record<string, string> = {}, narrowed: Scope[] = ["programs:read"]) {
      const gateway = await openGateway(behind, environment);
      const token = await gateway.desk.token();
      const [one, two] = [
        await gateway.caller("one", { token }),
        await gateway.caller("two", { token, scopes: narrowed }),
      ];
      await gateway.admit(one.entry, two.entry);
      return { ...gateway, token, one: one.key, two: two.key };
    }

    test("do not hide tools from each other", async () => {
      const { desk, one, two } = await pair({ PROGRAMME_SCOPES: "" });
      const before = await toolNames(desk, one);
      expect(errorOf(await called(desk, two, "list_reviewers", {})).code).toBe("insufficient_scope");
      expect(await toolNames(desk, one)).toEqual(before);
      expect((await called(desk, one, "list_reviewers", {})).isError).toBeFalsy();
    });

    test("are not given each other's answers under one idempotency key", async () => {
      const { desk, one, two } = await pair({}, [...scopes]);
      const meta = { [idempotencyMetaKey]: "run-1" };
      const args = { kinds: ["applicant"], provenance: { source: "test" } };
      const created = async (key: string) =>
        (await called(desk, key, "create_person", args, { meta })).structuredContent?.data["personId"];
      const first = await created(one);
      expect(await created(two)).not.toBe(first);
      expect(await created(one)).toBe(first);
    });

    test("do not confirm each other's calls, nor use each other's sessions", async () => {
      const { desk, one, two } = await pair({ PROGRAMME_CONFIRM: "ask" }, [...scopes]);
      const { submissionId, version } = await desk.seed.submission({ state: "IN_REVIEW" });
      const args = { submissionId, version, reason: "Out of scope" };
      const { token: confirmation } = confirmationOf(await called(desk, one, "eliminate_submission", args));
      const foreign = await called(desk, two, "eliminate_submission", { ...args, confirmation });
      expect(errorOf(foreign).code).toBe("confirmation_invalid");
      expect((await called(desk, one, "eliminate_submission", { ...args, confirmation })).isError).toBeFalsy();

      const opened = await postMcp(desk, one, initialize);
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
      expect((await postMcp(desk, two, listTools, session)).status).toBe(404);
      expect((await postMcp(desk, one, listTools, session)).status).toBe(200);
    });

    test("are told apart in the log, which with every answer keeps the product token to itself", async () => {
      const { desk, one, two, log, token } = await pair({}, ["programs:read"]);
      const texts: string[] = [];
      for (const key of [one, two]) {
        for (const message of [
          initialize,
          listTools,
          { jsonrpc: "2.0", id: 1, method: "resources/list", params: {} },
          { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "programme://programs" } },
          callTool("list_programs", {}),
          callTool("list_audit_entries", {}),
          callTool("get_program", { programId: token }),
          callTool("update_program", { programId: "x", version: "y" }),
          callTool("nothing", {}),
        ]) {
          const { text, headers } = await postMcp(desk, key, message);
          // What a caller writes itself comes back to it.
          if (!JSON.stringify(message).includes(token)) texts.push(text, JSON.stringify([...headers]));
        }
      }
      expect(texts.join("\n")).not.toContain(token);
      const lines = log.filter((line) => !line.includes(`get_program`)).join("\n");
      expect(lines).not.toContain(token);
      for (const key of [one, two]) expect(log.join("\n")).not.toContain(key);
      const answered = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "A caller was answered");
      expect(answered).toContainEqual(
        expect.objectContaining({ caller: "two", operation: "list_audit_entries", outcome: "insufficient_scope" }),
      );
      expect(answered).toContainEqual(
        expect.objectContaining({
          caller: "one",
          operation: "list_programs",
          outcome: "ok",
          requestId: expect.any(String),
        }),
      );
    });
  });

  test("tells a caller apart from the token behind it when the service refuses that", async () => {
    const { desk, caller, admit, log } = await openGateway(behind);
    const { key, entry } = await caller("crm", { token: randomToken() });
    await admit(entry);
    if (behind === "remote") await called(desk, key, "list_programs", {});
    const answer = await postMcp(desk, key, listTools);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([502, null]);
    expect(answer.body.error.data.code).toBe("gateway_token_refused");
    expect(log.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining({ level: 50, caller: "crm" }));
  });
});

describe("the file of keys", () => {
  const soon = { timeout: 5_000, interval: 50 };

  test("is heeded soon after it changed, as are the files of product tokens", async () => {
    const { desk, caller, file, directory, keep } = await openGateway("embedded");
    const [first, second] = [await desk.token(["programs:read"]), await desk.token(["rounds:read"])];
    const { key, entry } = await caller("crm", { token: first });
    const status = async () => (await postMcp(desk, key, listTools)).status;
    expect(await status()).toBe(401);
    await writeFile(file, JSON.stringify([entry]));
    await vi.waitFor(async () => expect(await status()).toBe(200), soon);
    expect(await toolNames(desk, key)).toContain("list_programs");

    const replacement = join(directory, await keep(second));
    await rename(replacement, join(directory, entry.tokenFile ?? ""));
    await vi.waitFor(async () => expect(await toolNames(desk, key)).not.toContain("list_programs"), soon);
    expect(await toolNames(desk, key)).toContain("list_rounds");

    await writeFile(file, "[]");
    await vi.waitFor(async () => expect(await status()).toBe(401), soon);
  });

  test("stays in force when what replaces it is unfit, and the log says so once", async () => {
    const { desk, app, caller, admit, file, log } = await openGateway("embedded");
    const { key, entry } = await caller("crm");
    await admit(entry);
    const faults = () => log.map((line) => JSON.parse(line)).filter(({ level, fault }) => level === 50 && fault);
    for (const unfit of [
      async () => writeFile(file, '[{"name": "half'),
      async () => writeFile(file, JSON.stringify([{ ...entry, surprise: true }])),
      async () => writeFile(file, JSON.stringify([entry, entry])),
      async () => writeFile(file, JSON.stringify([{ ...entry, tokenFile: "nowhere" }])),
      async () => writeFile(file, JSON.stringify([{ ...entry, scopes: ["everything"] }])),
      async () => chmod(file, 0o640),
      async () => rm(file),
    ]) {
      const before = faults().length;
      await unfit();
      app.reloadKeys();
      app.reloadKeys();
      expect((await postMcp(desk, key, listTools)).status).toBe(200);
      expect(faults().length).toBe(before + 1);
    }
    expect(log.join("\n")).not.toContain("half");
    await writeFile(file, "[]", { mode: 0o600 });
    app.reloadKeys();
    expect((await postMcp(desk, key, listTools)).status).toBe(401);
  });

  test("ends a stream with its key, and tells of the scopes that it comes to have", async () => {
    const { desk, caller, admit } = await openGateway("embedded");
    const { programId } = await desk.seed.program();
    const [{ key, entry }, other] = [await caller("crm"), await caller("other")];
    await admit(entry, other.entry);
    const connect = browsers["2026-07-28 over HTTP"] as (typeof browsers)[string];
    const [browser, witness] = [await connect(desk, key), await connect(desk, other.key)];
    const uri = `programme://programs/${programId}`;
    const stream = await browser.client.listen({ resourceSubscriptions: [uri], toolsListChanged: true });
    expect([stream.honoredFilter.resourceSubscriptions, await witness.follow(uri)]).toEqual([[uri], [uri]]);
    const staff = await desk.as("REST");
    let version = 0;
    /** Resolves when it has been told to those who may hear of it. */
    const change = async (name: string) => {
      await staff.update_program({ programId, version: version++, name });
      await vi.waitFor(() => expect(witness.heard.updated).toHaveLength(version), soon);
    };
    await change("First");
    await vi.waitFor(() => expect(browser.heard.updated).toEqual([uri]), soon);

    await admit({ ...entry, scopes: ["rounds:read"] }, other.entry);
    await vi.waitFor(() => expect(browser.heard.lists).toContain("tools"), soon);
    await change("Second");
    expect(browser.heard.updated).toEqual([uri]);

    const told = browser.heard.lists.length;
    await admit(entry, other.entry);
    await vi.waitFor(() => expect(browser.heard.lists.length).toBeGreaterThan(told), soon);
    await admit(other.entry);
    expect(await stream.closed).toBe("graceful");
    await change("Third");
    expect(browser.heard.updated).toEqual([uri]);
  });

  test.each<[string, (file: string, entry: object) => Promise<void>, RegExp]>([
    ["others can read", (file) => chmod(file, 0o604), /chmod 600/],
    ["is no JSON", (file) => writeFile(file, "secret words"), /not valid JSON/],
    ["is no list", (file) => writeFile(file, "{}"), /list/],
    [
      "names a key twice",
      (file, entry) => writeFile(file, JSON.stringify([entry, { ...entry, name: "b" }])),
      /1\.sha256.*twice/,
    ],
    ["names nobody's key", (file) => writeFile(file, '[{"name": "a"}]'), /sha256 or a subject/],
    [
      "names a variable that is not there",
      (file, entry) =>
        writeFile(file, JSON.stringify([{ ...entry, tokenFile: undefined, tokenVariable: "NOT_THERE" }])),
      /a: NOT_THERE holds no access token/,
    ],
    [
      "relies on a token that is not there",
      (file, entry) => writeFile(file, JSON.stringify([{ ...entry, tokenFile: undefined }])),
      /PROGRAMME_TOKEN/,
    ],
    [
      "holds a token where its variable should be",
      (file, entry) =>
        writeFile(file, JSON.stringify([{ ...entry, tokenFile: undefined, tokenVariable: `a${"1".repeat(63)}` }])),
      /tokenVariable.*not a token/,
    ],
  ])("that %s keeps the server from starting, and shows nothing of itself", async (_, spoil, message) => {
    const { file, caller } = await openGateway("embedded");
    const { entry } = await caller("a");
    await writeFile(file, JSON.stringify([entry]));
    await spoil(file, entry);
    const started = openDesk({ PROGRAMME_GATEWAY_KEYS: file });
    const error = await started.then(
      () => undefined,
      (failure: Error) => failure,
    );
    expect(error).toMatchObject({ name: "UsageError", message: expect.stringMatching(message) });
    expect(error?.message).toMatch(/^PROGRAMME_GATEWAY_KEYS: [^\n]*$/);
    expect(error?.message).not.toMatch(/secret words|1{63}/);
  });

  test("may leave the product token to PROGRAMME_TOKEN", async () => {
    const token = randomToken();
    const { desk, caller, admit } = await openGateway("embedded", { PROGRAMME_TOKEN: token });
    const { key, entry } = await caller("crm");
    const { tokenFile: _, ...without } = entry;
    await admit(without);
    // The service does not know it, which shows that it is this one.
    expect((await postMcp(desk, key, listTools)).body.error.data.code).toBe("gateway_token_refused");
  });

  test("holds keys as hashes alone", async () => {
    const { caller, admit, file } = await openGateway("embedded");
    const { key, entry } = await caller("crm");
    await admit(entry);
    const text = await readFile(file, "utf8");
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice(4));
  });
});

test("every operation is refused to a key without its scope", async () => {
  const { desk, caller, admit } = await openGateway("embedded");
  const { key, entry } = await caller("nobody", { scopes: [] });
  await admit(entry);
  expect((await toolNames(desk, key)).filter((name) => Object.hasOwn(operations, name))).toEqual([]);
  for (const name of operationNames) {
    expect(errorOf(await called(desk, key, name, {})), name).toMatchObject({
      code: "insufficient_scope",
      details: { requiredScopes: [operations[name].scope] },
    });
  }
});
