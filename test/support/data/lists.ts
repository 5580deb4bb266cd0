import { expect } from "vitest";
import type { OperationName } from "../../../src/contract/index.ts";
import type { TestCaller } from "../servers/test-server.ts";

/** Every page of a list, first to last. */
export async function readPages<R>(caller: TestCaller, name: OperationName, query: object = {}): Promise<R[][]> {
  const pages: R[][] = [];
  let lastEvaluatedKey: string | undefined;
  do {
    const { data, page } = await caller.call(name, { ...query, lastEvaluatedKey });
    expect(page?.hasMore).toBe(page?.lastEvaluatedKey !== undefined);
    pages.push(data);
    lastEvaluatedKey = page?.lastEvaluatedKey;
  } while (lastEvaluatedKey !== undefined && pages.length < 1000);
  return pages;
}

/** Makes records one after the other; gives them in that order. */
export async function seedMany<R>(count: number, seed: (index: number) => Promise<R>): Promise<R[]> {
  const rows: R[] = [];
  for (let index = 0; index < count; index += 1) rows.push(await seed(index));
  return rows;
}
