import fc from "fast-check";
import { expect, test } from "vitest";
import { problem } from "../../src/contract/errors.ts";
import { measureJsonBytes } from "../../src/lib/json-cache.ts";
import { type PageOptions, type Pages, readPages } from "../../src/tools/results/pages.ts";
import { createRowSizes } from "../../src/tools/results/row-sizes.ts";
import type { Answer, Upstream } from "../../src/upstream/port.ts";

type Row = { readonly id: number; readonly text: string };

/** A list whose cursor is the number of rows before it; `sizeOf` may say another size each time a row is shown. */
function listOf(count: number, sizeOf: (id: number, requestCount: number) => number) {
  let requestCount = 0;
  return async ({ limit, lastEvaluatedKey }: Readonly<Record<string, unknown>>): Promise<Answer> => {
    requestCount += 1;
    const from = Number(lastEvaluatedKey ?? 0);
    const to = Math.min(from + Number(limit), count);
    const data = Array.from({ length: to - from }, (_, index): Row => {
      return { id: from + index, text: "x".repeat(sizeOf(from + index, requestCount)) };
    });
    const page = to < count ? { hasMore: true, lastEvaluatedKey: String(to) } : { hasMore: false };
    return { ok: true, status: 200, data, page, replayed: false } as Answer;
  };
}

function options(given: Pick<PageOptions, "requestPage"> & Partial<PageOptions>): PageOptions {
  const signal = new AbortController().signal;
  return { toVisibleRow: (row) => row, maxBytes: 1000, all: false, progress: async () => undefined, signal, ...given };
}

async function pagesOf(given: Parameters<typeof options>[0], limit: number): Promise<Pages[]> {
  const pages: Pages[] = [];
  let lastEvaluatedKey: string | undefined;
  do {
    const page = await readPages(
      { limit, ...(lastEvaluatedKey === undefined ? {} : { lastEvaluatedKey }) },
      options(given),
    );
    if (!page.ok) throw page.problem;
    pages.push(page);
    lastEvaluatedKey = page.page.lastEvaluatedKey;
    expect(page.page.hasMore).toBe(lastEvaluatedKey !== undefined);
  } while (lastEvaluatedKey !== undefined);
  return pages;
}

const sizes = fc.array(fc.integer({ min: 0, max: 1500 }), { maxLength: 60 });

test("pages of any size return every row once, in order, within the size limit", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.boolean(), fc.integer({ min: 1, max: 30 }), async (lengths, all, limit) => {
      const ask = listOf(lengths.length, (id) => lengths[id] ?? 0);
      const pages = await pagesOf({ requestPage: ask, all }, limit);
      expect(pages.flatMap(({ rows }) => rows.map((row) => row["id"]))).toEqual(lengths.map((_, id) => id));
      for (const { rows } of pages) if (rows.length > 1) expect(measureJsonBytes(rows)).toBeLessThanOrEqual(1000);
    }),
  );
});

test("with row sizes from earlier pages every row is returned once, and an embedded service's pages stay the same", async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.boolean(), fc.integer({ min: 1, max: 30 }), async (lengths, isEmbedded, limit) => {
      const list = listOf(lengths.length, (id) => lengths[id] ?? 0);
      const cursorAfter = (from: unknown) => (rows: number) => String(Number(from ?? 0) + rows);
      const requestPage: PageOptions["requestPage"] = async (input) => {
        const answer = await list(input);
        return isEmbedded ? { ...answer, cursorAfter: cursorAfter(input["lastEvaluatedKey"]) } : answer;
      };
      const rowSizes = createRowSizes({} as Upstream, []);
      const pages = await pagesOf({ requestPage, rowSizes }, limit);
      expect(pages.flatMap(({ rows }) => rows.map((row) => row["id"]))).toEqual(lengths.map((_, id) => id));
      for (const { rows } of pages) {
        expect(rows.length).toBeLessThanOrEqual(limit);
        if (rows.length > 1) expect(measureJsonBytes(rows)).toBeLessThanOrEqual(1000);
      }
      if (isEmbedded) expect(pages).toEqual(await pagesOf({ requestPage: list }, limit));
    }),
  );
});

test("a list whose rows are known not to fit costs one request a page", async () => {
  const requested: unknown[] = [];
  const list = listOf(500, () => 80);
  const requestPage: PageOptions["requestPage"] = (input) => {
    requested.push(input["limit"]);
    return list(input);
  };
  const given = { requestPage, rowSizes: createRowSizes({} as Upstream, []) };
  await readPages({ limit: 50 }, options(given));
  const next = await readPages({ limit: 50, lastEvaluatedKey: "10" }, options(given));
  expect(requested).toEqual([50, 10, 9]);
  expect(next).toMatchObject({ ok: true, page: { hasMore: true, lastEvaluatedKey: "19" } });
  expect((next as Pages).notes[0]).toContain("9 rows are shown; continue with lastEvaluatedKey");
});

