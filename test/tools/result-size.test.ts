import { describe, expect, onTestFinished, test } from "vitest";
import { limits } from "../../src/contract/access/limits.ts";
import { clients, readError, type ToolClient, type ToolResult } from "../support/clients/clients.ts";
import { seedMany } from "../support/data/lists.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

type Row = Record<string, unknown>;

async function openSetup(environment: Record<string, string> = {}) {
  const { server, close } = await openTestServer({ PROGRAMME_RESULT_BYTES: "40000", ...environment });
  onTestFinished(close);
  return { server, agent: await agentOf(server) };
}

function agentOf(server: TestServer, client = "2026-07-28 over stdio"): Promise<ToolClient> {
  return server.token().then((token) => clients[client]?.(server, token) as Promise<ToolClient>);
}

function rowsOf(result: ToolResult): Row[] {
  expect(result.isError).toBeFalsy();
  return result.structuredContent?.data as unknown as Row[];
}

async function submissionsOf(server: TestServer, count: number, chars = 0) {
  const { trackId } = await server.seed.track();
  return seedMany(count, async (index) => {
    server.clock.advance(1000);
    return server.seed.submission({ trackId, title: `No. ${index}`, fields: { fld_title: "x".repeat(chars) } });
  });
}

describe("a page", () => {
  test("has 20 rows by default, and a cursor", async () => {
    const { server, agent } = await openSetup();
    await submissionsOf(server, 22);
    const first = await agent.call("list_submissions", {});
    expect(rowsOf(first)).toHaveLength(20);
    const { lastEvaluatedKey } = first.structuredContent?.page ?? {};
    const second = await agent.call("list_submissions", { lastEvaluatedKey });
    expect(rowsOf(second)).toHaveLength(2);
    expect(second.structuredContent?.page).toEqual({ hasMore: false });
  });

  test("that is too large is cut between rows, and its cursor continues with the next row", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_RESULT_BYTES: "6000" });
    const seeded = await submissionsOf(server, 25, 700);
    const seen: unknown[] = [];
    let lastEvaluatedKey: string | undefined;
    do {
      const result = await agent.call("list_submissions", { ...(lastEvaluatedKey ? { lastEvaluatedKey } : {}) });
      const rows = rowsOf(result);
      const { page, notes } = result.structuredContent ?? {};
      expect(Buffer.byteLength(JSON.stringify(rows))).toBeLessThanOrEqual(6000);
      if (page?.hasMore) expect(rows.length).toBeGreaterThan(1);
      if (page?.hasMore)
        expect(notes?.[0]).toMatch(
          /^A result holds 6000 bytes\. .* \d+ rows are shown; continue with lastEvaluatedKey/,
        );
      seen.push(...rows.map((row) => row["submissionId"]));
      lastEvaluatedKey = page?.lastEvaluatedKey;
    } while (lastEvaluatedKey !== undefined);
    expect(seen).toEqual(seeded.map(({ submissionId }) => submissionId).toReversed());
  });

  test("has room for more rows with fewer fields", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_RESULT_BYTES: "6000" });
    await submissionsOf(server, 25, 700);
    const result = await agent.call("list_submissions", { limit: 25, select: ["title"] });
    expect(rowsOf(result)).toHaveLength(25);
    expect(result.structuredContent?.page).toEqual({ hasMore: false });
  });

  test("with one row that is too large shows it without its largest fields, and continues", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_RESULT_BYTES: "3000" });
    const [last, , first] = await submissionsOf(server, 3, 2500);
    const result = await agent.call("list_submissions", {});
    const [row, ...others] = rowsOf(result);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ submissionId: first?.submissionId, title: "No. 2" });
    expect(row).not.toHaveProperty("fields");
    expect(result.structuredContent?.notes?.join(" ")).toContain("Omitted because of their size: fields.");
    const { lastEvaluatedKey } = result.structuredContent?.page ?? {};
    const rest = await agent.call("list_submissions", { lastEvaluatedKey, select: ["title"] });
    expect(rowsOf(rest)[1]).toMatchObject({ submissionId: last?.submissionId });
  });

  test("of a list without cursors says that it is cut", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_RESULT_BYTES: "2000" });
    const { submissionId } = await server.seed.submission({});
    await seedMany(10, () => server.seed.file({ submissionId }));
    const result = await agent.call("list_submission_files", { submissionId });
    const { length } = rowsOf(result);
    expect(length).toBeLessThan(10);
    expect(result.structuredContent?.notes?.[0]).toContain(`The first ${length} of 10 rows are shown`);
  });
});

describe("a record too large", () => {
  test("names what is left out, and select brings it", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_RESULT_BYTES: "4000" });
    const fields = { fld_a: "a".repeat(2500), fld_b: "b".repeat(2600) };
    const { submissionId } = await server.seed.submission({ fields });
    const whole = await agent.call("get_submission", { submissionId });
    expect(Buffer.byteLength(JSON.stringify(whole.structuredContent?.data))).toBeLessThanOrEqual(4000);
    const notes = whole.structuredContent?.notes?.join(" ") ?? "";
    const left = ["fields.fld_a", "fields.fld_b"].filter((path) => notes.includes(path));
    expect(left).not.toEqual([]);
    for (const path of left) {
      const result = await agent.call("get_submission", { submissionId, select: [path] });
      const name = path.slice("fields.".length) as keyof typeof fields;
      expect(result.structuredContent?.data["fields"]).toEqual({ [name]: fields[name] });
    }
  });
});

