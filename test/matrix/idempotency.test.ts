import { describe, expect } from "vitest";
import { operationNames, operations } from "../../src/contract/index.ts";
import { rest } from "../support/clients/raw-http.ts";
import { readState } from "../support/data/state.ts";
import { surfaces } from "../support/servers/test-server.ts";
import { test } from "./matrix-data.ts";

const changes = operationNames.filter((name) => operations[name].effect !== "read");
const versioned = changes.flatMap((name) =>
  Object.keys(operations[name].body?.shape ?? {})
    .filter((field) => /^(source|target)?version$/i.test(field))
    .map((field) => [name, field] as const),
);

test("every update of a record takes a version, except those with a single outcome", () => {
  const unversioned = changes.filter((name) => !versioned.some(([versionedName]) => versionedName === name));
  expect(unversioned).toEqual([
    "create_submission",
    "create_person",
    "invite_reviewer",
    "auto_assign_reviewers",
    "bulk_assign_reviewers",
    "delete_assignment",
    "release_feedback",
    "send_bulk_email",
    "create_export",
  ]);
});

describe.each(surfaces)("a version over %s", (surface) => {
  test.for(versioned)("that is outdated is refused by %s (%s), and nothing is changed", async ([name, field], {
    tenants,
  }) => {
    const { server, inputs } = tenants.own;
    const before = await readState(server.app.store, server.businessId);
    const caller = await server.as(surface);
    const refused = caller.call(name, { ...inputs[name], [field]: 7 });
    await expect(refused).rejects.toMatchProblem("version_conflict", { currentVersion: 0 });
    if (surface === "REST") await expect(refused).rejects.toMatchObject({ status: 409 });
    expect(await readState(server.app.store, server.businessId)).toEqual(before);
  });
});

describe("the same request with the same key", () => {
  test.for(changes)("is applied once by %s, and gets the same answer again", async (name, { tenants: { own } }) => {
    const { server, inputs } = own;
    const token = await server.token();
    const send = () => rest(server, token, name, inputs[name], { "idempotency-key": `key of ${name}` });
    const before = await readState(server.app.store, server.businessId);

    const first = await send();
    expect(first.body).toMatchObject({ success: true });
    expect(first.status).toBe(operations[name].status ?? 200);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    const after = await readState(server.app.store, server.businessId);
    expect(after).not.toEqual(before);
    expect(after["audit"]?.length).toBeGreaterThan(before["audit"]?.length ?? 0);

    const second = await send();
    expect(second.text).toBe(first.text);
    expect(second.status).toBe(first.status);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(await readState(server.app.store, server.businessId)).toEqual(after);
  });
});
