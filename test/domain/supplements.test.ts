import { describe, expect, test } from "vitest";
import type { SupplementResponse, SupplementStatus } from "../../src/contract/supplements.ts";
import {
  checkSupplementTransition,
  createSupplementStateFields,
  listOutstanding,
} from "../../src/domain/supplements.ts";

const statuses = ["not_started", "draft", "submitted", "closed"] as const;

/** The table of the design, written out. */
const table = {
  edit: "not_started draft submitted",
  close: "not_started draft submitted",
  reopen: "closed",
} as const;

const cases = (["edit", "close", "reopen"] as const).flatMap((operation) =>
  statuses.map((from) => [operation, from, table[operation].split(" ")] as const),
);

test.each(cases)("%s from %s", (operation, from, allowedFrom) => {
  const check = () => checkSupplementTransition(operation, from);
  if (allowedFrom.includes(from)) return expect(check).not.toThrow();
  return expect(check).toThrow(
    expect.objectContaining({ code: "invalid_state_transition", details: { from, operation, allowedFrom } }),
  );
});

describe("supplementArrival", () => {
  const now = "2026-11-20T04:01:05.123Z";
  const before = { submittedAt: "then", closedAt: "then", reopenedAt: null };
  const moved = (from: SupplementStatus, to: SupplementStatus) => ({
    status: from,
    ...before,
    ...createSupplementStateFields(from, to, now),
  });

  test.each(statuses)("nothing changes where %s stays", (status) => {
    expect(createSupplementStateFields(status, status, now)).toEqual({});
  });

  test("times follow the status", () => {
    expect(moved("draft", "submitted")).toEqual({ ...before, status: "submitted", submittedAt: now, closedAt: null });
    expect(moved("submitted", "closed")).toEqual({ ...before, status: "closed", closedAt: now });
    expect(moved("closed", "draft")).toEqual({
      status: "draft",
      submittedAt: null,
      closedAt: null,
      reopenedAt: now,
    });
    expect(moved("submitted", "not_started")).toMatchObject({ submittedAt: null, reopenedAt: null });
  });
});

test("outstanding are required supplements neither submitted nor closed", () => {
  const supplements = [true, false].flatMap((required) =>
    statuses.map((status) => ({ supplementResponseId: `${required} ${status}`, required, status })),
  );
  expect(listOutstanding(supplements as SupplementResponse[])).toEqual(["true not_started", "true draft"]);
});
