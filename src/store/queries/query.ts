import { type SelectQueryBuilder, sql } from "kysely";
import { splitSearch } from "../../lib/search-words.ts";
import type { Database, Db, Source } from "../database.ts";
import { getAdapter } from "../engine.ts";

/** A query on any table. `port.ts` types it for each table. */
export interface AnyQuery {
  readonly where?: Readonly<Record<string, unknown>>;
  readonly has?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly search?: { readonly columns: readonly string[]; readonly text: string } | undefined;
  /** Selects only rows with these ids. */
  readonly ids?: readonly string[] | undefined;
  readonly among?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** Selects only audit entries of changes. */
  readonly changesOnly?: boolean | undefined;
}

export interface Sort {
  readonly column: string;
  readonly descending: boolean;
}

export interface SortStep {
  readonly sort: Sort;
  readonly limit: number;
  /** The last row of the previous step: its sort value, then its key. */
  readonly after?: readonly unknown[] | undefined;
}

type Select = SelectQueryBuilder<Database, string, object>;

/** Selects a source's rows of one tenant that match a query. The row's alias is `t`. */
export function selectMatching(db: Db, source: Source<unknown>, businessId: string, query: AnyQuery): Select {
  const members = listMembers(query);
  const [first, ...others] = query.ids || query.among ? [undefined, ...members] : members;
  let select: Select;
  if (query.ids) {
    // The ids come first in the join, so that each row is found by its key.
    select = (db.selectFrom(getAdapter(db).listValues(query.ids).as("wanted")) as unknown as Select)
      .crossJoin(`${source.name} as t`)
      .where("t.businessId", "=", businessId)
      .whereRef(`t.${source.key[0]}`, "=", "wanted.value");
  } else if (query.among) {
    select = selectAmong(db, source, query.among).where("t.businessId", "=", businessId);
  } else if (first) {
    // The members index has the order of the list, so it comes first in the join.
    select = (db.selectFrom("members as m") as Select)
      .crossJoin(`${source.name} as t`)
      .where("m.businessId", "=", businessId)
      .where("m.tableName", "=", source.name)
      .where("m.member", "=", first[0])
      .where("m.value", "=", first[1])
      .whereRef("t.businessId", "=", "m.businessId")
      .whereRef(`t.${source.key[0]}`, "=", "m.id");
  } else {
    select = (db.selectFrom(`${source.name} as t`) as Select).where("t.businessId", "=", businessId);
  }
  for (const [member, value] of others.filter((other) => other !== undefined))
    select = select.where(hasMember(db, source, member, value));
  for (const [member, values] of listAnyMembers(query)) {
    select = select.where(hasAnyMember(db, source, businessId, member, values));
  }
  for (const [column, condition] of Object.entries(query.where ?? {})) {
    select = restrictColumn(select, `t.${column}`, condition);
  }
  // A literal, because a partial index over changes is used only if the query repeats its condition.
  if (query.changesOnly) select = select.where(sql<boolean>`${sql.ref("t.kind")} = ${sql.lit("change")}`);
  return query.search ? select.where(matchContaining(db, query.search)) : select;
}

// The wanted values come first in the join, so that the rows of each are found by the index of its first column.
function selectAmong(db: Db, source: Source<unknown>, wanted: readonly Readonly<Record<string, unknown>>[]): Select {
  const columns = Object.keys(wanted[0] ?? {});
  const rows = wanted.map((row) => sql`(${sql.join(columns.map((column) => toStorable(row[column])))})`);
  const values = sql`(values ${sql.join(rows)})`.as("wanted");
  let select = db.selectFrom(values as never).crossJoin(`${source.name} as t`) as unknown as Select;
  for (const [index, column] of columns.entries()) {
    // Both databases give the columns of a list of values these names.
    select = select.whereRef(`t.${column}`, "=", `wanted.column${index + 1}`);
  }
  return select;
}

/** Columns with few values, each of which has an index in the order of the list. */
const sorted: Readonly<Record<string, string>> = { assignments: "status" };

/** Selects one step through the matching rows in an order, as whole stored rows. */
export function selectStep(
  db: Db,
  source: Source<unknown>,
  businessId: string,
  query: AnyQuery,
  step: SortStep,
): Select {
  const column = sorted[source.name] ?? "";
  const values = query.where?.[column];
  if (!Array.isArray(values) || values.length < 2 || step.sort.column !== "createdAt") {
    return stepOfOne(db, source, businessId, query, step);
  }
  // The first rows of each value are merged, so each branch reads its index in order and stops early.
  const [first, ...others] = values.map((value) => {
    const own = stepOfOne(db, source, businessId, { ...query, where: { ...query.where, [column]: value } }, step);
    return db.selectFrom(own.as("t")).selectAll();
  }) as [Select, ...Select[]];
  let all = first;
  for (const other of others) all = all.unionAll(other);
  for (const key of [step.sort.column, ...source.key]) all = all.orderBy(key, step.sort.descending ? "desc" : "asc");
  return all.limit(step.limit);
}

