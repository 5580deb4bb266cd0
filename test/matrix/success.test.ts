import { describe, expect } from "vitest";
import { PageMeta } from "../../src/contract/definition/page.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { LabelledReviewsSummary } from "../../src/contract/reviews.ts";
import { rest } from "../support/clients/raw-http.ts";
import { normalizeIds } from "../support/data/normalize.ts";
import { listChanges } from "../support/data/state.ts";
import { buildMatrixData, type MatrixData, test } from "./matrix-data.ts";

describe("a call with valid arguments", () => {
  test.for(operationNames)("returns from %s exactly the data that the contract declares", async (name, { tenants }) => {
    const { own, foreign } = tenants;
    const token = await own.server.token();
    const { status, body, headers } = await rest(own.server, token, name, own.inputs[name]);
    expect(body.success, JSON.stringify(body)).toBe(true);
    expect(status).toBe(operations[name].status ?? 200);
    expect(Object.keys(body)).toEqual(operations[name].paginated ? ["success", "data", "meta"] : ["success", "data"]);
    // Parsing drops what the contract does not declare.
    expect(operations[name].data.parse(body.data)).toStrictEqual(body.data);
    if (operations[name].paginated) {
      expect(PageMeta.strict().parse(body.meta)).toStrictEqual(body.meta);
      expect(body.meta.hasMore).toBe("lastEvaluatedKey" in body.meta);
    }
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-request-id")).toMatch(/^req_/);

    // The other tenant's records differ in their ids alone: the other face must say the same of them.
    const reply = await (await foreign.server.as("MCP")).call(name, foreign.inputs[name]);
    if (name === "get_submission_reviews_summary") {
      // The tool's answer has statistics that the interface's lacks.
      expect(LabelledReviewsSummary.strict().parse(reply.data)).toStrictEqual(reply.data);
    } else {
      expect(normalizeIds(reply.data)).toEqual(normalizeIds(body.data));
    }
    expect(reply.page?.hasMore).toBe(body.meta?.hasMore);
  });

  test("returns rows from every list operation", async ({ tenants: { own } }) => {
    const caller = await own.server.as("REST");
    for (const name of operationNames.filter((operation) => operations[operation].data.type === "array")) {
      expect((await caller.call(name, own.inputs[name])).data.length, name).toBeGreaterThan(0);
    }
  });
});

describe("a change", () => {
  const changes = operationNames.filter((name) => operations[name].effect !== "read");

  test.for(changes)("by %s writes an audit entry with its action, token and request", async (name, { tenants }) => {
    // The first test has used up the own and the foreign world; this one has its own.
    const tenantData = await buildMatrixData(await tenants.own.server.other());
    const { server, inputs } = tenantData;
    const token = await server.token();
    const answer = await rest(server, token, name, inputs[name]);
    expect(answer.body.success, answer.text).toBe(true);
    const entries = await listChanges(server.app.store, server.businessId);
    const written = entries.filter(({ requestId }) => requestId === answer.headers.get("x-request-id"));
    const { tokenId } = await server.app.pipeline.identify(token);
    expect(written.map(({ action }) => action)).toContain(operations[name].audit);
    for (const entry of written) {
      expect(entry).toMatchObject({ actorType: "token", actorId: tokenId, tokenId, status: null });
      expect(entry.occurredAt).toBe(server.clock.now().toISOString());
    }
    expect(await eventTypes(tenantData)).toEqual(eventsOf[name] ?? []);
  });
});

/** The events of each change, in their order. */
const eventsOf: { readonly [Name in OperationName]?: readonly string[] } = {
  create_submission: ["submission.draft_created"],
  submit_submission: ["submission.state_changed", "submission.submitted"],
  reopen_submission: ["submission.state_changed"],
  screen_submission: ["submission.state_changed"],
  advance_submission: ["submission.state_changed"],
  eliminate_submission: ["submission.state_changed"],
  set_submission_state: ["submission.state_changed"],
  withdraw_submission: ["submission.state_changed", "submission.withdrawn"],
  update_supplement: ["supplement.response.submitted"],
  release_feedback: ["feedback.released"],
  update_program: ["program.lifecycle_status_changed"],
};

async function eventTypes({ server }: MatrixData): Promise<string[]> {
  return (await server.outbox()).map((event) => event.eventType);
}
