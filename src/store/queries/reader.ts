import type { KeyObject } from "node:crypto";
import type { AuditEntry } from "../../contract/audit.ts";
import type { PageOf } from "../../contract/definition/operation.ts";
import type { LoggedEvent } from "../../contract/event-log.ts";
import {
  auditSource,
  changeSource,
  createSource,
  type Db,
  eventSource,
  getPartialSource,
  type PreparedStatement,
  type Source,
  type Statements,
} from "../database.ts";
import type {
  AuditFilter,
  AuditNarrowing,
  ChangeEntry,
  Column,
  FindOptions,
  ListOrder,
  PageRequest,
  PageScope,
  Query,
  Reader,
} from "../port.ts";
import type { EventFilter, LogEntry } from "../queues/event-log.ts";
import type { Candidates, SearchedTable, TextSearch } from "../search/candidates.ts";
import { findSearchCandidates } from "../search/search-index.ts";
import type { Row, TableName } from "../tables.ts";
import { createCursors, type Position } from "./cursor.ts";
import { type AnyQuery, type Sort, selectMatching, selectStep } from "./query.ts";

/** The parts that readers and transactions of one store share. */
export interface ReaderDeps {
  readonly statements: Statements;
  readonly cursorKey: KeyObject;
  /** Selects the number of a tenant's last commit. */
  readonly lastCommitNumber: PreparedStatement;
}

const listOrders: Readonly<Record<ListOrder, Sort>> = {
  newest: { column: "createdAt", descending: true },
  changed: { column: "updatedAt", descending: false },
};

const scanStep = 200;

/** Reads of one tenant, on the database's reading side or inside a transaction. */
export class SqlReader implements Reader {
  readonly businessId: string;
  protected readonly db: Db;
  protected readonly shared: ReaderDeps;
  /** The columns of a page's rows; all if undefined. */
  readonly #columns: readonly string[] | undefined;
  /** The ids of the rows that a page may hold; all if undefined. */
  readonly #ids: readonly string[] | undefined;

  constructor(db: Db, shared: ReaderDeps, businessId: string, { columns, ids }: PageScope = {}) {
    this.db = db;
    this.shared = shared;
    this.businessId = businessId;
    this.#columns = columns;
    this.#ids = ids;
  }

  get<T extends TableName>(table: T, id: string): Promise<Row<T> | undefined> {
    return this.#get(createSource(table), id);
  }

  getAudit(auditId: string): Promise<AuditEntry | undefined> {
    return this.#get(auditSource, auditId);
  }

  find<T extends TableName>(table: T, query: Query<T>, options: FindOptions<T>): Promise<Row<T>[]>;
  find<T extends TableName, C extends Column<T>>(
    table: T,
    query: Query<T>,
    options: FindOptions<T>,
    columns: readonly C[],
  ): Promise<Pick<Row<T>, C>[]>;
  find<T extends TableName>(
    table: T,
    query: Query<T>,
    { limit, orderBy, descending = false }: FindOptions<T>,
    columns?: readonly string[],
  ): Promise<Row<T>[]> {
    const source = columns ? getPartialSource(table, columns) : createSource(table);
    return this.#rows(source, query, { column: orderBy ?? "createdAt", descending }, limit);
  }

  scan<T extends TableName>(table: T, query: Query<T>): AsyncIterable<Row<T>>;
  scan<T extends TableName, C extends Column<T>>(
    table: T,
    query: Query<T>,
    columns: readonly C[],
  ): AsyncIterable<Pick<Row<T>, C>>;
  async *scan<T extends TableName>(
    table: T,
    query: Query<T>,
    columns?: readonly string[],
  ): AsyncGenerator<Row<T>, void, undefined> {
    // Every list's index has this order.
    const sort = { column: "createdAt", descending: false };
    const source = columns ? getPartialSource(table, [...columns, sort.column]) : createSource(table);
    let after: Position | undefined;
    do {
      const rows = await this.#rows(source, query, sort, scanStep, after);
      yield* rows;
      const last = rows.length === scanStep ? rows.at(-1) : undefined;
      after = last && getPosition(source, sort, last);
    } while (after);
  }

  page<T extends TableName>(
    table: T,
    query: Query<T>,
    order: ListOrder,
    page: PageRequest,
    wanted?: (row: Row<T>) => boolean,
  ): Promise<PageOf<Row<T>>> {
    const sort = listOrders[order];
    const source = this.#columns ? getPartialSource(table, [...this.#columns, sort.column]) : createSource(table);
    return this.#page(source, this.#ids ? { ...query, ids: this.#ids } : query, sort, page, wanted);
  }

  findCandidates(table: SearchedTable, search: TextSearch, limit: number): Promise<Candidates | undefined> {
    return findSearchCandidates(this.db, this.businessId, table, search, limit);
  }

  pageAudit(
    { submissionId, programId, action, entityType }: AuditFilter,
    page: PageRequest,
    { entityId, actorId, tokenId, from, to }: AuditNarrowing = {},
  ): Promise<PageOf<AuditEntry>> {
    const filter = { submissionId, programId, action, entityType, actorId, tokenId };
    const occurredAt = from === undefined && to === undefined ? undefined : { gte: from, lte: to };
    const changesOnly = action === undefined;
    const sort = { column: "occurredAt", descending: true };
    if (entityId === undefined) {
      return this.#page(auditSource, { where: { ...filter, occurredAt }, changesOnly }, sort, page);
    }
    // A record has few changes. They are filtered here, so that no planner prefers the index of another filter.
    const isWanted = (entry: AuditEntry) =>
      Object.entries(filter).every(
        ([name, value]) => value === undefined || entry[name as keyof typeof filter] === value,
      );
    return this.#page(auditSource, { where: { entityId, occurredAt }, changesOnly }, sort, page, isWanted);
  }

