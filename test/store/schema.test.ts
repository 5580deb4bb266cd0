import { CompiledQuery, Kysely } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import {
  auditSource,
  changeSource,
  createSource,
  type Database,
  eventSource,
  type Source,
  tokenCodec,
} from "../../src/store/database.ts";
import { tables as peopleTables } from "../../src/store/migrations/019_people.ts";
import { migrateDatabase } from "../../src/store/migrations/migrate.ts";
import type { Query } from "../../src/store/port.ts";
import { createCodec } from "../../src/store/queries/codec.ts";
import { type AnyQuery, type Sort, selectMatching, selectStep } from "../../src/store/queries/query.ts";
import { createSqliteDialect } from "../../src/store/sqlite/dialect.ts";
import { type TableName, tables } from "../../src/store/tables.ts";

const db = new Kysely<Database>({
  dialect: createSqliteDialect({ path: ":memory:", role: "write", busyTimeoutMs: 0 }),
});

beforeAll(async () => {
  await migrateDatabase({ transactExclusively: (work) => db.transaction().execute(work) });
  return () => db.destroy();
});

/** Runs SQL as it is. */
async function rowsOf(text: string, parameters: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, [...parameters]))).rows;
}

async function columnsOf(table: string) {
  const rows = await rowsOf(`select * from pragma_table_info('${table}')`);
  return new Map(
    rows.map(({ name, type, notnull }) => [
      String(name),
      { type: String(type).toLowerCase(), nullable: notnull === 0 },
    ]),
  );
}

describe("columns", () => {
  const codecs = {
    ...Object.fromEntries(Object.entries(tables).map(([name, { record }]) => [name, createCodec(record)])),
    audit: auditSource.codec,
    tokens: tokenCodec,
  };

  test.each(
    Object.entries(codecs),
  )("%s: are those of the record, and nullable if the record allows null", async (table, codec) => {
    const migrated = await columnsOf(table);
    const internal = table === "audit" ? ["kind", "commitNumber"] : [];
    expect([...migrated.keys()].sort()).toEqual([...codec.names, ...internal].sort());
    for (const { name, nullable, kind } of codec.columns) {
      expect([name, migrated.get(name)?.nullable]).toEqual([name, nullable]);
      if (kind === "json") expect([name, migrated.get(name)?.type]).toEqual([name, "text"]);
      if (kind === "boolean") expect([name, migrated.get(name)?.type]).toEqual([name, "bigint"]);
    }
  });
});

test("every key and index begins with the tenant, except in the listed tables", async () => {
  const global = ["businesses", "settings", "migrations", "permits", "tokens(tokenId)", "tokens(sha256)"];
  // Sessions are their callers', who may be of no tenant that is known here.
  global.push("sessions(callerId)", "sessionAnswers(callerId)");
  // People and their applications are known by their sessions, tokens and addresses before their tenant is.
  global.push(...Object.keys(peopleTables));
  // Workers serve all tenants: by these they find what waits and what is over.
  const exceptions = new Set([...global, "exports(createdAt)", "exportRuns(keptUntil)", "invitations(sha256)"]);
  const found: string[] = [];
  for (const { name: table } of await rowsOf("select name from pragma_table_list where type = 'table'")) {
    if (String(table).startsWith("sqlite_")) continue;
    const indexes = await rowsOf(`select name from pragma_index_list('${table}')`);
    expect([table, indexes.length > 0]).toEqual([table, true]);
    for (const { name } of indexes) {
      const [first] = await rowsOf(`select name from pragma_index_info('${name}') order by seqno`);
      if (first?.["name"] === "businessId" && table !== "businesses") continue;
      found.push(`${table}(${first?.["name"]})`);
    }
  }
  const unforeseen = found.filter((index) => !exceptions.has(index) && !exceptions.has(index.split("(")[0] as string));
  expect(unforeseen).toEqual([]);
  expect(found).toEqual(expect.arrayContaining(["tokens(tokenId)", "tokens(sha256)"]));
});

test("the schema uses only features that other databases have", async () => {
  // Full-text tables are an engine's own, and so are those in which they store their data.
  const definitions = await rowsOf(
    "select sql from sqlite_master join pragma_table_list t on t.name = tbl_name where t.type = 'table' and sql is not null",
  );
  expect(definitions.length).toBeGreaterThan(30);
  for (const { sql } of definitions) {
    expect(sql).not.toMatch(/autoincrement|without rowid|strict|integer primary key|collate/i);
    for (const [name] of String(sql).matchAll(/(?<=")\w+(?=")/g)) expect(name.length).toBeLessThan(64);
  }
});

const newest: Sort = { column: "createdAt", descending: true };
const oldest: Sort = { column: "createdAt", descending: false };
const changed: Sort = { column: "updatedAt", descending: false };
const span = { gte: "2026-01-01", lte: "2026-12-31" };

