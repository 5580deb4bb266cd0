import { sql } from "kysely";
import type { Db } from "../database.ts";
import type { SearchedTable } from "../search/candidates.ts";
import { type FullTextIndex, getIndexTable, type QueryTerm } from "../search/full-text-index.ts";
import { createIdTerm, termHeadChars } from "../search/search-terms.ts";

/** Full-text tables of SQLite's module FTS5. The terms come split, so its tokenizer only separates them at spaces. */
export const fts5Index: FullTextIndex = {
  async create(db, table) {
    const name = getIndexTable(table);
    const shortWords = [1, 2, 3].map((chars) => termHeadChars + chars).join(" ");
    const options = `detail = none, columnsize = 0, tokenize = 'ascii', prefix = '${shortWords}'`;
    await sql`create virtual table ${sql.table(name)} using fts5(
      "businessId" unindexed, "id" unindexed, "terms", ${sql.raw(options)})`.execute(db);
    // Overwrites the terms of a removed entry at once. It takes long for the many terms of a submission.
    if (table === "submissions") return;
    await sql`insert into ${sql.table(name)} (${sql.ref(name)}, "rank") values ('secure-delete', 1)`.execute(db);
  },

  // One statement for many rows: building a query takes longer than writing a row.
  async write(db, table, entries) {
    const rows = entries.map(({ businessId, id, terms }) => [businessId, id, terms.join(" ")]);
    for (const [businessId, own] of Map.groupBy(entries, (entry) => entry.businessId)) {
      await removeEntries(db, table, businessId, own);
    }
    await sql`insert into ${sql.table(getIndexTable(table))} ("businessId", "id", "terms")
      select value ->> 0, value ->> 1, value ->> 2 from json_each(${JSON.stringify(rows)})`.execute(db);
  },

  remove: (db, table, businessId, id) => removeEntries(db, table, businessId, [{ id }]),

  async find(db, table, { businessId, groups, limit }) {
    const rows = await db
      .selectFrom(getIndexTable(table))
      .select("id")
      .where(matchTerms(table, groups))
      .where("businessId", "=", businessId)
      .orderBy("rowid", "desc")
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id as string);
  },
};

async function removeEntries(db: Db, table: SearchedTable, businessId: string, entries: readonly { id: string }[]) {
  const idTerms = entries.map(({ id }) => ({ term: createIdTerm(businessId, id), isPrefix: false }));
  const found = db
    .selectFrom(getIndexTable(table))
    .select("rowid")
    .where(matchTerms(table, [idTerms]));
  const own = found.where("businessId", "=", businessId);
  await db.deleteFrom(getIndexTable(table)).where("rowid", "in", own).execute();
}

function matchTerms(table: SearchedTable, groups: readonly (readonly QueryTerm[])[]) {
  const toQuery = ({ term, isPrefix }: QueryTerm) => `"${term}"${isPrefix ? " *" : ""}`;
  const query = groups.map((group) => `(${group.map(toQuery).join(" OR ")})`).join(" AND ");
  return sql<boolean>`${sql.table(getIndexTable(table))} match ${query}`;
}
