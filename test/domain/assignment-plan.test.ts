import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AssignmentStatus } from "../../src/contract/assignments.ts";
import { type PastAssignment, type PlanInput, planAssignments } from "../../src/domain/assignment-plan.ts";
import { attested, before, here, past } from "./past-assignments.ts";

const rules = {
  reviewsPerSubmission: 2,
  useExpertiseMatching: false,
  domainFieldId: null,
  excludePriorRoundReviewers: false,
  maxPerReviewer: null,
};

const submission = (submissionId: string, ...domains: string[]) => ({ submissionId, domains });
const reviewer = (reviewerId: string, expertise: string[] = [], maxAssignments: number | null = null) => ({
  reviewerId,
  expertise,
  maxAssignments,
});

function input(change: Partial<PlanInput> = {}): PlanInput {
  return {
    roundId: here,
    earlierRoundIds: new Set([before]),
    rules,
    submissions: [],
    reviewers: [],
    past: [],
    workloads: new Map(),
    ...change,
  };
}

const pairs = (plan: { assign: readonly { submissionId: string; reviewerId: string }[] }) =>
  plan.assign.map(({ submissionId, reviewerId }) => `${submissionId} ${reviewerId}`);

describe("a plan", () => {
  test("that is cut says which list and after how many rows", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => submission(`sub_${index}`));
    const reviewers = ["rvw_1", "rvw_2"].map((id) => reviewer(id));
    const cut = planAssignments(input({ submissions: many(5_001), reviewers }));
    expect([cut.assign.length, cut.truncated]).toEqual([10_000, [{ list: "created", limit: 10_000 }]]);
    const whole = planAssignments(input({ submissions: many(5_000), reviewers }));
    expect([whole.assign.length, whole.truncated]).toEqual([10_000, []]);
    const conflicts = many(1_001).map(({ submissionId }) =>
      past(submissionId, "rvw_1", { status: "conflict", conflictAttestation: attested }),
    );
    const barred = planAssignments(input({ submissions: many(1_001), reviewers, past: conflicts }));
    expect([barred.skipped.length, barred.truncated]).toEqual([1_000, [{ list: "skipped", limit: 1_000 }]]);
  });

  test("gives every submission its reviews, the least loaded first, ties by id", () => {
    const plan = planAssignments(
      input({
        submissions: [submission("s1"), submission("s2")],
        reviewers: [reviewer("c"), reviewer("a"), reviewer("b")],
        past: [past("s9", "a")],
      }),
    );
    expect(pairs(plan)).toEqual(["s1 a", "s1 b", "s2 b", "s2 c"]);
    expect(plan.skipped).toEqual([]);
  });

  test("names no more than a thousand conflicts of interest", () => {
    const ids = Array.from({ length: 40 }, (_, index) => String(index));
    const plan = planAssignments(
      input({
        submissions: ids.map((id) => submission(id)),
        reviewers: ids.map((id) => reviewer(id)),
        past: ids.flatMap((id) =>
          ids.map((reviewerId) => past(id, reviewerId, { status: "conflict", roundId: before })),
        ),
      }),
    );
    expect(plan.assign).toEqual([]);
    expect(plan.skipped).toHaveLength(1000);
  });

  test("gives each submission a first review before any gets a second, where reviewers are scarce", () => {
    const plan = planAssignments(
      input({
        submissions: ["s1", "s2", "s3", "s4"].map((id) => submission(id)),
        reviewers: [reviewer("a"), reviewer("b")],
        rules: { ...rules, reviewsPerSubmission: 2, maxPerReviewer: 2 },
      }),
    );
    expect(plan.assign.map(({ submissionId }) => submissionId)).toEqual(["s1", "s2", "s3", "s4"]);
  });

  test("evens out loads where the emptiest reviewer's turn comes too late", () => {
    const three = ["1", "2", "3"];
    const plan = planAssignments(
      input({ submissions: three.map((id) => submission(`s${id}`)), reviewers: three.map((id) => reviewer(`r${id}`)) }),
    );
    const loads = three.map((id) => plan.assign.filter(({ reviewerId }) => reviewerId === `r${id}`).length);
    expect(loads).toEqual([2, 2, 2]);
  });

  test("serves the submission with the fewest reviews first", () => {
    const plan = planAssignments(
      input({
        submissions: [submission("s1"), submission("s2")],
        reviewers: [reviewer("a", [], 1)],
        past: [past("s1", "x", { status: "completed" })],
      }),
    );
    expect(pairs(plan)).toEqual(["s2 a"]);
  });

  test("counts what is assigned in the round already, but neither conflicts nor what was declined or removed", () => {
    const plan = planAssignments(
      input({
        submissions: [submission("s1"), submission("s2"), submission("s3"), submission("s4")],
        reviewers: [reviewer("a"), reviewer("z")],
        rules: { ...rules, reviewsPerSubmission: 1 },
        past: [
          past("s1", "x", { status: "completed" }),
          past("s2", "a", { status: "conflict" }),
          past("s3", "a", { status: "declined" }),
          past("s4", "x", { status: "cancelled", active: false }),
        ],
      }),
    );
    expect(pairs(plan)).toEqual(["s2 z", "s3 z", "s4 a"]);
  });

  test("never gives a declined submission back, though somebody else took it over", () => {
    const plan = planAssignments(
      input({
        submissions: [submission("s1")],
        reviewers: [reviewer("a")],
        past: [past("s1", "a", { status: "declined", active: false })],
      }),
    );
    expect(plan.assign).toEqual([]);
  });

  test("keeps conflicts of interest from any round away and names them where reviews are missing", () => {
    const plan = planAssignments(
      input({
        submissions: [submission("s1"), submission("s2")],
        reviewers: [reviewer("a"), reviewer("b")],
        past: [past("s1", "a", { roundId: before, status: "cancelled", active: false, conflictAttestation: attested })],
      }),
    );
    expect(pairs(plan)).toEqual(["s1 b", "s2 a", "s2 b"]);
    expect(plan.skipped).toEqual([{ submissionId: "s1", reviewerId: "a", reason: "conflict_of_interest" }]);
  });

  test("does not name conflicts of submissions that have their reviews", () => {
    const plan = planAssignments(
      input({
        submissions: [submission("s1")],
        reviewers: [reviewer("a"), reviewer("b"), reviewer("c")],
        past: [past("s1", "a", { roundId: before, conflictAttestation: attested })],
      }),
    );
    expect(pairs(plan)).toEqual(["s1 b", "s1 c"]);
    expect(plan.skipped).toEqual([]);
  });

  test("leaves out those who reviewed the submission in an earlier round only when asked", () => {
    const change = {
      submissions: [submission("s1")],
      reviewers: [reviewer("a"), reviewer("b")],
      past: [
        past("s1", "a", { roundId: before, status: "completed" }),
        past("s1", "b", { roundId: "rnd_3", status: "completed" }),
      ],
    } satisfies Partial<PlanInput>;
    expect(pairs(planAssignments(input(change)))).toEqual(["s1 a", "s1 b"]);
    const excluding = { ...rules, excludePriorRoundReviewers: true };
    expect(pairs(planAssignments(input({ ...change, rules: excluding })))).toEqual(["s1 b"]);
  });

  test("prefers expertise over load, without regard to case, and takes others when no expert is free", () => {
    const change = {
      submissions: [submission("s1", "solar"), submission("s2", "solar"), submission("s3", "wind")],
      reviewers: [reviewer("a"), reviewer("b", [" SOLAR "], 1), reviewer("c", ["solar"])],
      rules: { ...rules, reviewsPerSubmission: 1, useExpertiseMatching: true },
      past: [past("s9", "b"), past("s8", "c")],
    };
    expect(pairs(planAssignments(input(change)))).toEqual(["s1 b", "s2 c", "s3 a"]);
    const full = { ...change, workloads: new Map([["b", 1]]), rules: { ...change.rules, maxPerReviewer: 2 } };
    expect(pairs(planAssignments(input(full)))).toEqual(["s1 c", "s2 a", "s3 a"]);
  });

  test("does not move a submission from an expert to somebody else to even out loads", () => {
    const plan = planAssignments(
      input({
        submissions: ["s1", "s2", "s3"].map((id) => submission(id, "solar")),
        reviewers: [reviewer("a"), reviewer("expert", ["solar"])],
        rules: { ...rules, reviewsPerSubmission: 1, useExpertiseMatching: true },
      }),
    );
    expect(pairs(plan)).toEqual(["s1 expert", "s2 expert", "s3 expert"]);
  });

  test("ends for a number of reviews that nobody could reach", () => {
    const plan = planAssignments(
      input({
        submissions: [submission("s1"), submission("s2")],
        reviewers: [reviewer("a"), reviewer("b")],
        rules: { ...rules, reviewsPerSubmission: Number.MAX_SAFE_INTEGER },
      }),
    );
    expect(plan.assign).toHaveLength(4);
  });

  test("makes at most 10,000 assignments, and the next one goes on from there", () => {
    const submissions = Array.from({ length: 5001 }, (_, index) => submission(`s${index}`));
    const reviewers = [reviewer("a"), reviewer("b")];
    const first = planAssignments(input({ submissions, reviewers }));
    expect(first.assign).toHaveLength(10_000);
    const made = first.assign.map(({ submissionId, reviewerId }) => past(submissionId, reviewerId));
    expect(planAssignments(input({ submissions, reviewers, past: made })).assign).toHaveLength(2);
  });
});

