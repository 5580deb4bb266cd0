import { sql } from "kysely";
import { createId } from "../../src/lib/ids.ts";
import { createSource } from "../../src/store/database.ts";
import { getAdapter } from "../../src/store/engine.ts";
import { openEngine } from "../../src/store/open.ts";
import { readSchema } from "../../src/store/schema/read-schema.ts";
import type { StoredTable } from "../../src/store/schema/schema-introspection.ts";
import type { Row, TableName } from "../../src/store/tables.ts";
import type { EngineName } from "../scale/fill.ts";

export interface Template {
  readonly submission: Row<"submissions">;
  readonly person: Row<"persons">;
  readonly reviewer: Row<"reviewers">;
}

const rowsPerTransaction = 5_000;
const vocabulary = Array.from(
  { length: 20_000 },
  (_, index) => `${(index * 7919 + 13).toString(26).replace(/\d/g, "o")}er`,
);
const names = ["Marsh", "Lindqvist", "Okafor", "Sato", "Nováková", "Diallo", "Fernández", "Kowalska"];

/** Inserts copies of the records with other words, without the pipeline. */
export async function fillRecords(database: string, { submission, person, reviewer }: Template, size: number) {
  const engine = await openEngine({ database });
  const tables = new Map((await readSchema(engine.write)).map((table) => [table.name, table]));
  const insert = async <T extends TableName>(name: T, count: number, make: (index: number) => Row<T>) => {
    const table = tables.get(name) as StoredTable;
    const { codec } = createSource(name);
    for (let start = 0; start < count; start += rowsPerTransaction) {
      const rows = Array.from({ length: Math.min(rowsPerTransaction, count - start) }, (_, offset) => {
        const stored = codec.encode(make(start + offset));
        return table.columns.map(({ name: column }) => stored[codec.names.indexOf(column)] ?? null);
      });
      await engine.transact((db) => getAdapter(db).insertAll(db, table, rows));
    }
  };
  await insert("submissions", size, (index) => ({
    ...submission,
    ...createTimes(index),
    submissionId: createId("sub"),
    title: `${pickWords(3)} n${index}`,
    fields: {
      fld_title: "A light roof for the school",
      fld_text: pickWords(60),
      fld_number: index % 5_000 === 7 ? "rareword7" : "",
    },
    innovatorName: `Ada ${names[index % names.length]}`,
    innovatorEmail: `a${index}@example.org`,
  }));
  await insert("persons", size / 10, (index) => ({
    ...person,
    ...createTimes(index),
    personId: createId("per"),
    contactDetails: {
      firstName: pickWords(1),
      lastName: `${names[index % names.length]} n${index}`,
      organization: pickWords(2),
    },
  }));
  await insert("reviewers", size / 50, (index) => ({
    ...reviewer,
    ...createTimes(index),
    reviewerId: createId("rvw"),
    lastName: `${names[index % names.length]} n${index}`,
    affiliation: `${pickWords(2)} University`,
  }));
  await engine.close();
}

/** Some words are much more common than others. */
function pickWords(count: number): string {
  return Array.from({ length: count }, () => vocabulary[Math.floor(Math.random() ** 3 * vocabulary.length)]).join(" ");
}

function createTimes(index: number) {
  const at = new Date(Date.UTC(2026, 0, 1) + index * 10).toISOString();
  return { createdAt: at, updatedAt: at };
}

const sizeQueries = {
  SQLite: "select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()",
  PostgreSQL: "select pg_database_size(current_database()) as bytes",
} as const;

export async function readSizeBytes(name: EngineName, database: string, first?: "analyze"): Promise<number> {
  const engine = await openEngine({ database });
  if (first && name === "PostgreSQL") await sql.raw(first).execute(engine.write);
  const { rows } = await sql.raw<{ bytes: number | string }>(sizeQueries[name]).execute(engine.write);
  await engine.close();
  return Number(rows[0]?.bytes);
}
