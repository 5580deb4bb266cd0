import { describe, expect, test } from "vitest";
import { AssignmentStatus } from "../../src/contract/assignments.ts";
import { Problem } from "../../src/contract/errors.ts";
import { listDomains, planPairs } from "../../src/domain/assignment-plan.ts";
import { checkAssignmentTransition, listRequestedPairs, toEndedAssignment } from "../../src/domain/assignments.ts";
import { attested, before, here, past } from "./past-assignments.ts";

describe("named pairs", () => {
  const statuses = new Map([
    ["active", "active"],
    ["invited", "invited"],
    ["declined", "declined"],
    ["inactive", "inactive"],
  ] as const);
  const pair = (submissionId: string, reviewerId: string) => ({ submissionId, reviewerId });

  test("are assigned or skipped with the reason, in their order", () => {
    const plan = planPairs(
      ["active", "invited", "declined", "inactive", "active"].map((id) => pair("s1", id)),
      statuses,
      [past("s2", "active")],
      here,
    );
    expect(plan.assign).toEqual([pair("s1", "active"), pair("s1", "invited")]);
    expect(plan.skipped).toEqual([
      { ...pair("s1", "declined"), reason: "reviewer_inactive" },
      { ...pair("s1", "inactive"), reason: "reviewer_inactive" },
      { ...pair("s1", "active"), reason: "duplicate" },
    ]);
  });

  test.each([
    ["an active assignment of the round", past("s1", "active"), "duplicate"],
    [
      "a conflict of another round",
      past("s1", "active", { roundId: before, status: "conflict" }),
      "conflict_of_interest",
    ],
    [
      "an attested conflict, removed",
      past("s1", "active", { active: false, conflictAttestation: attested }),
      "conflict_of_interest",
    ],
    ["a removed assignment", past("s1", "active", { active: false, status: "cancelled" }), undefined],
    ["an assignment of another round", past("s1", "active", { roundId: before }), undefined],
    [
      "an attestation of no conflict",
      past("s1", "active", { roundId: before, conflictAttestation: { ...attested, hasConflict: false } }),
      undefined,
    ],
  ])("with %s", (_, earlier, reason) => {
    const plan = planPairs([pair("s1", "active")], statuses, [earlier], here);
    expect(plan.skipped.map((skipped) => skipped.reason)).toEqual(reason ? [reason] : []);
    expect(plan.assign).toHaveLength(reason ? 0 : 1);
  });
});

describe("a bulk request", () => {
  test("names pairs, or every combination of two lists", () => {
    expect(listRequestedPairs({ pairs: [{ submissionId: "s1", reviewerId: "a" }] })).toEqual([
      {
        submissionId: "s1",
        reviewerId: "a",
        submissionPath: "pairs.0.submissionId",
        reviewerPath: "pairs.0.reviewerId",
      },
    ]);
    const all = listRequestedPairs({ submissionIds: ["s1", "s2"], reviewerIds: ["a", "b"] });
    expect(all.map(({ submissionId, reviewerId }) => submissionId + reviewerId)).toEqual(["s1a", "s1b", "s2a", "s2b"]);
    expect(all[2]).toMatchObject({ submissionPath: "submissionIds.1", reviewerPath: "reviewerIds.0" });
  });

  const one = { submissionId: "s1", reviewerId: "a" };
  test.each([
    ["nothing", {}, ["submissionIds", "reviewerIds", "pairs"]],
    ["one list alone", { submissionIds: ["s1"] }, ["reviewerIds"]],
    ["the other list alone", { reviewerIds: ["a"] }, ["submissionIds"]],
    ["pairs and a list", { pairs: [one], reviewerIds: ["a"] }, ["reviewerIds", "pairs"]],
    [
      "both forms",
      { pairs: [one], submissionIds: ["s1"], reviewerIds: ["a"] },
      ["submissionIds", "reviewerIds", "pairs"],
    ],
    ["no pairs", { pairs: [] }, ["pairs"]],
    ["an empty list", { submissionIds: ["s1"], reviewerIds: [] }, ["reviewerIds"]],
    [
      "501 combinations",
      { submissionIds: Array(167).fill("s"), reviewerIds: ["a", "b", "c"] },
      ["submissionIds", "reviewerIds"],
    ],
  ])("with %s is refused", (_, request, paths) => {
    expect(problemOf(() => listRequestedPairs(request))).toMatchObject({
      code: "validation_failed",
      details: { issues: paths.map((path) => expect.objectContaining({ path })) },
    });
  });

  test("takes 500 combinations", () => {
    expect(listRequestedPairs({ submissionIds: Array(100).fill("s"), reviewerIds: Array(5).fill("r") })).toHaveLength(
      500,
    );
  });
});

describe("an assignment", () => {
  const removable = ["assigned", "accepted", "conflict"];
  test.each(
    AssignmentStatus.options.map((status) => [status]),
  )("that is %s moves as its state machine allows", (status) => {
    const refused = {
      code: "invalid_state_transition",
      details: { from: status, operation: "delete", allowedFrom: removable },
    };
    const removed = problemOf(() => checkAssignmentTransition("delete", { status, active: true }));
    if (removable.includes(status)) expect(removed).toBeUndefined();
    else expect(removed).toMatchObject(refused);
    const reassigned = problemOf(() => checkAssignmentTransition("reassign", { status, active: true }));
    expect(reassigned === undefined).toBe([...removable, "declined"].includes(status));
    expect(problemOf(() => checkAssignmentTransition("reassign", { status, active: false }))?.code).toBe(
      "invalid_state_transition",
    );
  });

  test("ends as cancelled, but stays declined", () => {
    const now = "2026-11-20T00:00:00.000Z";
    expect(toEndedAssignment("accepted", now)).toEqual({ status: "cancelled", active: false, removedAt: now });
    expect(toEndedAssignment("declined", now)).toEqual({ status: "declined", active: false, removedAt: now });
  });
});

test("a submission's domains come from one field, ready to compare", () => {
  expect(listDomains({ topic: " Solar " }, "topic")).toEqual(["solar"]);
  expect(listDomains({ topic: ["Solar", "WIND"] }, "topic")).toEqual(["solar", "wind"]);
  expect(listDomains({ topic: 3 }, "topic")).toEqual([]);
  expect(listDomains({}, "constructor")).toEqual([]);
});

function problemOf(run: () => unknown): Problem | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  return undefined;
}
