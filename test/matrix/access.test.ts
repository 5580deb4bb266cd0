import { describe, expect } from "vitest";
import { scopes, sensitiveScope } from "../../src/contract/access/scopes.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { createRandomToken, hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { createId } from "../../src/lib/ids.ts";
import { rest } from "../support/clients/raw-http.ts";
import { fieldIds, personFieldIds } from "../support/data/seed-factory.ts";
import { readState } from "../support/data/state.ts";
import { surfaces } from "../support/servers/test-server.ts";
import { type MatrixData, test } from "./matrix-data.ts";

describe("a caller without a valid token", () => {
  test.for(operationNames)("is refused by %s, and nothing is changed", async (name, { tenants: { own } }) => {
    const { server, inputs } = own;
    const before = await readState(server.app.store, server.businessId);

    const without = await rest(server, undefined, name, inputs[name]);
    expect(without).toMatchObject({ status: 401, body: { success: false, error: { code: "unauthorized" } } });
    expect(without.headers.get("www-authenticate")).toBe("Bearer");

    for (const [kind, token] of Object.entries(await badTokens(own))) {
      const answer = await rest(server, token, name, inputs[name]);
      expect(answer, kind).toMatchObject({ status: 401, body: { success: false, error: { code: "invalid_token" } } });
      expect(answer.headers.get("www-authenticate"), kind).toBe('Bearer error="invalid_token"');
    }
    expect(await readState(server.app.store, server.businessId)).toEqual(before);
  });
});

describe("a token with every scope but the operation's own", () => {
  test.for(operationNames)("is refused by %s, and nothing is changed", async (name, { tenants: { own } }) => {
    const { server, inputs } = own;
    const { scope } = operations[name];
    const others = scopes.filter((other) => other !== scope);
    const before = await readState(server.app.store, server.businessId);

    const answer = await rest(server, await server.token(others), name, inputs[name]);
    expect(answer).toMatchObject({
      status: 403,
      body: { success: false, error: { code: "insufficient_scope", details: { requiredScopes: [scope] } } },
    });
    expect(answer.headers.get("www-authenticate")).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);

    const overMcp = await server.as("MCP", others);
    await expect(overMcp.call(name, inputs[name])).rejects.toMatchProblem("insufficient_scope", {
      requiredScopes: [scope],
    });
    expect(await readState(server.app.store, server.businessId)).toEqual(before);
  });

  test("is refused before its input is validated", async ({ tenants: { own } }) => {
    const token = await own.server.token(["programs:read"]);
    for (const name of operationNames.filter((operation) => operations[operation].scope !== "programs:read")) {
      const answer = await rest(own.server, token, name, { ...own.inputs[name], surprise: true });
      expect(answer.body.error.code, name).toBe("insufficient_scope");
    }
  });
});

describe.each(surfaces)("an input that needs a further scope, over %s", (surface) => {
  const expanding = { includePersonFieldIds: personFieldIds.standard };
  const creating = { fields: { [fieldIds.title]: "x" }, deadline: "2026-12-01T00:00:00Z" };
  const externalRef = { namespace: "crm", objectType: "contact", externalId: "C-1" };
  const persons = (fieldId: string) => ({ persons: { fieldIds: [fieldId] } });

  test.for<[OperationName, Record<string, unknown>, missing: string]>([
    ["list_applicants", expanding, "persons:read"],
    ["list_reviewers", expanding, "persons:read"],
    ["get_reviewer", expanding, "persons:read"],
    ["create_submission", { ...creating, personId: "per_any" }, "persons:read"],
    ["create_submission", { ...creating, externalRef }, "persons:read"],
    ["create_export", persons(personFieldIds.standard), "persons:read"],
    ["list_applicants", { includePersonFieldIds: personFieldIds.pii }, sensitiveScope],
    ["list_reviewers", { includePersonFieldIds: personFieldIds.restricted }, sensitiveScope],
    ["get_reviewer", { includePersonFieldIds: personFieldIds.pii }, sensitiveScope],
    ["create_export", persons(personFieldIds.restricted), sensitiveScope],
  ])("%s with %o is refused without it", async ([name, given, missing], { tenants: { own } }) => {
    const { server, inputs } = own;
    const before = await readState(server.app.store, server.businessId);
    const caller = await server.as(
      surface,
      scopes.filter((scope) => scope !== missing),
    );
    await expect(caller.call(name, { ...inputs[name], ...given })).rejects.toMatchProblem("insufficient_scope", {
      requiredScopes: [missing],
    });
    expect(await readState(server.app.store, server.businessId)).toEqual(before);
  });
});

async function badTokens({ server }: MatrixData): Promise<Record<string, string>> {
  const { store } = server.app;
  const insert = async (given: { expiresAt?: string }) => {
    const token = createRandomToken();
    const tokenId = createId("tok");
    const createdAt = server.clock.now().toISOString();
    const row = { tokenId, businessId: server.businessId, name: "test", prefix: "", scopes: [...scopes], createdAt };
    const open = { expiresAt: null, revokedAt: null, lastUsedAt: null };
    await store.insertToken({ ...row, ...open, ...given, sha256: hashSha256Hex(token) });
    return { tokenId, token };
  };
  const revoked = await insert({});
  await store.revokeToken(revoked.tokenId, server.clock.now().toISOString());
  // Expired from the very moment on that it names.
  const expired = await insert({ expiresAt: server.clock.now().toISOString() });
  return {
    tooShort: createRandomToken().slice(1),
    tooLong: `${createRandomToken()}0`,
    notHexadecimal: createRandomToken().replace(/.$/, "g"),
    unknown: createRandomToken(),
    revoked: revoked.token,
    expired: expired.token,
  };
}
