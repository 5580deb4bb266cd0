import { describe, expect } from "vitest";
import { type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { createId } from "../../src/lib/ids.ts";
import { rest } from "../support/clients/raw-http.ts";
import { replaced } from "../support/data/arguments.ts";
import { idsIn, isId, normalizeIds } from "../support/data/normalize.ts";
import { readState } from "../support/data/state.ts";
import { surfaces } from "../support/servers/test-server.ts";
import { type Arguments, type MatrixData, test } from "./matrix-data.ts";

type Path = readonly string[];

interface Case {
  readonly name: OperationName;
  readonly own: Arguments;
  readonly foreign: Arguments;
}

const naming = operationNames.filter((name) => {
  const { params, queryObject, body } = operations[name];
  const fields = [params, queryObject, body].flatMap((part) => Object.keys(part?.shape ?? {}));
  return fields.some((field) => /Ids?$/.test(field));
});

test("the test data has every kind of record that operations take", ({ tenants: { own } }) => {
  const silent = naming.filter((name) => idPaths(own.inputs[name]).length === 0);
  // The one takes no id but another platform's, the other is among the further arguments.
  expect(silent).toEqual(["create_person", "resolve_persons"]);
});

describe("another tenant's id", () => {
  test.for(naming)("is treated by %s like an unknown id", async (name, { tenants }) => {
    const { server } = tenants.own;
    const token = await server.token();
    const before = await readState(server.app.store, tenants.foreign.server.businessId);
    for (const given of casesOf(tenants, name)) {
      for (const path of idPaths(given.own)) {
        const foreignId = at(given.foreign, path) as string;
        const unknownId = createId(foreignId.slice(0, 3));
        const foreign = await rest(server, token, name, replaced(given.own, path, foreignId));
        const unknown = await rest(server, token, name, replaced(given.own, path, unknownId));
        const where = path.join(".");
        if (path.length === 1 && Object.hasOwn(operations[name].params.shape, where)) {
          expect(foreign, where).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
          expect(foreign.text, where).toBe(unknown.text);
        } else {
          expect(foreign.status, where).toBe(unknown.status);
          expect(normalizeIds(foreign.body), where).toEqual(normalizeIds(unknown.body));
        }
      }
    }
    expect(await readState(server.app.store, tenants.foreign.server.businessId)).toEqual(before);
  });

  test.for(naming)("is treated over MCP like an unknown id by %s", async (name, { tenants }) => {
    const caller = await tenants.own.server.as("MCP");
    const ask = (input: Arguments) =>
      caller.call(name, input).then(
        (reply) => normalizeIds(reply),
        (problem) => normalizeIds({ message: problem.message, details: problem.details }),
      );
    for (const given of casesOf(tenants, name)) {
      for (const path of idPaths(given.own)) {
        const foreignId = at(given.foreign, path) as string;
        const foreign = await ask(replaced(given.own, path, foreignId));
        expect(foreign, path.join(".")).toEqual(await ask(replaced(given.own, path, createId(foreignId.slice(0, 3)))));
      }
    }
  });
});

describe.each(surfaces)("no answer over %s", (surface) => {
  test("names a record of another tenant", async ({ tenants: { own, foreign } }) => {
    const foreignIds = idsIn(JSON.stringify(await readState(own.server.app.store, foreign.server.businessId)));
    expect(foreignIds.size).toBeGreaterThan(50);
    const caller = await own.server.as(surface);
    for (const name of operationNames.filter((operation) => operations[operation].effect === "read")) {
      const answer = JSON.stringify(await caller.call(name, own.inputs[name]));
      expect([...idsIn(answer).intersection(foreignIds)], name).toEqual([]);
      expect(answer, name).not.toContain(foreign.server.businessId);
    }
  });

  test("gives a page of another tenant for its cursor", async ({ tenants: { own, foreign } }) => {
    const caller = await own.server.as(surface);
    const elsewhere = await foreign.server.as(surface);
    for (const name of ["list_programs", "list_submissions", "list_persons", "list_reviewers"] as const) {
      const { page } = await elsewhere.call(name, { limit: 1 });
      expect(page?.hasMore, name).toBe(true);
      await expect(caller.call(name, { limit: 1, lastEvaluatedKey: page?.lastEvaluatedKey })).rejects.toMatchProblem(
        "invalid_cursor",
      );
    }
  });
});

function casesOf({ own, foreign }: { own: MatrixData; foreign: MatrixData }, name: OperationName): Case[] {
  const more = own.more.flatMap(([operation, input], index) =>
    operation === name ? [{ name, own: input, foreign: foreign.more[index]?.[1] as Arguments }] : [],
  );
  return [{ name, own: own.inputs[name], foreign: foreign.inputs[name] }, ...more];
}

/** Where ids stand in arguments. */
function idPaths(value: unknown, path: Path = []): Path[] {
  if (isId(value)) return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => idPaths(inner, [...path, key]));
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<string, unknown>)[key], value);
}