  findTokenNames(tokenIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#findNames("tokens", "tokenId", tokenIds);
  }

  findUserNames(userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#findNames("users", "id", userIds);
  }

  async #findNames(table: string, id: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await this.db
      .selectFrom(table)
      .select([id, "name"])
      .where("businessId", "=", this.businessId)
      .where(id, "in", [...ids])
      .execute();
    return new Map(rows.map((row) => [String(row[id]), String(row["name"])]));
  }

  async lastCommitNumber(): Promise<number> {
    const { rows } = await this.shared.lastCommitNumber(this.db, this.businessId);
    return Number(rows[0]?.[0] ?? 0);
  }

  changesAfter(commitNumber: number, limit: number): Promise<ChangeEntry[]> {
    return this.#rows(
      changeSource,
      { where: { commitNumber: { gt: commitNumber } } },
      { column: "commitNumber", descending: false },
      limit,
    );
  }

  async getEvent(eventId: string): Promise<LoggedEvent | undefined> {
    const entry = await this.#get(eventSource, eventId);
    return entry && toLoggedEvent(entry);
  }

  async pageEvents({ since, type, submissionId, kinds }: EventFilter, page: PageRequest): Promise<PageOf<LoggedEvent>> {
    const at = since === undefined ? undefined : { gte: since };
    const query = { where: { submissionId, eventType: type, kind: kinds, at } };
    const { rows, ...rest } = await this.#page(eventSource, query, { column: "at", descending: !at }, page);
    return { rows: rows.map(toLoggedEvent), ...rest };
  }

  eventsAfter(commitNumber: number, limit: number): Promise<LogEntry[]> {
    return this.#rows(
      eventSource,
      { where: { commitNumber: { gt: commitNumber } } },
      { column: "commitNumber", descending: false },
      limit,
    );
  }

  async count<T extends TableName>(table: T, query: Query<T>): Promise<number> {
    const select = selectMatching(this.db, createSource(table), this.businessId, query as AnyQuery);
    const { n } = await select.select((eb) => eb.fn.countAll().as("n")).executeTakeFirstOrThrow();
    return Number(n);
  }

  async countBy<T extends TableName>(table: T, column: string, query: Query<T>): Promise<Map<string, number>> {
    const source = createSource(table);
    const counts = await selectMatching(this.db, source, this.businessId, query as AnyQuery)
      .where(`t.${column}`, "is not", null)
      .select([`t.${column} as value`, (eb) => eb.fn.countAll().as("n")])
      .groupBy(`t.${column}`)
      .execute();
    return new Map(counts.map(({ value, n }) => [String(source.codec.decodeValue(column, value)), Number(n)] as const));
  }

  async #get<R>(source: Source<R>, id: string): Promise<R | undefined> {
    const { rows } = await this.shared.statements.get(source)(this.db, this.businessId, id);
    return rows[0] && source.codec.decodeTuple(rows[0]);
  }

  async #page<R>(
    source: Source<R>,
    query: object,
    sort: Sort,
    page: PageRequest,
    wanted: (row: R) => boolean = () => true,
  ): Promise<PageOf<R>> {
    const { limit, lastEvaluatedKey } = page;
    const cursors = createCursors(this.shared.cursorKey, [this.businessId, source.name, sort.column, query]);
    let after = lastEvaluatedKey === undefined ? undefined : cursors.decode(lastEvaluatedKey);
    const found: R[] = [];
    for (let more = true; more && found.length <= limit; ) {
      const step = await this.#rows(source, query, sort, limit + 1, after);
      found.push(...step.filter(wanted));
      const last = step.length > limit ? step.at(-1) : undefined;
      more = last !== undefined;
      after = last && getPosition(source, sort, last);
    }
    const rows = found.slice(0, limit);
    const cursorAfter = (count: number) => cursors.encode(getPosition(source, sort, rows[count - 1] as R));
    return { rows, cursorAfter, ...(found.length > limit ? { lastEvaluatedKey: cursorAfter(limit) } : {}) };
  }

  async #rows<R>(
    source: Source<R>,
    query: object,
    sort: Sort,
    limit: number,
    after?: readonly unknown[],
  ): Promise<R[]> {
    const step = selectStep(this.db, source, this.businessId, query, { sort, limit, after });
    const { rows } = await this.shared.statements.runForTuples(this.db, step);
    return rows.map((row) => source.codec.decodeTuple(row));
  }
}

function toLoggedEvent({ at, webhook, payload }: LogEntry): LoggedEvent {
  const { data, ...event } = payload;
  return { ...event, ...(webhook === null ? {} : { receivedAt: at, webhook }), data };
}

function getPosition<R>({ key }: Source<R>, { column }: Sort, row: R): Position {
  const values = row as Readonly<Record<string, string | number>>;
  const getValue = (name: string) => values[name] as string | number;
  return [getValue(column), ...key.map(getValue)];
}
