import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { createSource, type Db, getPartialSource } from "../database.ts";
import { type Engine, forUpdate, getAdapter } from "../engine.ts";
import { type Sort, selectStep } from "../queries/query.ts";
import { type Row, tables } from "../tables.ts";
import { type Candidates, type SearchedTable, searchedTables, type TextSearch } from "./candidates.ts";
import type { QueryTerm, TermQuery } from "./full-text-index.ts";
import { createQueryTerms, listTerms } from "./search-terms.ts";

/** Rows that may have changed since they were indexed. If there are more, the index is not used. */
const maxUnindexedRows = 1_000;

const byChange: Sort = { column: "updatedAt", descending: false };

/** For each table, `updatedAt` and id of the last indexed row. Rows with later values are not in the index as they are. */
type Positions = { readonly [T in SearchedTable]?: readonly [updatedAt: string, id: string] };

/**
 * Finds records by the index, and adds all that changed since they were indexed. The caller must compare each
 * candidate with the search.
 * @returns undefined if too many records are not indexed yet
 */
export async function findSearchCandidates(
  db: Db,
  businessId: string,
  table: SearchedTable,
  search: TextSearch,
  limit: number,
): Promise<Candidates | undefined> {
  const { [table]: after } = await readPositions(db, businessId);
  const source = getPartialSource(table, [byChange.column]);
  const step = { sort: byChange, limit: maxUnindexedRows + 1, after };
  const changed = (await selectStep(db, source, businessId, {}, step).execute()) as Record<string, string>[];
  if (changed.length > maxUnindexedRows) return undefined;
  const query = { businessId, groups: createQueryTerms(businessId, search), limit: limit + 1 };
  const found = after ? await findByTerms(db, table, query) : [];
  const ids = new Set([...found.slice(0, limit), ...changed.map((row) => row[tables[table].id] as string)]);
  return { ids: [...ids], hasMore: found.length > limit };
}

/**
 * Finds records by their terms in a time that hardly grows with the number of records that have one of the words. To
 * find all beginnings of words, a database reads all of their records first; to find whole words, it reads no more than
 * the limit.
 */
async function findByTerms(db: Db, table: SearchedTable, query: TermQuery): Promise<string[]> {
  const { fullTextIndex } = getAdapter(db);
  const { groups, limit } = query;
  const find = (some: TermQuery["groups"]) => fullTextIndex.find(db, table, { ...query, groups: some });
  const wholeGroups = groups.map((group) => group.map((term) => ({ ...term, isPrefix: false })));
  const whole = await find(wholeGroups);
  if (whole.length === limit || groups.length === 1) return whole.length === limit ? whole : find(groups);
  // The records that have the rarest word are candidates enough.
  let rarest: { readonly group: readonly QueryTerm[]; readonly count: number } | undefined;
  for (const [index, group] of groups.entries()) {
    const { length: count } = await find([wholeGroups[index] ?? group]);
    if (count < (rarest?.count ?? limit)) rarest = { group, count };
  }
  const some = rarest ? await find([rarest.group]) : undefined;
  return some && some.length < limit ? some : find(groups);
}

/** Indexes rows in the order of their changes. */
export interface SearchIndexer {
  /**
   * Indexes at most `limit` rows of a tenant that changed.
   * @returns whether there may be more
   */
  indexRows(limit: number): Promise<boolean>;
}

/** Forms whose standard fields are kept in memory. A published form never changes. */
const maxForms = 1_000;

export function createSearchIndexer({ read, transact }: Pick<Engine, "read" | "transact">): SearchIndexer {
  const forms = new LRUCache<string, ReadonlySet<string>>({ max: maxForms });

  async function loadStandardFields(db: Db, row: Row<SearchedTable>): Promise<ReadonlySet<string>> {
    if (!("schemaVersion" in row)) return new Set();
    const { businessId, schemaId, schemaVersion } = row;
    const key = JSON.stringify([businessId, schemaId, schemaVersion]);
    const known = forms.get(key);
    if (known) return known;
    const { codec, name } = createSource("schemas");
    const form = await db
      .selectFrom(name)
      .select([...codec.names])
      .where("businessId", "=", businessId)
      .where("schemaId", "=", schemaId)
      .where("schemaVersion", "=", schemaVersion)
      .executeTakeFirst();
    const { fields = [], published = false } = form ? codec.decode(form) : {};
    const standard = fields.filter(({ sensitivity }) => sensitivity === "standard");
    const ids = new Set(standard.map(({ fieldId }) => fieldId));
    if (published) forms.set(key, ids);
    return ids;
  }

  async function indexTable(db: Db, businessId: string, table: SearchedTable, positions: Positions, limit: number) {
    const source = createSource(table);
    const step = { sort: byChange, limit, after: positions[table] };
    const rows = await selectStep(db, source, businessId, {}, step).execute();
    const entries = [];
    for (const stored of rows) {
      const row = source.codec.decode(stored as Record<string, unknown>);
      const id = (stored as Record<string, string>)[tables[table].id] as string;
      entries.push({ businessId, id, terms: listTerms(table, row as never, await loadStandardFields(db, row)) });
    }
    if (entries.length > 0) await getAdapter(db).fullTextIndex.write(db, table, entries);
    const last = rows.at(-1) as Record<string, string> | undefined;
    return last && ([last[byChange.column], last[tables[table].id]] as [string, string]);
  }

  async function indexTenant(db: Db, businessId: string, limit: number): Promise<void> {
    const first = { businessId, commitNumber: -1, positions: "{}" };
    const progress = db.insertInto("searchProgress").values(first);
    await progress.onConflict((conflict) => conflict.column("businessId").doNothing()).execute();
    // Locks the tenant's index, which several processes would fill with the same rows otherwise.
    const positions = await readPositions(db, businessId, true);
    // Read before the rows: a later commit has a higher number.
    const last = await db
      .selectFrom("tenantSequences")
      .select("commitNumber")
      .where("businessId", "=", businessId)
      .executeTakeFirst();
    const own = db.updateTable("searchProgress").where("businessId", "=", businessId);
    for (const table of searchedTables) {
      const position = await indexTable(db, businessId, table, positions, limit);
      if (!position) continue;
      await own.set({ positions: JSON.stringify({ ...positions, [table]: position }) }).execute();
      return;
    }
    await own.set({ commitNumber: last?.["commitNumber"] ?? 0 }).execute();
  }

  return {
    async indexRows(limit) {
      const businessId = await findLateTenant(read);
      if (businessId === undefined) return false;
      await transact((db) => indexTenant(db, businessId, limit));
      return true;
    },
  };
}

/** Returns a tenant with commits since all of its rows were indexed. */
async function findLateTenant(db: Db): Promise<string | undefined> {
  const late = await db
    .selectFrom("businesses as b")
    .leftJoin("tenantSequences as t", "t.businessId", "b.businessId")
    .leftJoin("searchProgress as p", "p.businessId", "b.businessId")
    .select("b.businessId")
    .where(
      sql<boolean>`${sql.ref("p.commitNumber")} is null or ${sql.ref("p.commitNumber")} < coalesce(${sql.ref("t.commitNumber")}, 0)`,
    )
    .limit(1)
    .executeTakeFirst();
  return late?.["businessId"] as string | undefined;
}

async function readPositions(db: Db, businessId: string, lock = false): Promise<Positions> {
  const select = db.selectFrom("searchProgress").select("positions").where("businessId", "=", businessId);
  const row = await (lock ? forUpdate(db, select) : select).executeTakeFirst();
  return row ? JSON.parse(row["positions"] as string) : {};
}
