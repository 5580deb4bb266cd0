import type { Scope } from "../contract/access/scopes.ts";
import type { PageOf } from "../contract/definition/operation.ts";
import type { Gaps } from "../contract/definition/workflow.ts";
import { Problem, problem } from "../contract/errors.ts";
import {
  type EffectOf,
  type Input,
  type OperationName,
  type Result,
  type WorkflowName,
  workflows,
} from "../contract/index.ts";
import type { SubmissionState } from "../contract/submissions.ts";
import { waitForOthers } from "../lib/node/event-loop.ts";
import type { AuditNarrowing } from "../store/port.ts";
import type { Candidates, TextSearch } from "../store/search/candidates.ts";
import { requireScopes } from "./steps/authorize.ts";

export type { Candidates } from "../store/search/candidates.ts";

/** Sends a progress notification to a client that requested it. */
export type ReportProgress = (progress: number, message: string) => Promise<void>;

type ReadName = { [Name in OperationName]: EffectOf<Name> extends "read" ? Name : never }[OperationName];
type ListedRow<Name extends OperationName> =
  Result<Name> extends PageOf<infer Row> ? Row : Result<Name> extends readonly (infer Row)[] ? Row : never;

/** Reads that return rows. */
export type ListName = { [Name in ReadName]: ListedRow<Name> extends never ? never : Name }[ReadName];
/** Reads that return one record. */
export type RecordName = Exclude<ReadName, ListName>;
type Filter<Name extends ListName> = Omit<Input<Name>, "limit" | "lastEvaluatedKey" | "cursor">;
type Given<T> = { readonly [K in keyof T]: T[K] };

/**
 * The records that one workflow call reads: of the embedded service or of a remote one, redacted for the caller. The
 * call is authenticated, recorded and (except by a remote service) counted once, however much it reads.
 */
export interface RecordSource {
  /** ISO time of the call. */
  readonly now: string;
  /**
   * Reads every row of a list that matches a filter, in the list's order, in batches with only these fields.
   * @param narrowing - names the rows that are wanted, which saves reading the others; rows named by their ids come last.
   *   A remote service returns all the same
   * @throws Problem `insufficient_scope`, `not_found`; `unavailable` once the caller has gone
   */
  list<Name extends ListName, Field extends keyof ListedRow<Name> & string>(
    name: Name,
    filter: Given<Filter<Name>>,
    fields: readonly Field[],
    narrowing?: NarrowingOf<Name>,
  ): AsyncIterable<readonly Pick<ListedRow<Name>, Field>[]>;
  /**
   * Finds rows of a list that may match a search, so that others need not be read. Absent if the service has no index.
   * @returns undefined while the index is being filled
   * @throws Problem as `list`
   */
  readonly findCandidates?: FindCandidates;
  /** @throws Problem as `list` */
  get<Name extends RecordName>(name: Name, input: Given<Input<Name>>): Promise<Result<Name>>;
  /** Does work that reads a part of the answer. If the token may not, notes the omission and returns `undefined`. */
  ifPermitted<R>(what: string, work: () => Promise<R>): Promise<R | undefined>;
  /**
   * Requires the scope of a sensitive field: without it, records hide the field as if it had no value.
   * @throws Problem `insufficient_scope`
   */
  requireScope(scope: Scope): void;
  /** Returns the first rows of a list of the answer, and notes how many there are if they are more. */
  truncate<Row>(list: string, rows: readonly Row[], limit: number, of?: number): Row[];
}

/** Computes the answer of a workflow. */
export type WorkflowRunner<Name extends WorkflowName> = (
  source: RecordSource,
  input: Input<Name>,
) => Promise<Omit<Result<Name>, keyof Gaps>>;
export type WorkflowRunners = { readonly [Name in WorkflowName]: WorkflowRunner<Name> };

/** Lists whose rows are indexed by their words. */
export type SearchedList = "list_submissions" | "list_persons" | "list_reviewers";
export type RecordSearch = Omit<TextSearch, "includesPersonalAnswers">;
/** The rows with some ids. */
export interface RowNarrowing {
  readonly ids: Iterable<string>;
  /** True if there are more such rows than ids. */
  readonly hasMore?: boolean;
}
/**
 * Of submissions, also those in some states, which are read in this order. One that changes from a later state to an
 * earlier one during the reading may be missed.
 */
export interface SubmissionNarrowing extends RowNarrowing {
  readonly states?: readonly SubmissionState[];
}
type NarrowingOf<Name> = Name extends "list_audit_entries"
  ? AuditNarrowing
  : Name extends "list_submissions"
    ? SubmissionNarrowing
    : Name extends SearchedList
      ? RowNarrowing
      : never;
export type Narrowing = AuditNarrowing | SubmissionNarrowing;
type FindCandidates = (name: SearchedList, search: RecordSearch) => Promise<Candidates | undefined>;