test("pages return every row once while rows are written", async () => {
  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.infiniteStream(fc.integer({ min: 0, max: 900 })),
      fc.boolean(),
      async (lengths, more, all) => {
        const ask = listOf(lengths.length, () => more.next().value ?? 0);
        const pages = await pagesOf({ requestPage: ask, all }, 20);
        expect(pages.flatMap(({ rows }) => rows.map((row) => row["id"]))).toEqual(lengths.map((_, id) => id));
        for (const { rows } of pages) if (rows.length > 1) expect(measureJsonBytes(rows)).toBeLessThanOrEqual(1000);
      },
    ),
  );
});

test("with required fields every row is shown, and what does not fit is left out of all of them", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 250 }),
      fc.boolean(),
      async (lengths, nested) => {
        const list = listOf(lengths.length, (id) => lengths[id] ?? 0);
        const toVisibleRow: PageOptions["toVisibleRow"] = ({ id, text }) =>
          nested ? { id, map: { id, text } } : { id, text };
        const given = { requestPage: list, toVisibleRow, all: true, maxBytes: 8_000, requiredFields: ["id"] };
        const [page, ...others] = await pagesOf(given, 20);
        expect(others).toEqual([]);
        expect(page?.rows.map((row) => row["id"])).toEqual(lengths.map((_, id) => id));
        expect(measureJsonBytes(page?.rows)).toBeLessThanOrEqual(8_000);
        const field = nested ? "map.text" : "text";
        const isOmitted = page?.notes.some((note) => note.includes(`so that more rows fit: ${field}`)) ?? false;
        expect(page?.rows.some((row) => JSON.stringify(row).includes("text"))).toBe(!isOmitted);
        if (isOmitted) expect(lengths.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(1_000);
      },
    ),
  );
});

test("rows that do not fit even with the required fields alone are counted", async () => {
  const ask = listOf(230, () => 0);
  const given = { requestPage: ask, all: true, maxBytes: 1_000, requiredFields: ["id"] };
  const result = await readPages({ limit: 20 }, options(given));
  expect(result).toMatchObject({ ok: true, total: "230", page: { hasMore: true } });
  const { rows, notes } = result as Pages;
  expect(notes[0]).toContain(`${rows.length} of 230 rows are shown; continue with lastEvaluatedKey`);
  const many = await readPages({ limit: 20 }, options({ ...given, requestPage: listOf(5_000, () => 0) }));
  expect((many as Pages).total).toMatch(/^at least 1\d\d\d$/);
});

test("a page that fits costs one request, one that is cut two", async () => {
  let requestCount = 0;
  const counted = (count: number) => async (input: Readonly<Record<string, unknown>>) => {
    requestCount += 1;
    return listOf(count, () => 80)(input);
  };
  await readPages({ limit: 20 }, options({ requestPage: counted(5) }));
  expect(requestCount).toBe(1);
  const cut = await readPages({ limit: 20 }, options({ requestPage: counted(50) }));
  expect(requestCount).toBe(3);
  expect(cut).toMatchObject({ ok: true, page: { hasMore: true, lastEvaluatedKey: "10" } });
});

test("gathering stops when the client cancels, with the cursor to go on", async () => {
  const cancel = new AbortController();
  const list = listOf(1000, () => 0);
  let requestCount = 0;
  const ask: PageOptions["requestPage"] = (input) => {
    requestCount += 1;
    if (requestCount === 2) cancel.abort();
    return list(input);
  };
  const result = await readPages(
    { limit: 20 },
    options({ requestPage: ask, all: true, maxBytes: 1_000_000, signal: cancel.signal }),
  );
  expect(requestCount).toBe(2);
  expect(result).toMatchObject({ ok: true, page: { hasMore: true, lastEvaluatedKey: "200" } });
});

test("a refusal of a later page keeps the rows gathered before", async () => {
  const list = listOf(500, () => 0);
  let requestCount = 0;
  const ask: PageOptions["requestPage"] = async (input) => {
    requestCount += 1;
    return requestCount === 3 ? { ok: false, problem: problem("rate_limited", { retryAfterSeconds: 7 }) } : list(input);
  };
  const result = await readPages({ limit: 20 }, options({ requestPage: ask, all: true, maxBytes: 3_000 }));
  expect(result).toMatchObject({ ok: true, page: { hasMore: true, lastEvaluatedKey: "100" } });
  const { rows, notes } = result as Pages;
  expect(rows).toHaveLength(100);
  expect(notes[0]).toContain("Wait 7 seconds");
});
