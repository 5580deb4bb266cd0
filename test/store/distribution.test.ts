import { DatabaseSync } from "node:sqlite";
import { CompiledQuery } from "kysely";
import pg from "pg";
import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { type DistributedTable, distributed, whole } from "../../scripts/distribution.ts";
import type { Engine } from "../../src/store/engine.ts";
import { openEngine, openStore } from "../../src/store/open.ts";
import { readSchema } from "../../src/store/schema/read-schema.ts";
import { type Databases, openDatabases } from "../support/database/database-server.ts";
import { createSettings } from "../support/database/database-settings.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { openTestServer } from "../support/servers/test-server.ts";

let databases: Databases;

beforeAll(async () => {
  databases = await openDatabases({ given: inject("postgres"), isolation: inject("isolation") });
  return () => databases.stop();
});

const engines = ["SQLite", "PostgreSQL"] as const;

async function fresh(engine: (typeof engines)[number]): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  const empty = engine === "SQLite" ? undefined : await databases.empty();
  onTestFinished(async () => {
    await empty?.remove();
    await remove();
  });
  return empty?.database ?? `${path}/programme.db`;
}

async function migrated(engine: (typeof engines)[number]): Promise<Engine> {
  const database = await fresh(engine);
  await (await openStore({ database })).close();
  const opened = await openEngine({ database });
  onTestFinished(() => opened.close());
  return opened;
}

async function rowsOf(engine: Engine, text: string): Promise<readonly unknown[]> {
  return (await engine.read.executeQuery(CompiledQuery.raw(text))).rows;
}

describe.each(engines)("in the catalogue of %s", (name) => {
  let tables: readonly DistributedTable[];
  let engine: Engine;

  beforeAll(async () => {
    const database = name === "SQLite" ? ":memory:" : (await databases.copy()).database;
    if (name === "SQLite") {
      const { migrateDatabase } = await import("../../src/store/migrations/migrate.ts");
      engine = await openEngine({ database });
      await migrateDatabase(engine);
    } else engine = await openEngine({ database });
    tables = (await readSchema(engine.read)).map(distributed);
    return () => engine.close();
  });

  test("every table has a key, and every key and index of a tenant's begins with the tenant", () => {
    expect(tables.length).toBeGreaterThan(30);
    for (const { name: table, by, key, indexes, columns } of tables) {
      expect([table, key.length > 0]).toEqual([table, true]);
      if (by === undefined) continue;
      expect([table, columns.some((column) => column.name === by)]).toEqual([table, true]);
      for (const index of indexes) expect([table, index.name, index.columns[0]]).toEqual([table, index.name, by]);
    }
  });

  test("only the listed tables are complete on every server, and none of them belongs to one tenant", () => {
    const found = tables.filter(({ by }) => by === undefined).map((table) => table.name);
    expect(found.filter((table) => table !== "migrationLock").toSorted()).toEqual(Object.keys(whole).toSorted());
    const others = tables.filter(({ by }) => by !== undefined && by !== "businessId").map((table) => table.name);
    expect(others.toSorted()).toEqual(["permits", "sessionAnswers", "sessions"]);
  });
});

test("migrations use no PostgreSQL feature that compatible databases lack", async () => {
  const engine = await migrated("PostgreSQL");
  const here = "current_schema()::regnamespace";
  const forbidden = {
    triggers: "select tgname from pg_trigger where not tgisinternal",
    sequences: `select relname from pg_class where relkind = 'S' and relnamespace = ${here}`,
    functions: `select proname from pg_proc where pronamespace = ${here}`,
    types: `select typname from pg_type where typtype in ('e', 'd') and typnamespace = ${here}`,
    defaults: "select adrelid from pg_attrdef",
    extensions: "select extname from pg_extension where extname <> 'plpgsql'",
    rules: `select rulename from pg_rules where schemaname = current_schema() and rulename <> '_RETURN'`,
    temporary: "select relname from pg_class where relpersistence <> 'p'",
    expressions: `select indexrelid from pg_index i join pg_class c on c.oid = i.indexrelid
      where indexprs is not null and c.relnamespace = ${here}`,
  };
  for (const [what, query] of Object.entries(forbidden))
    expect([what, await rowsOf(engine, query)]).toEqual([what, []]);
});

test("migrations use no SQLite feature that other databases lack", async () => {
  const engine = await migrated("SQLite");
  const kinds =
    "select name from sqlite_master where type not in ('table', 'index', 'view') or name = 'sqlite_sequence'";
  expect(await rowsOf(engine, kinds)).toEqual([]);
});

const lacking =
  /\b(un)?listen\b|\bnotify\b|advisory|\btemp(orary)?\b|\b(nextval|setval|currval)\b|\bserial|\bsequence\s|trigger|create\s+function|\bcopy\b|\bcursor\b\s+for|\block table\b/i;

test.each(engines)("statements on %s use no feature that compatible databases lack", async (name) => {
  const recorded = recordStatements();
  const database = await fresh(name);
  const { server, close } = await openTestServer({
    PROGRAMME_DATABASE: database,
    PROGRAMME_WEBHOOK_LOOPBACK: "true",
    ...createSettings(database),
  });
  server.app.startWorkers();
  const caller = await server.as("REST");
  const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED" });
  await server.app.webhooks?.endpoints.add(server.businessId, "http://127.0.0.1:1/hook", []);
  await caller.screen_submission({ submissionId, version, eligible: true });
  await caller.create_person({ kinds: ["contact"], provenance: { source: "crm" }, primaryEmail: "a@example.org" });
  for (const list of ["list_submissions", "list_persons", "list_reviewers", "list_audit_entries"] as const) {
    await caller[list]({});
  }
  const { programId } = await server.seed.program();
  await caller.create_export({ programId });
  await close();
  const statements = recorded();
  expect(statements.length).toBeGreaterThan(100);
  expect(statements.some((statement) => /insert into "tenantSequences"/.test(statement))).toBe(true);
  expect(statements.filter((statement) => lacking.test(statement))).toEqual([]);
});

/** The values that both drivers are given from now on. */
function recordStatements(): () => string[] {
  const client = vi.spyOn(pg.Client.prototype, "query");
  const spies = (["prepare", "exec"] as const).map((method) => vi.spyOn(DatabaseSync.prototype, method));
  return () => [
    ...client.mock.calls.map(([query]) => {
      const given = query as string | { text: string };
      return typeof given === "string" ? given : given.text;
    }),
    ...spies.flatMap((spy) => spy.mock.calls.map(([statement]) => statement)),
  ];
}
