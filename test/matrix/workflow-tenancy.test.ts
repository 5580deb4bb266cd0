import { describe, expect } from "vitest";
import { type OperationName, operations, type WorkflowName, workflowNames } from "../../src/contract/index.ts";
import { createId } from "../../src/lib/ids.ts";
import { idsIn, normalizeIds } from "../support/data/normalize.ts";
import { readState } from "../support/data/state.ts";
import type { TestCaller } from "../support/servers/test-server.ts";
import { type Arguments, type MatrixData, test } from "./matrix-data.ts";

/** Names of a workflow's arguments that hold ids. */
function listIdArguments(name: WorkflowName): string[] {
  const { params, queryObject } = operations[name];
  const names = [params, queryObject].flatMap((part) => Object.keys(part?.shape ?? {}));
  return names.filter((key) => /Ids?$/.test(key));
}

/** The ids of a tenant, by the arguments that take them. */
function readIds({ inputs }: MatrixData): Arguments {
  const { submissionId } = inputs.get_submission;
  return { ...inputs.update_round, submissionId, recordId: submissionId, submissionIds: [submissionId] };
}

/** Arguments of a workflow that name records of one tenant, as few as possible beside one of another. */
function createArguments(name: WorkflowName, own: Arguments, replaced: Arguments = {}): Arguments {
  const required = Object.keys(operations[name].params.shape);
  const given = name === "list_reviewer_candidates" ? [...required, "submissionIds"] : required;
  const more = name === "search_records" ? { words: "open" } : {};
  return { ...more, ...Object.fromEntries(given.map((key) => [key, own[key]])), ...replaced };
}

/** Returns the answer or the refusal, with all ids alike. */
function ask(caller: TestCaller, name: WorkflowName, input: Arguments): Promise<unknown> {
  return caller.call(name as string as OperationName, input).then(
    (reply) => normalizeIds(reply),
    (problem) => normalizeIds({ message: problem.message, details: problem.details }),
  );
}

const cases = workflowNames.flatMap((name) => listIdArguments(name).map((argument) => [name, argument] as const));

describe("a workflow", () => {
  test.for(cases)("%s treats another tenant's %s like an unknown one", async ([name, argument], { tenants }) => {
    const { own, foreign } = tenants;
    const caller = await own.server.as("MCP");
    const foreignId = [readIds(foreign)[argument]].flat()[0] as string;
    const unknownId = createId(foreignId.slice(0, 3));
    const askWith = (id: string) => {
      const value = argument.endsWith("Ids") ? [id] : id;
      return ask(caller, name, createArguments(name, readIds(own), { [argument]: value }));
    };
    expect(await askWith(foreignId)).toEqual(await askWith(unknownId));
  });

  test.for(workflowNames)("%s names no record of another tenant", async (name, { tenants: { own, foreign } }) => {
    const foreignIds = idsIn(JSON.stringify(await readState(own.server.app.store, foreign.server.businessId)));
    const caller = await own.server.as("MCP");
    const answer = await caller.call(name as string as OperationName, createArguments(name, readIds(own)));
    expect(idsIn(JSON.stringify(answer)).size).toBeGreaterThan(0);
    expect([...idsIn(JSON.stringify(answer)).intersection(foreignIds)]).toEqual([]);
  });
});