describe("all", () => {
  test.each(Object.keys(clients))("gathers every page, with progress, for a client of %s", async (name) => {
    const { server } = await openSetup({ PROGRAMME_RESULT_BYTES: "1000000" });
    const agent = await agentOf(server, name);
    const seeded = await submissionsOf(server, 230);
    const progress: number[] = [];
    const onprogress = (step: { progress: number }) => progress.push(step.progress);
    const result = await agent.call("list_submissions", { all: true, select: ["title"] }, { onprogress });
    expect(rowsOf(result).map((row) => row["submissionId"])).toEqual(
      seeded.map((row) => row.submissionId).toReversed(),
    );
    expect(result.structuredContent?.page).toEqual({ hasMore: false });
    expect(progress).toEqual([100, 200]);
  });

  test("stops at its declared maximum, with a cursor", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_RESULT_BYTES: "10000000" });
    const { trackId } = await server.seed.track();
    const { submissionId } = await server.seed.submission({ trackId });
    await server.write(async (tx) => {
      const row = await tx.get("submissions", submissionId);
      for (let index = 0; index < limits.gatheredRows + 1; index += 1) {
        await tx.insert("submissions", {
          ...(row as NonNullable<typeof row>),
          submissionId: `sub_${String(index).padStart(5, "0")}`,
        });
      }
    });
    const first = await agent.call("list_submissions", { all: true, select: ["title"] });
    expect(rowsOf(first)).toHaveLength(limits.gatheredRows);
    expect(first.structuredContent?.notes?.[0]).toMatch(/^One call returns at most 1000 rows\./);
    const { lastEvaluatedKey } = first.structuredContent?.page ?? {};
    const rest = rowsOf(await agent.call("list_submissions", { all: true, select: ["title"], lastEvaluatedKey }));
    expect(rest).toHaveLength(2);
    const ids = new Set([...rowsOf(first), ...rest].map((row) => row["submissionId"]));
    expect(ids.size).toBe(limits.gatheredRows + 2);
  });

  test("stops at the size limit, and continues with the next row", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_RESULT_BYTES: "12000" });
    const seeded = await submissionsOf(server, 150);
    const seen: unknown[] = [];
    let lastEvaluatedKey: string | undefined;
    do {
      const given = lastEvaluatedKey ? { lastEvaluatedKey } : {};
      const result = await agent.call("list_submissions", { all: true, select: ["title"], ...given });
      expect(Buffer.byteLength(JSON.stringify(rowsOf(result)))).toBeLessThanOrEqual(12_000);
      seen.push(...rowsOf(result).map((row) => row["submissionId"]));
      lastEvaluatedKey = result.structuredContent?.page?.lastEvaluatedKey;
    } while (lastEvaluatedKey !== undefined);
    expect(seen).toEqual(seeded.map(({ submissionId }) => submissionId).toReversed());
  });

  test("shows every row with fewer fields rather than fewer rows, and says which are left out", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_RESULT_BYTES: "40000" });
    const seeded = await submissionsOf(server, 130, 900);
    const result = await agent.call("list_submissions", { all: true });
    const rows = rowsOf(result);
    expect(rows.map((row) => row["submissionId"])).toEqual(seeded.map(({ submissionId }) => submissionId).toReversed());
    expect(rows[0]).toMatchObject({ title: "No. 129", state: "DRAFT", version: 0 });
    expect(rows[0]).not.toHaveProperty("fields");
    expect(result.structuredContent?.page).toEqual({ hasMore: false });
    expect(result.content[0]?.text).toMatch(/^130 rows\n/);
    expect(result.structuredContent?.notes?.[0]).toMatch(/^Omitted from every row.*: fields\.fld_title, /);
  });

  test("of selected fields that do not fit says in its first line how many rows there are", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_RESULT_BYTES: "40000" });
    await submissionsOf(server, 90, 900);
    const result = await agent.call("list_submissions", { all: true, select: "fields" });
    const { length } = rowsOf(result);
    expect(length).toBeGreaterThan(30);
    expect(result.content[0]?.text).toMatch(new RegExp(`^${length} of 90 rows; more with lastEvaluatedKey=`));
  });

  test("begins where either cursor of the persons list says", async () => {
    const { server, agent } = await openSetup();
    await seedMany(130, async () => server.seed.person({}));
    const { lastEvaluatedKey } = (await agent.call("list_persons", { limit: 10 })).structuredContent?.page ?? {};
    for (const given of [{ cursor: lastEvaluatedKey }, { lastEvaluatedKey }]) {
      const rest = await agent.call("list_persons", { all: true, select: ["kinds"], ...given });
      expect(rowsOf(rest)).toHaveLength(120);
    }
  });

  test("that is interrupted by a refusal returns the rows so far, the reason, and how to continue", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_REQUESTS_PER_MINUTE: "2" });
    await submissionsOf(server, 230);
    const result = await agent.call("list_submissions", { all: true, select: ["title"] });
    expect(rowsOf(result)).toHaveLength(200);
    expect(result.structuredContent?.notes?.[0]).toMatch(
      /Wait \d+ seconds.*200 rows are shown; continue with lastEvaluatedKey/,
    );
    expect(result.structuredContent?.page?.hasMore).toBe(true);
    const again = readError(await agent.call("list_submissions", { all: true }));
    expect(again.code).toBe("rate_limited");
  });

  test("says that a limit beside it has no effect", async () => {
    const { server, agent } = await openSetup();
    await submissionsOf(server, 3);
    const result = await agent.call("list_submissions", { all: true, limit: 1 });
    expect(rowsOf(result)).toHaveLength(3);
    expect(result.structuredContent?.notes).toContain("limit has no effect beside all.");
  });
});