type Row = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, unknown>>;

/** Reads records for a workflow; one for the embedded service and one for a remote service. */
export interface RecordReader {
  /** The scopes by which records are redacted. */
  readonly scopes: ReadonlySet<Scope>;
  /** Reads a list in batches, with at least these fields. Returns whether it was read to its end. */
  list(
    name: ListName,
    filter: Values,
    fields: readonly string[],
    narrowing?: Narrowing,
  ): AsyncGenerator<readonly Row[], boolean>;
  readonly findCandidates?: FindCandidates;
  get(name: RecordName, input: Values): Promise<unknown>;
}

export interface WorkflowCall {
  readonly name: WorkflowName;
  readonly input: Values;
  readonly now: Date;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ReportProgress | undefined;
}

type AnyRunner = (source: RecordSource, input: Values) => Promise<object>;

/** Runs a workflow on a reader, and adds to its answer what it lacks. */
export async function runOnReader(runners: WorkflowRunners, call: WorkflowCall, reader: RecordReader): Promise<Values> {
  const source = new Source(call, reader);
  const data = await (runners[call.name] as AnyRunner)(source, call.input);
  return { ...data, ...source.getGaps() };
}

class Source implements RecordSource {
  readonly now: string;
  readonly findCandidates?: FindCandidates;
  readonly #call: WorkflowCall;
  readonly #reader: RecordReader;
  readonly #omitted: NonNullable<Gaps["omitted"]> = [];
  readonly #truncated: NonNullable<Gaps["truncated"]> = [];
  readonly #incomplete: NonNullable<Gaps["incomplete"]> = [];
  #rowsRead = 0;

  constructor(call: WorkflowCall, reader: RecordReader) {
    this.now = call.now.toISOString();
    this.#call = call;
    this.#reader = reader;
    const { findCandidates } = reader;
    if (!findCandidates) return;
    this.findCandidates = (name, search) => {
      this.#requireDeclared(name);
      return findCandidates(name, search);
    };
  }

  async *list<Name extends ListName, Field extends keyof ListedRow<Name> & string>(
    name: Name,
    filter: Given<Filter<Name>>,
    fields: readonly Field[],
    narrowing?: Narrowing,
  ): AsyncIterable<readonly Pick<ListedRow<Name>, Field>[]> {
    this.#requireDeclared(name);
    let rows = 0;
    const batches = this.#reader.list(name, filter, fields, narrowing);
    for (;;) {
      this.#requireCaller();
      const { value, done } = await batches.next();
      if (done) {
        if (!value) this.#incomplete.push({ operation: name, rows });
        return;
      }
      rows += value.length;
      this.#rowsRead += value.length;
      yield pickFields(value, fields) as unknown as readonly Pick<ListedRow<Name>, Field>[];
      await this.#call.progress?.(this.#rowsRead, `${this.#rowsRead} records read`);
      // Batches of a local database come without a pause in which other callers could be answered.
      await waitForOthers();
    }
  }

  async get<Name extends RecordName>(name: Name, input: Given<Input<Name>>): Promise<Result<Name>> {
    this.#requireDeclared(name);
    this.#requireCaller();
    return (await this.#reader.get(name, input)) as Result<Name>;
  }

  async ifPermitted<R>(what: string, work: () => Promise<R>): Promise<R | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "insufficient_scope") throw error;
      const { requiredScopes } = error.details as { requiredScopes: readonly string[] };
      const omission = { what, scope: requiredScopes.join(" ") };
      if (!this.#omitted.some((other) => other.what === what)) this.#omitted.push(omission);
      return undefined;
    }
  }

  requireScope(scope: Scope): void {
    requireScopes(this.#reader, [scope]);
  }

  truncate<Shown>(list: string, rows: readonly Shown[], limit: number, of = rows.length): Shown[] {
    const shown = rows.slice(0, limit);
    if (shown.length < of) this.#truncated.push({ list, shown: shown.length, of });
    return shown;
  }

  getGaps(): Gaps {
    const gaps = { omitted: this.#omitted, truncated: this.#truncated, incomplete: this.#incomplete };
    return Object.fromEntries(Object.entries(gaps).filter(([, list]) => list.length > 0));
  }

  #requireCaller(): void {
    if (this.#call.signal?.aborted) throw problem("unavailable", undefined, "The call was cancelled.");
  }

  #requireDeclared(name: OperationName): void {
    if (workflows[this.#call.name].reads.includes(name)) return;
    throw new Error(`${this.#call.name} does not declare that it reads ${name}`);
  }
}

/** Returns rows with only these fields: a reader may need others to read on. */
function pickFields(rows: readonly Row[], fields: readonly string[]): Row[] {
  return rows.map((row) => {
    const picked: Record<string, unknown> = {};
    for (const field of fields) picked[field] = row[field];
    return picked;
  });
}