interface List<T extends TableName = TableName> {
  readonly table: T;
  readonly query: Query<T>;
  readonly sort: Sort;
}

function list<T extends TableName>(table: T, sort: Sort, query: Query<T>): List {
  return { table, query, sort } as unknown as List;
}

const submissionFilters: readonly NonNullable<Query<"submissions">["where"]>[] = [
  {},
  { programId: "prg" },
  { trackId: "trk" },
  { state: "DRAFT" },
  { currentRoundId: "rnd" },
  { submittedAt: span },
  { programId: "prg", state: "DRAFT" },
  { programId: "prg", trackId: "trk" },
  { trackId: "trk", submittedAt: span, state: "DRAFT" },
  { programId: "prg", trackId: "trk", state: "DRAFT", currentRoundId: "rnd", submittedAt: span },
];

const lists: readonly List[] = [
  list("programs", newest, {}),
  list("tracks", newest, { where: { programId: "prg" } }),
  list("rounds", { column: "sequence", descending: false }, { where: { programId: "prg" } }),
  list("rounds", { column: "sequence", descending: false }, { where: { trackId: "trk" } }),
  ...submissionFilters.flatMap((where) => [
    list("submissions", newest, { where }),
    list("submissions", oldest, { where }),
    list("submissions", changed, { where: { ...where, updatedAt: { gte: "2026-01-01" } } }),
  ]),
  list("submissions", newest, { where: { applicantId: "app" } }),
  list("supplements", oldest, { where: { submissionId: "sub" } }),
  list("files", oldest, { where: { submissionId: "sub" } }),
  list("files", oldest, { where: { supplementResponseId: "sup" } }),
  list("payments", newest, { where: { status: "pending" } }),
  list("payments", newest, { where: { submissionId: "sub" } }),
  list("persons", newest, {}),
  list("persons", changed, { where: { updatedAt: { gt: "2026-01-01" } } }),
  list("persons", oldest, { where: { platformUserId: "usr", active: true } }),
  list("persons", oldest, { has: { email: "a@example.org" }, where: { active: true } }),
  list("persons", oldest, { has: { ref: "[]" } }),
  list("persons", { column: "personId", descending: false }, { has: { email: ["a@example.org", "b@example.org"] } }),
  list(
    "applicants",
    { column: "applicantId", descending: false },
    { has: { email: ["a@example.org", "b@example.org"] } },
  ),
  list("personSchemas", newest, { where: { active: true, published: true } }),
  list("applicants", newest, {}),
  list("applicants", newest, { has: { programIds: "prg" } }),
  list("applicants", newest, { has: { programIds: "prg", trackIds: "trk" } }),
  list("applicants", oldest, { has: { email: "a@example.org" } }),
  list("reviewers", newest, {}),
  list("reviewers", newest, { where: { status: "active" } }),
  list("reviewers", newest, { where: { status: "active" }, has: { programIds: "prg", roundIds: "rnd" } }),
  list("reviewers", newest, { search: { columns: ["email", "lastName"], text: "rita" }, has: { roundIds: "rnd" } }),
  ...[
    { programId: "prg" },
    { roundId: "rnd" },
    { reviewerId: "rvw" },
    { submissionId: "sub" },
    { status: "assigned" as const },
    {},
  ].flatMap((where) => [
    list("assignments", newest, { where: { ...where, active: true } }),
    list("assignments", newest, { where: { status: ["assigned", "accepted", "conflict"], ...where, active: true } }),
    list("assignments", newest, { where }),
  ]),
  list("reviews", newest, {}),
  list("reviews", newest, { where: { submissionId: "sub" } }),
  list("reviews", newest, { where: { roundId: "rnd" } }),
  list("reviews", newest, { where: { reviewerId: "rvw", roundId: "rnd" } }),
  list("reviews", oldest, { where: { assignmentId: "asg" } }),
  list("feedbacks", newest, { where: { released: true } }),
  list("feedbacks", newest, { where: { released: true, programId: "prg" } }),
  list("feedbacks", newest, { where: { released: true, programId: "prg", submissionId: "sub" } }),
  list("emailSends", newest, { has: { recipient: "a@example.org" } }),
  list("emailSends", newest, { where: { status: "sent" } }),
  list("suppressions", newest, {}),
  list("exports", newest, {}),
  list("exports", oldest, { where: { status: "pending" } }),
  list("invitations", oldest, { where: { reviewerId: "rvw" } }),
];

async function planOf(source: Source<unknown>, query: AnyQuery, sort: Sort, paged: boolean): Promise<string[]> {
  const after = paged ? ["2026-06-01", ...source.key.map(() => "x")] : undefined;
  const { sql, parameters } = selectStep(db, source, "biz", query, { sort, limit: 51, after }).compile();
  return (await rowsOf(`explain query plan ${sql}`, parameters)).map(({ detail }) => String(detail));
}