describe("any plan", () => {
  const ids = (prefix: string, length: number) => Array.from({ length }, (_, index) => `${prefix}${index}`);
  const topic = fc.constantFrom("solar", "wind", "water");

  const anyPast = (submissions: string[], reviewers: string[]) =>
    fc.record<PastAssignment>({
      submissionId: fc.constantFrom(...submissions, "elsewhere"),
      reviewerId: fc.constantFrom(...reviewers),
      roundId: fc.constantFrom(here, before, "rnd_3"),
      status: fc.constantFrom(...AssignmentStatus.options),
      active: fc.boolean(),
      conflictAttestation: fc.option(fc.boolean().map((hasConflict) => ({ ...attested, hasConflict }))),
    });

  const anyInput: fc.Arbitrary<PlanInput> = fc
    .record({ submissionCount: fc.integer({ min: 1, max: 12 }), reviewerCount: fc.integer({ min: 1, max: 8 }) })
    .chain(({ submissionCount, reviewerCount }) => {
      const submissionIds = ids("s", submissionCount);
      const reviewerIds = ids("r", reviewerCount);
      const limit = fc.option(fc.integer({ min: 0, max: 6 }));
      return fc.record({
        roundId: fc.constant(here),
        earlierRoundIds: fc.constant(new Set([before])),
        rules: fc.record({
          reviewsPerSubmission: fc.integer({ min: 0, max: 5 }),
          useExpertiseMatching: fc.boolean(),
          domainFieldId: fc.constant("fld_domain"),
          excludePriorRoundReviewers: fc.boolean(),
          maxPerReviewer: limit,
        }),
        submissions: fc.tuple(
          ...submissionIds.map((submissionId) =>
            fc.array(topic, { maxLength: 2 }).map((domains) => ({ submissionId, domains })),
          ),
        ),
        reviewers: fc.tuple(
          ...reviewerIds.map((reviewerId) =>
            fc.record({ reviewerId: fc.constant(reviewerId), expertise: fc.array(topic), maxAssignments: limit }),
          ),
        ),
        past: fc.array(anyPast(submissionIds, reviewerIds), { maxLength: 20 }),
        workloads: fc.constant(new Map<string, number>()),
      });
    })
    .map((drawn) => ({ ...drawn, workloads: countWorkloads(drawn.past) }));

  const working = ["assigned", "accepted", "conflict", "completed"];

  function countWorkloads(all: readonly PastAssignment[]): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { reviewerId, active, status } of all) {
      if (active && working.includes(status)) counts.set(reviewerId, (counts.get(reviewerId) ?? 0) + 1);
    }
    return counts;
  }

  const loadIn = (plan: ReturnType<typeof planAssignments>, reviewerId: string) =>
    plan.assign.filter((pair) => pair.reviewerId === reviewerId).length;

  test("keeps limits, conflicts and pairs made before", () => {
    fc.assert(
      fc.property(anyInput, (drawn) => {
        const plan = planAssignments(drawn);
        const made = pairs(plan);
        expect(new Set(made).size).toBe(made.length);
        for (const { reviewerId, maxAssignments } of drawn.reviewers) {
          const planned = loadIn(plan, reviewerId);
          if (planned === 0) continue;
          const inRound = countWorkloads(drawn.past.filter(({ roundId }) => roundId === here)).get(reviewerId) ?? 0;
          expect(inRound + planned).toBeLessThanOrEqual(drawn.rules.maxPerReviewer ?? Number.POSITIVE_INFINITY);
          expect((drawn.workloads.get(reviewerId) ?? 0) + planned).toBeLessThanOrEqual(
            maxAssignments ?? Number.POSITIVE_INFINITY,
          );
        }
        for (const earlier of drawn.past) {
          const pair = `${earlier.submissionId} ${earlier.reviewerId}`;
          const conflict = earlier.status === "conflict" || earlier.conflictAttestation?.hasConflict;
          const taken = earlier.roundId === here && earlier.active;
          const reviewed = earlier.roundId === before && earlier.status === "completed";
          if (conflict || taken || (reviewed && drawn.rules.excludePriorRoundReviewers))
            expect(made).not.toContain(pair);
        }
        for (const { submissionId } of drawn.submissions) {
          const given = plan.assign.filter((pair) => pair.submissionId === submissionId).length;
          expect(given).toBeLessThanOrEqual(drawn.rules.reviewsPerSubmission);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("leaves no submission short while a reviewer who may review it is free", () => {
    fc.assert(
      fc.property(anyInput, (drawn) => {
        const withoutMatching = { ...drawn, rules: { ...drawn.rules, useExpertiseMatching: false } };
        const plan = planAssignments(withoutMatching);
        const after = [...drawn.past, ...plan.assign.map((pair) => past(pair.submissionId, pair.reviewerId))];
        const again = planAssignments({ ...withoutMatching, past: after, workloads: countWorkloads(after) });
        expect(pairs(again)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("is the same for the same input in any order", () => {
    fc.assert(
      fc.property(anyInput, fc.infiniteStream(fc.nat()), (drawn, random) => {
        const shuffled = <T>(items: readonly T[]) =>
          items
            .map((item) => ({ item, key: random.next().value ?? 0 }))
            .toSorted((a, b) => a.key - b.key)
            .map(({ item }) => item);
        const reordered = {
          ...drawn,
          submissions: shuffled(drawn.submissions),
          reviewers: shuffled(drawn.reviewers),
          past: shuffled(drawn.past),
        };
        expect(planAssignments(reordered)).toEqual(planAssignments(drawn));
      }),
    );
  });

  test("loads reviewers who may review everything alike, within one", () => {
    const shape = fc.record({
      submissions: fc.integer({ min: 1, max: 25 }),
      reviewers: fc.integer({ min: 1, max: 8 }),
      perSubmission: fc.integer({ min: 0, max: 8 }),
      maxPerReviewer: fc.option(fc.integer({ min: 0, max: 8 })),
    });
    fc.assert(
      fc.property(shape, ({ submissions, reviewers, perSubmission, maxPerReviewer }) => {
        const reviewerIds = ids("r", reviewers);
        const plan = planAssignments(
          input({
            submissions: ids("s", submissions).map((id) => submission(id)),
            reviewers: reviewerIds.map((id) => reviewer(id)),
            rules: { ...rules, reviewsPerSubmission: perSubmission, maxPerReviewer },
          }),
        );
        const loads = reviewerIds.map((reviewerId) => loadIn(plan, reviewerId));
        expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
        const possible = Math.min(perSubmission, reviewers) * submissions;
        expect(plan.assign).toHaveLength(Math.min(possible, (maxPerReviewer ?? Number.POSITIVE_INFINITY) * reviewers));
      }),
      { numRuns: 1000 },
    );
  });
});