function stepOfOne(db: Db, source: Source<unknown>, businessId: string, query: AnyQuery, step: SortStep): Select {
  const { sort, limit, after } = step;
  const byMember = sort.column === "createdAt" && !query.ids && !query.among && listMembers(query).length > 0;
  const [id, ...revision] = source.key.map((column) => `t.${column}`);
  const keys = byMember ? ["m.createdAt", "m.id", ...revision] : [`t.${sort.column}`, id as string, ...revision];
  const { where = {} } = query;
  const rest = after
    ? { ...query, where: { ...where, [sort.column]: createAheadCondition(where[sort.column], sort) } }
    : query;
  let select = selectMatching(db, source, businessId, rest).select(source.codec.names.map((name) => `t.${name}`));
  for (const key of keys) select = select.orderBy(key, sort.descending ? "desc" : "asc");
  if (after) {
    const beyond = sql.raw(sort.descending ? "<" : ">");
    const values = sql.join(after.map((value) => sql`${value}`));
    select = select.where(sql<boolean>`(${sql.join(keys.map((key) => sql.ref(key)))}) ${beyond} (${values})`);
  }
  return select.limit(limit);
}

// Drops a lower bound that the end of the last step has passed. It would mislead SQLite's planner.
function createAheadCondition(condition: unknown, { descending }: Sort): unknown {
  if (typeof condition !== "object" || condition === null || Array.isArray(condition)) return condition;
  const { gte, gt, lte, lt } = condition as Record<string, unknown>;
  return descending ? { gte, gt } : { lte, lt };
}

function listMembers({ has = {} }: AnyQuery): [string, string][] {
  return Object.entries(has).filter((entry): entry is [string, string] => typeof entry[1] === "string");
}

function listAnyMembers({ has = {} }: AnyQuery): [string, readonly string[]][] {
  return Object.entries(has).filter((entry): entry is [string, readonly string[]] => typeof entry[1] === "object");
}

function hasMember(db: Db, source: Source<unknown>, member: string, value: string) {
  return sql<boolean>`exists ${db
    .selectFrom("members as o")
    .select(sql`1`.as("one"))
    .whereRef("o.businessId", "=", sql.ref("t.businessId"))
    .where("o.tableName", "=", source.name)
    .where("o.member", "=", member)
    .where("o.value", "=", value)
    .where("o.createdAt", "=", sql.ref("t.createdAt"))
    .where("o.id", "=", sql.ref(`t.${source.key[0]}`))}`;
}

// Selects the matching ids first. There are few, and the rows are found by them.
function hasAnyMember(db: Db, source: Source<unknown>, businessId: string, member: string, values: readonly string[]) {
  return sql<boolean>`${sql.ref(`t.${source.key[0]}`)} in ${db
    .selectFrom("members as o")
    .select("o.id")
    .where("o.businessId", "=", businessId)
    .where("o.tableName", "=", source.name)
    .where("o.member", "=", member)
    .where(matchAnyOf("o.value", values))}`;
}

const bounds = { gte: ">=", gt: ">", lte: "<=", lt: "<" } as const;

function restrictColumn(select: Select, column: string, condition: unknown): Select {
  if (condition === undefined) return select;
  if (condition === null) return select.where(column, "is", null);
  if (Array.isArray(condition)) return select.where(matchAnyOf(column, condition));
  if (typeof condition !== "object") return select.where(column, "=", toStorable(condition));
  let restricted = select;
  for (const [bound, operator] of Object.entries(bounds)) {
    const value: unknown = (condition as Record<string, unknown>)[bound];
    if (value !== undefined) restricted = restricted.where(column, operator, toStorable(value));
  }
  return restricted;
}

function matchAnyOf(column: string, values: readonly unknown[]) {
  const some = values.filter((value) => value !== null).map((value) => sql`${toStorable(value)}`);
  const listed = some.length > 0 ? sql<boolean>`${sql.ref(column)} in (${sql.join(some)})` : sql<boolean>`1 = 0`;
  return values.includes(null) ? sql<boolean>`(${listed} or ${sql.ref(column)} is null)` : listed;
}

function toStorable(value: unknown): unknown {
  return typeof value === "boolean" ? Number(value) : value;
}

function matchContaining(db: Db, { columns, text }: NonNullable<AnyQuery["search"]>) {
  const adapter = getAdapter(db);
  const tests = splitSearch(text).map((word) => {
    const pattern = `%${word.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
    const inColumns = columns.map((name) => sql`${adapter.lower(sql.ref(`t.${name}`))} like ${pattern} escape '\\'`);
    return sql`(${sql.join(inColumns, sql` or `)})`;
  });
  return tests.length > 0 ? sql<boolean>`(${sql.join(tests, sql` and `)})` : sql<boolean>`1 = 1`;
}
