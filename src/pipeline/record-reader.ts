import { LRUCache } from "lru-cache";
import * as z from "zod";
import { type Operation, type PageOf, splitInput } from "../contract/definition/operation.ts";
import { operations } from "../contract/index.ts";
import type { AuditNarrowing, PageScope } from "../store/port.ts";
import type { SearchedTable } from "../store/search/candidates.ts";
import type { PreparedCall, RunnerDeps } from "./call.ts";
import { canSeePersonalAnswers } from "./personal-answers.ts";
import type {
  ListName,
  Narrowing,
  RecordName,
  RecordReader,
  RecordSearch,
  SearchedList,
  SubmissionNarrowing,
} from "./record-source.ts";
import { authorize, authorizeInput } from "./steps/authorize.ts";
import { getVisibleScopes, redactResult } from "./steps/redact.ts";
import { type AnyHandler, createHandlerContext } from "./steps/run-handler.ts";
import { validateInput } from "./steps/validate.ts";

/** Rows read at a time: enough that a query costs little of it, few enough that other callers hardly wait. */
const batchRows = 250;
/** The same while several organisations use the process. */
const sharedBatchRows = 50;
/** Most records of one kind that a search compares: more than it can show. */
const maxCandidates = 1_000;

type Row = Readonly<Record<string, unknown>>;

const tableOfList: Readonly<Record<SearchedList, SearchedTable>> = {
  list_submissions: "submissions",
  list_persons: "persons",
  list_reviewers: "reviewers",
};

/** Creates a reader that reads through the service's own handlers, one batch after the other. */
export function createRecordReader(deps: RunnerDeps, prepared: PreparedCall): RecordReader {
  const { store } = deps;
  const { caller, call } = prepared;
  const { businessId } = caller;
  const context = createHandlerContext(deps, prepared);
  const getBatchRows = () => (deps.isShared() ? sharedBatchRows : batchRows);

  function prepareInput(operation: Operation, given: Row) {
    authorize(caller, operation);
    const input = validateInput(operation, splitInput(operation, given));
    authorizeInput(caller, operation, input);
    return input;
  }

  async function* readRows(
    name: ListName,
    filter: Row,
    fields: readonly string[],
    scope: PageScope,
    narrowing?: AuditNarrowing,
  ) {
    const operation = operations[name];
    const input = prepareInput(operation, filter);
    const shown = pickFields(name, fields);
    const handler = deps.handlers[name] as AnyHandler;
    const rows = await store.listReader(businessId, { ...scope, columns: listColumns(operation, fields) });
    const reading = { ...context, store: rows, narrowing };
    let lastEvaluatedKey: string | undefined;
    do {
      const page = operation.paginated ? { limit: getBatchRows(), lastEvaluatedKey } : {};
      const result = await handler(reading, { ...input, ...page });
      const { rows, ...rest } = operation.paginated
        ? (result as PageOf<unknown>)
        : { rows: result as readonly unknown[], lastEvaluatedKey: undefined };
      lastEvaluatedKey = rest.lastEvaluatedKey;
      yield (await redactResult(store, { operation: shown, caller, call }, rows)) as readonly Row[];
    } while (lastEvaluatedKey !== undefined);
  }

  async function* list(name: ListName, filter: Row, fields: readonly string[], narrowing?: Narrowing) {
    if (!narrowing || !("ids" in narrowing)) {
      yield* readRows(name, filter, fields, {}, narrowing);
      return true;
    }
    const withId = narrowing.states ? [...new Set([...fields, "submissionId"])] : fields;
    const read: ReadRows = (more, scope) => readRows(name, { ...filter, ...more }, withId, scope);
    yield* readNarrowed(read, narrowing, getBatchRows);
    return narrowing.hasMore !== true;
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

  async function get(name: RecordName, given: Row) {
    const operation = operations[name];
    const handler = deps.handlers[name] as AnyHandler;
    const result = await handler({ ...context, store: store.reader(businessId) }, prepareInput(operation, given));
    return redactResult(store, { operation, caller, call }, result);
  }

  return { scopes: getVisibleScopes(caller, call), list, get, findCandidates };
}

/** Reads the rows that match further filters, and are of a scope. */
type ReadRows = (filter: Row, scope: PageScope) => AsyncIterable<readonly Row[]>;

/** Reads the submissions in some states, one after the other, and then the rows with some ids that were not among them. */
async function* readNarrowed(
  read: ReadRows,
  { ids, states = [] }: SubmissionNarrowing,
  getBatchRows: () => number,
): AsyncGenerator<readonly Row[]> {
  const seen = new Set<unknown>();
  for (const state of states) {
    for await (const rows of read({ state }, {})) {
      // A submission may have moved on to a state that is read later.
      const fresh = rows.filter(({ submissionId }) => !seen.has(submissionId));
      for (const { submissionId } of fresh) seen.add(submissionId);
      yield fresh;
    }
  }
  // In pieces, because each page of a longer list of ids would look all of them up.
  for (const left = [...new Set(ids).difference(seen)]; left.length > 0; ) {
    yield* read({}, { ids: left.splice(0, getBatchRows()) });
  }
}

const pickedOperations = new LRUCache<string, Operation>({ max: 200 });

/** Returns a list with only some fields of its rows. It is cached, because the redaction of its schema is compiled. */
function pickFields(name: ListName, fields: readonly string[]): Operation {
  const key = `${name} ${fields.join(" ")}`;
  const known = pickedOperations.get(key);
  if (known) return known;
  const { shape } = (operations[name].data as unknown as z.ZodArray<z.ZodObject>).element;
  const row = z.object(Object.fromEntries(fields.map((field) => [field, shape[field] as z.ZodType])));
  const picked: Operation = { ...operations[name], data: z.array(row) };
  pickedOperations.set(key, picked);
  return picked;
}

/** The columns that the fields of a list's rows need: answers to a form are redacted by the form that the record names. */
function listColumns({ paginated }: Operation, fields: readonly string[]): readonly string[] | undefined {
  if (!paginated) return undefined;
  return fields.includes("fields") ? [...fields, "schemaId", "schemaVersion"] : fields;
}