describe("every list uses an index in its order, from the start and from a cursor", () => {
  test.each(lists)("$table $sort.column $query", async ({ table, query, sort }) => {
    for (const paged of [false, true]) {
      const plan = await planOf(createSource(table), query as AnyQuery, sort, paged);
      if (plan[0] === "MERGE (UNION ALL)") {
        // Of several states: a search for each in its order; what they give, a page of each, is merged.
        const searches = plan.filter((detail) => detail.startsWith("SEARCH"));
        expect(searches).toHaveLength((query.where as { status: string[] }).status.length);
        for (const search of searches) expect(search).toMatch(/businessId=\? AND (\w+=\? AND )?status=\?/);
        expect(plan.join("\n")).not.toMatch(/SEARCH .*\n.*TEMP B-TREE|SCAN (?!t\b)/);
        continue;
      }
      expect(plan.join("\n")).not.toMatch(/TEMP B-TREE|SCAN (?!1)/);
      const conditions = Object.values(query.where ?? {}).filter((condition) => typeof condition === "string");
      // The tenant, and one filter at least where there are any.
      if (conditions.length > 0 && !query.has) expect(plan[0]).toMatch(/businessId=\? AND \w+=\?/);
    }
  });

  const action = "submission.read";
  const filters = [
    ...[{}, { submissionId: "x" }, { programId: "x" }, { entityType: "x" }, { entityId: "x" }, { actorId: "x" }].map(
      (where) => ({
        where,
        changesOnly: true,
      }),
    ),
    // An action is of one type of entity: filtering by both needs no index of its own.
    ...[{ action }, { submissionId: "x", action }, { programId: "x", action }, { actorId: "x", action }].map(
      (where) => ({ where }),
    ),
  ];

  test.each(filters)("audit %o", async (query) => {
    const { where } = query;
    for (const paged of [false, true]) {
      const plan = await planOf(auditSource, query, { column: "occurredAt", descending: true }, paged);
      expect(plan).toHaveLength(1);
      const equalities = ["businessId", ...Object.keys(where)];
      for (const name of equalities) expect(plan[0]).toContain(`${name}=?`);
    }
  });

  // An app acts for one person, whose entries are searched.
  test.each([
    { where: { actorId: "x", tokenId: "y" }, changesOnly: true },
    { where: { actorId: "x", tokenId: "y", action } },
  ])("audit of an app %o", async (query) => {
    for (const paged of [false, true]) {
      const plan = await planOf(auditSource, query, { column: "occurredAt", descending: true }, paged);
      expect(plan).toEqual([expect.stringMatching(/^SEARCH t USING INDEX audit_index_actorId_\w+ \(businessId=\?/)]);
    }
  });

  test.each([changeSource, eventSource])("$name by commitNumber", async (source) => {
    const plan = await planOf(
      source,
      { where: { commitNumber: { gt: 1 } } },
      { column: "commitNumber", descending: false },
      false,
    );
    expect(plan.join("\n")).not.toMatch(/TEMP B-TREE|SCAN/);
    expect(plan.join("\n")).toMatch(/businessId=\? AND commitNumber>\?/);
  });

  test.each([
    ["submissions", { where: { programId: "prg" } }],
    ["submissions", { where: { applicantId: "app" } }],
    ["assignments", { where: { reviewerId: "rvw", active: true, status: "completed" } }],
    ["reviewers", { has: { programIds: "prg" } }],
  ] as const)("counts of %s %o", async (table, query) => {
    const { sql, parameters } = selectMatching(db, createSource(table), "biz", query)
      .select((eb) => eb.fn.countAll().as("n"))
      .compile();
    const plan = (await rowsOf(`explain query plan ${sql}`, parameters)).map(({ detail }) => String(detail));
    expect(plan.every((detail) => /^SEARCH .* USING (COVERING )?INDEX/.test(detail))).toBe(true);
  });
});

test("tokens, quotas, stored answers and rate limit leases are found by an index", async () => {
  const wheres = {
    tokens: '"sha256" = ?',
    quotas: '"businessId" = ? and "tokenId" = ? and "quota" = ?',
    answers: '"businessId" = ? and "tokenId" = ? and "key" = ? and "createdAt" >= ?',
    permits: '"tokenId" = ?',
    events: '"businessId" = ?',
  };
  for (const [table, where] of Object.entries(wheres)) {
    const plan = await rowsOf(
      `explain query plan select * from "${table}" where ${where}`,
      new Array(where.split("?").length - 1).fill("x"),
    );
    expect(String(plan[0]?.["detail"])).toMatch(/^SEARCH/);
  }
});
