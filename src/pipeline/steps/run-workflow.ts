import * as z from "zod";
import type { PageOf } from "../../contract/definition/operation.ts";
import { type Operation, splitInput } from "../../contract/definition/operation.ts";
import { operations, type WorkflowName } from "../../contract/index.ts";
import type { SearchedTable } from "../../store/search/candidates.ts";
import type { Outcome, PreparedCall, RunnerDeps } from "../call.ts";
import { canSeePersonalAnswers } from "../personal-answers.ts";
import {
  type ListName,
  type Narrowing,
  pickRowSchema,
  type RecordName,
  type RecordReader,
  type RecordSearch,
  runOnReader,
  type SearchedList,
} from "../record-source.ts";
import { authorize, authorizeInput } from "./authorize.ts";
import { getVisibleScopes, redactResult } from "./redact.ts";
import { type AnyHandler, createHandlerContext } from "./run-handler.ts";
import { validateInput } from "./validate.ts";

/** Rows read at a time: enough that a query costs little of it, few enough that other callers hardly wait. */
const batchRows = 250;
/** The same while several organisations use the process. */
const sharedBatchRows = 50;
/** Most records of one kind that a search compares: more than it can show. */
const maxCandidates = 1_000;

const tableOfList: Readonly<Record<SearchedList, SearchedTable>> = {
  list_submissions: "submissions",
  list_persons: "persons",
  list_reviewers: "reviewers",
};

/** Runs a workflow on the tenant's records, as far as the caller's scopes show them. */
export async function runWorkflow(deps: RunnerDeps, prepared: PreparedCall): Promise<Outcome> {
  const { input, now, call } = prepared;
  const name = prepared.name as WorkflowName;
  const { signal, progress } = call;
  const reader = createEmbeddedReader(deps, prepared);
  const result = await runOnReader(deps.workflows, { name, input, now, signal, progress }, reader);
  return { result, replayed: false, changed: false };
}

/** Reads through the service's own handlers, one batch after the other. */
function createEmbeddedReader(deps: RunnerDeps, prepared: PreparedCall): RecordReader {
  const { store } = deps;
  const { caller, call } = prepared;
  const { businessId } = caller;
  const context = createHandlerContext(deps, prepared);

  function prepareInput(operation: Operation, given: Readonly<Record<string, unknown>>) {
    authorize(caller, operation);
    const input = validateInput(operation, splitInput(operation, given));
    authorizeInput(caller, operation, input);
    return input;
  }

  async function* list(
    name: ListName,
    filter: Readonly<Record<string, unknown>>,
    fields: readonly string[],
    narrowing?: Narrowing,
  ) {
    const operation = operations[name];
    const input = prepareInput(operation, filter);
    const shown = { ...operation, data: z.array(pickRowSchema(name, fields)) };
    const columns = listColumns(operation, fields);
    const handler = deps.handlers[name] as AnyHandler;
    const [candidates, entries] = narrowing && "ids" in narrowing ? [narrowing] : [undefined, narrowing];
    const rows = await store.listReader(businessId, { columns, ids: candidates?.ids });
    const reading = { ...context, store: rows, narrowing: entries };
    let lastEvaluatedKey: string | undefined;
    do {
      const page = operation.paginated
        ? { limit: deps.isShared() ? sharedBatchRows : batchRows, lastEvaluatedKey }
        : {};
      const result = await handler(reading, { ...input, ...page });
      const { rows, ...rest } = operation.paginated
        ? (result as PageOf<unknown>)
        : { rows: result as readonly unknown[], lastEvaluatedKey: undefined };
      lastEvaluatedKey = rest.lastEvaluatedKey;
      yield (await redactResult(store, { operation: shown, caller, call }, rows)) as readonly Record<string, unknown>[];
    } while (lastEvaluatedKey !== undefined);
    return !candidates?.hasMore;
  }

  async function findCandidates(name: SearchedList, search: RecordSearch) {
    authorize(caller, operations[name]);
    const includesPersonalAnswers = canSeePersonalAnswers({
      privacy: call.privacy,
      scopes: getVisibleScopes(caller, call),
    });
    const full = { ...search, includesPersonalAnswers };
    return (await store.listReader(businessId)).findCandidates(tableOfList[name], full, maxCandidates);
  }

  async function get(name: RecordName, given: Readonly<Record<string, unknown>>) {
    const operation = operations[name];
    const handler = deps.handlers[name] as AnyHandler;
    const result = await handler({ ...context, store: store.reader(businessId) }, prepareInput(operation, given));
    return redactResult(store, { operation, caller, call }, result);
  }

  return { scopes: getVisibleScopes(caller, call), list, get, findCandidates };
}

/** The columns that the fields of a list's rows need: answers to a form are redacted by the form that the record names. */
function listColumns({ paginated }: Operation, fields: readonly string[]): readonly string[] | undefined {
  if (!paginated) return undefined;
  return fields.includes("fields") ? [...fields, "schemaId", "schemaVersion"] : fields;
}
