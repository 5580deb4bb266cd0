import { sql } from "kysely";
import { type FullTextIndex, getIndexTable, type QueryTerm } from "../search/full-text-index.ts";

/** Tables with a `tsvector` and a GIN index. The terms come split, so no text search configuration is used. */
export const textSearchIndex: FullTextIndex = {
  async create(db, table) {
    const name = getIndexTable(table);
    await db.schema
      .createTable(name)
      .addColumn("businessId", "text", (column) => column.notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("terms", sql`tsvector`, (column) => column.notNull())
      .addPrimaryKeyConstraint(`${name}_key`, ["businessId", "id"] as never)
      .execute();
    await db.schema.createIndex(`${name}_index_terms`).on(name).using("gin").column("terms").execute();
  },

  async write(db, table, entries) {
    const columns = [
      entries.map(({ businessId }) => businessId),
      entries.map(({ id }) => id),
      entries.map(({ terms }) => terms.join(" ")),
    ].map((values) => sql`${values}::text[]`);
    await sql`insert into ${sql.table(getIndexTable(table))} ("businessId", "id", "terms")
      select "businessId", "id", array_to_tsvector(string_to_array("terms", ' '))
      from unnest(${sql.join(columns)}) as entry("businessId", "id", "terms")
      on conflict ("businessId", "id") do update set "terms" = excluded."terms"`.execute(db);
  },

  async remove(db, table, businessId, id) {
    await db.deleteFrom(getIndexTable(table)).where("businessId", "=", businessId).where("id", "=", id).execute();
  },

  async find(db, table, { businessId, groups, limit }) {
    const toQuery = ({ term, isPrefix }: QueryTerm) => `'${term}'${isPrefix ? ":*" : ""}`;
    const query = groups.map((group) => `(${group.map(toQuery).join(" | ")})`).join(" & ");
    const rows = await db
      .selectFrom(getIndexTable(table))
      .select("id")
      .where("businessId", "=", businessId)
      .where(sql<boolean>`${sql.ref("terms")} @@ ${query}::tsquery`)
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id as string);
  },
};
