import { describe, expect, test } from "vitest";
import { type Scope, scopes, sensitiveScope } from "../../src/contract/access/scopes.ts";
import { operationNames, operations } from "../../src/contract/index.ts";
import { createRandomToken } from "../../src/lib/crypto/crypto.ts";
import { idempotencyMetaKey } from "../../src/tools/idempotency.ts";
import { clientsOverHttp, readConfirmation, readError } from "../support/clients/clients.ts";
import { rest } from "../support/clients/raw-http.ts";
import { personFieldIds } from "../support/data/seed-factory.ts";
import {
  type Behind,
  callTool,
  initialize,
  listTools,
  openGateway,
  openSession,
  postMcp,
  readCalled,
  readMessage,
  scopesWithout,
  toolNames,
} from "../support/servers/gateway.ts";

describe.each<Behind>(["embedded", "remote"])("a gateway to the %s service", (behind) => {
  test.each(clientsOverHttp)("shows clients of %s what their key allows, and refuses the rest", async (_, connect) => {
    const { server, caller, admit } = await openGateway(behind);
    const program = await server.seed.program();
    const reader = await caller("reader", { scopes: ["programs:read", "feedback:write"] });
    const whole = await caller("whole");
    await admit(reader.entry, whole.entry);
    const client = await connect(server, reader.key);
    const listed = (await client.list()).map(({ name }) => name);
    expect(listed.slice(0, 3)).toEqual(["get_program", "list_programs", "release_feedback"]);
    expect(listed).not.toContain("list_submissions");
    expect((await client.call("list_programs", {})).structuredContent?.data).toEqual([program]);
    const refused = readError(await client.call("list_submissions", {}));
    expect(refused).toMatchObject({ code: "insufficient_scope", next: expect.stringContaining("submissions:read") });
    const other = await connect(server, whole.key);
    expect((await other.list()).length).toBeGreaterThanOrEqual(operationNames.length);
    expect((await other.call("list_submissions", {})).isError).toBeFalsy();
  });

  test("refuses product tokens and unknown keys at MCP, and accepts product tokens at REST", async () => {
    const { server, caller, admit } = await openGateway(behind);
    const token = await server.token();
    const { key, entry } = await caller("crm", { token });
    const late = await caller("late", { token, expiresAt: "2026-11-20T09:00:00Z" });
    await admit(entry, late.entry);
    expect((await postMcp(server, key, listTools)).status).toBe(200);
    // In front of the remote service, people can connect apps beside the holders of keys.
    const named = behind === "remote" ? `.*resource_metadata="${server.origin}` : "$";
    const challenge = (error: string): unknown => expect.stringMatching(`^Bearer ?${error}${named}`);
    for (const stranger of [
      token,
      late.key,
      `gwk_${createRandomToken()}`,
      key.toUpperCase(),
      entry.sha256,
      "a.b.c",
      "x",
    ]) {
      const answer = await postMcp(server, stranger, listTools);
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
        401,
        challenge('error="invalid_token"'),
      ]);
    }
    const missing = await postMcp(server, undefined, listTools);
    expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([401, challenge("")]);
    if (behind === "remote") return;
    expect((await rest(server, token, "list_programs", {})).status).toBe(200);
    expect((await rest(server, key, "list_programs", {})).status).toBe(401);
  });

  test("limits expansions, resources, prompts and previews to a key's scopes", async () => {
    const { server, caller, admit } = await openGateway(behind, { PROGRAMME_CONFIRM: "ask" });
    const reviewer = await server.seed.reviewer();
    const { programId } = await server.seed.program({ name: "Secret call" });
    const { submissionId, version } = await server.seed.submission({ programId, state: "IN_REVIEW", title: "A lamp" });
    const granted: Scope[] = ["reviewers:read", "submissions:write"];
    const { key, entry } = await caller("clerk", { scopes: granted });
    await admit(entry);

    const plain = await readCalled(server, key, "get_reviewer", { reviewerId: reviewer.reviewerId });
    expect(plain.isError).toBeFalsy();
    const expanded = { reviewerId: reviewer.reviewerId, includePersonFieldIds: personFieldIds.standard };
    expect(readError(await readCalled(server, key, "get_reviewer", expanded))).toMatchObject({
      code: "insufficient_scope",
      details: { requiredScopes: ["persons:read"] },
    });
    const read = {
      jsonrpc: "2.0",
      id: 1,
      method: "resources/read",
      params: { uri: `programme://programs/${programId}` },
    };
    expect(readMessage(await postMcp(server, key, read)).error.data.code).toBe("insufficient_scope");
    const listed = { jsonrpc: "2.0", id: 1, method: "resources/list", params: {} };
    expect((await postMcp(server, key, listed)).text).not.toContain("Secret call");

    const firstAnswer = await readCalled(server, key, "eliminate_submission", { submissionId, version, reason: "No" });
    const { question } = readConfirmation(firstAnswer);
    expect(question).toContain(submissionId);
    expect(question).not.toMatch(/Secret call/);
    // Behind a remote service a title is read before it is shown; without the scope it is not.
    if (behind === "remote") expect(question).not.toMatch(/A lamp/);
  });

  test("hides sensitive data from a key without that scope, whatever its product token has", async () => {
    const { server, caller, admit } = await openGateway(behind);
    await server.seed.personSchema();
    const customFields = { [personFieldIds.standard]: "weaving", [personFieldIds.pii]: "1970-01-01" };
    const { personId } = await server.seed.person({ customFields });
    const [token, narrow, whole] = [
      await server.token(),
      await caller("narrow", { scopes: scopesWithout(sensitiveScope) }),
      await caller("whole"),
    ];
    await admit(narrow.entry, whole.entry, { ...narrow.entry, name: "again", sha256: "0".repeat(64) });
    const shown = async (key: string) =>
      (await readCalled(server, key, "get_person", { personId })).structuredContent?.data;
    expect(await shown(whole.key)).toMatchObject({ primaryEmail: "grace@example.org", customFields });
    const hidden = await shown(narrow.key);
    expect(hidden).toMatchObject({ customFields: { [personFieldIds.standard]: "weaving" } });
    expect(JSON.stringify(hidden)).not.toMatch(/grace@example|1970-01-01/);
    expect(token).toBeDefined();
  });

  test("lets no key export person fields that it may not see", async () => {
    const { server, caller, admit } = await openGateway(behind);
    await server.seed.personSchema();
    const { programId } = await server.seed.program();
    const narrow = await caller("narrow", { scopes: scopesWithout(sensitiveScope) });
    await admit(narrow.entry);
    const exported = (fieldId: string) =>
      readCalled(server, narrow.key, "create_export", { programId, persons: { fieldIds: [fieldId] } });
    expect(readError(await exported(personFieldIds.pii))).toMatchObject({
      code: "insufficient_scope",
      details: { requiredScopes: [sensitiveScope] },
    });
    expect(await server.app.store.reader(server.businessId).find("exports", {}, { limit: 10 })).toEqual([]);
    expect((await exported(personFieldIds.standard)).isError).toBeFalsy();
  });

  describe("two callers behind one product token", () => {
    async function pair(environment: Record<string, string> = {}, narrowed: Scope[] = ["programs:read"]) {
      const gateway = await openGateway(behind, environment);
      const token = await gateway.server.token();
      const [one, two] = [
        await gateway.caller("one", { token }),
        await gateway.caller("two", { token, scopes: narrowed }),
      ];
      await gateway.admit(one.entry, two.entry);
      return { ...gateway, token, one: one.key, two: two.key };
    }

    test("do not hide tools from each other", async () => {
      const { server, one, two } = await pair({ PROGRAMME_SCOPES: "" });
      const before = await toolNames(server, one);
      expect(readError(await readCalled(server, two, "list_reviewers", {})).code).toBe("insufficient_scope");
      expect(await toolNames(server, one)).toEqual(before);
      expect((await readCalled(server, one, "list_reviewers", {})).isError).toBeFalsy();
    });

    test("do not get each other's answers for the same idempotency key", async () => {
      const { server, one, two } = await pair({}, [...scopes]);
      const meta = { [idempotencyMetaKey]: "run-1" };
      const args = { kinds: ["applicant"], provenance: { source: "test" } };
      const created = async (key: string) =>
        (await readCalled(server, key, "create_person", args, { meta })).structuredContent?.data["personId"];
      const first = await created(one);
      expect(await created(two)).not.toBe(first);
      expect(await created(one)).toBe(first);
    });

    test("do not confirm each other's calls, nor use each other's sessions", async () => {
      const { server, one, two } = await pair({ PROGRAMME_CONFIRM: "ask" }, [...scopes]);
      const { submissionId, version } = await server.seed.submission({ state: "IN_REVIEW" });
      const args = { submissionId, version, reason: "Out of scope" };
      const { token: confirmation } = readConfirmation(await readCalled(server, one, "eliminate_submission", args));
      const foreign = await readCalled(server, two, "eliminate_submission", { ...args, confirmation });
      expect(readError(foreign).code).toBe("confirmation_invalid");
      expect((await readCalled(server, one, "eliminate_submission", { ...args, confirmation })).isError).toBeFalsy();

      const session = await openSession(server, one);
      expect((await postMcp(server, two, listTools, session)).status).toBe(404);
      expect((await postMcp(server, one, listTools, session)).status).toBe(200);
    });

    test("have different names in the log, and the product token appears neither there nor in an answer", async () => {
      const { server, one, two, log, token } = await pair({}, ["programs:read"]);
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
          const { text, headers } = await postMcp(server, key, message);
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

  test("distinguishes a refused caller from a product token that the service refuses", async () => {
    const { server, caller, admit, log } = await openGateway(behind);
    const { key, entry } = await caller("crm", { token: createRandomToken() });
    await admit(entry);
    if (behind === "remote") await readCalled(server, key, "list_programs", {});
    const answer = await postMcp(server, key, listTools);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([502, null]);
    expect(answer.body.error.data.code).toBe("gateway_token_refused");
    expect(log.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining({ level: 50, caller: "crm" }));
  });
});

test("every operation is refused to a key without its scope", async () => {
  const { server, caller, admit } = await openGateway("embedded");
  const { key, entry } = await caller("nobody", { scopes: [] });
  await admit(entry);
  expect((await toolNames(server, key)).filter((name) => Object.hasOwn(operations, name))).toEqual([]);
  for (const name of operationNames) {
    expect(readError(await readCalled(server, key, name, {})), name).toMatchObject({
      code: "insufficient_scope",
      details: { requiredScopes: [operations[name].scope] },
    });
  }
});
