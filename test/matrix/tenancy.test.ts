import { describe, expect } from "vitest";
import { type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { type RawAnswer, rest } from "../support/clients/raw-http.ts";
import { idsIn } from "../support/data/normalize.ts";
import { readState } from "../support/data/state.ts";
import { listForeignIds, listIdPaths, listTenantIds, normalizeAnswer } from "./foreign-values.ts";
import { type Arguments, test } from "./matrix-data.ts";

const naming = operationNames.filter((name) => {
  const { params, queryObject, body } = operations[name];
  const fields = [params, queryObject, body].flatMap((part) => Object.keys(part?.shape ?? {}));
  return fields.some((field) => /Ids?$/.test(field));
});
const writes = operationNames.filter((name) => operations[name].effect !== "read");

test("the test data has every kind of record that operations take", ({ tenants: { own } }) => {
  const silent = naming.filter((name) => listIdPaths(own.inputs[name]).length === 0);
  // The one takes no id but another platform's, the other is among the further arguments.
  expect(silent).toEqual(["create_person", "resolve_persons"]);
});

describe("another tenant's id", () => {
  test.for(naming)("gets from %s exactly the answer of an unknown id, and nothing changes there", async (name, {
    tenants,
  }) => {
    const { server } = tenants.own;
    // Two tokens of one tenant, so that their rates are equal too.
    const [token, control] = [await server.token(), await server.token()];
    const before = await readState(server.app.store, tenants.foreign.server.businessId);
    for (const value of listForeignIds(tenants).filter((each) => each.name === name)) {
      const where = value.path.join(".");
      const foreign = await rest(server, token, name, value.with(value.foreign));
      const unknown = await rest(server, control, name, value.with(value.unknown));
      if (value.path.length === 1 && Object.hasOwn(operations[name].params.shape, where)) {
        expect(foreign, where).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
      }
      expect(describeAnswer(foreign, value.foreign), where).toEqual(describeAnswer(unknown, value.unknown));
    }
    expect(await readState(server.app.store, tenants.foreign.server.businessId)).toEqual(before);
  });
});

describe("another tenant's idempotency key", () => {
  test.for(writes)("does not replay %s, whether its arguments are the same or the caller's own", async (name, {
    tenants,
  }) => {
    const { own, foreign } = tenants;
    const headers = { "idempotency-key": `key-of-${name}` };
    const theirs = await rest(foreign.server, await foreign.server.token(), name, foreign.inputs[name], headers);
    expect(theirs.status).toBeLessThan(300);
    const foreignIds = await listTenantIds(foreign);
    for (const input of [foreign.inputs[name], own.inputs[name]]) {
      const before = await readState(own.server.app.store, foreign.server.businessId);
      const answer = await rest(own.server, await own.server.token(), name, input, headers);
      expect(answer.headers.has("idempotent-replayed")).toBe(false);
      const given = idsIn(JSON.stringify(input));
      expect([...idsIn(answer.text).intersection(foreignIds).difference(given)]).toEqual([]);
      expect(await readState(own.server.app.store, foreign.server.businessId)).toEqual(before);
    }
  });
});

test("no answer names a record of another tenant", async ({ tenants: { own, foreign } }) => {
  const foreignIds = await listTenantIds(foreign);
  expect(foreignIds.size).toBeGreaterThan(50);
  const token = await own.server.token();
  for (const name of operationNames.filter((operation) => operations[operation].effect === "read")) {
    const { text } = await rest(own.server, token, name, own.inputs[name]);
    expect([...idsIn(text).intersection(foreignIds)], name).toEqual([]);
    expect(text, name).not.toContain(foreign.server.businessId);
  }
});

test("a cursor of another tenant is refused like an altered one", async ({ tenants }) => {
  const { own, foreign } = tenants;
  const [token, control, theirs] = [await own.server.token(), await own.server.token(), await foreign.server.token()];
  const cursorOf = async (name: OperationName, input: Arguments) =>
    (await rest(foreign.server, theirs, name, { ...input, limit: 1 })).body.meta?.lastEvaluatedKey;
  const fallback = await cursorOf("list_programs", {});
  const paginated = operationNames.filter((name) => operations[name].paginated);
  expect(paginated.length).toBeGreaterThan(8);
  for (const name of paginated) {
    const cursor: string = (await cursorOf(name, foreign.inputs[name])) ?? fallback;
    const altered = `${cursor.slice(0, -2)}${cursor.at(-2) === "a" ? "b" : "a"}${cursor.at(-1)}`;
    const ask = (bearer: string, lastEvaluatedKey: string) =>
      rest(own.server, bearer, name, { ...own.inputs[name], lastEvaluatedKey });
    const answer = await ask(token, cursor);
    expect(answer.body.error.code, name).toBe("invalid_cursor");
    expect(describeAnswer(answer, cursor), name).toEqual(describeAnswer(await ask(control, altered), altered));
  }
});

/** Returns all that a client could compare: status, headers but those of time, and the body. */
function describeAnswer({ status, headers, text }: RawAnswer, given: string): string {
  const { date: _, "x-ratelimit-reset": __, ...rest } = Object.fromEntries(headers);
  const ratelimit = rest["ratelimit"]?.replace(/;t=\d+/, "");
  return normalizeAnswer({ status, headers: { ...rest, ratelimit }, text }, given);
}
