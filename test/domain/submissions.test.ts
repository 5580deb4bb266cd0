import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/contract/errors.ts";
import type { Program, Track } from "../../src/contract/programs.ts";
import type { Submission, SubmissionState } from "../../src/contract/submissions.ts";
import type { FieldDefinition } from "../../src/domain/fields.ts";
import {
  checkComplete,
  checkDeadline,
  checkIntake,
  checkTransition,
  createStateFields,
  endsReviewing,
  getTitle,
  type SubmissionOperation,
} from "../../src/domain/submissions.ts";

const all = "DRAFT SUBMITTED ELIGIBLE INELIGIBLE IN_REVIEW ELIMINATED FINALIST WINNER WITHDRAWN";
const states = all.split(" ") as SubmissionState[];

/** The table of the design, written out: operation, the states it may start from, the states it leads to. */
const table: Readonly<Record<SubmissionOperation, readonly [from: string, to: string]>> = {
  edit: ["DRAFT", "DRAFT"],
  submit: ["DRAFT", "SUBMITTED"],
  reopen: ["SUBMITTED ELIGIBLE INELIGIBLE", "DRAFT"],
  screen: ["SUBMITTED ELIGIBLE INELIGIBLE", "ELIGIBLE INELIGIBLE"],
  advance: ["SUBMITTED ELIGIBLE IN_REVIEW FINALIST", "IN_REVIEW"],
  eliminate: ["SUBMITTED ELIGIBLE INELIGIBLE IN_REVIEW FINALIST", "ELIMINATED"],
  state: [all, "FINALIST WINNER"],
  patch: [all, "DRAFT WITHDRAWN"],
  withdraw: ["DRAFT SUBMITTED ELIGIBLE INELIGIBLE IN_REVIEW ELIMINATED FINALIST WINNER", "WITHDRAWN"],
};
const operations = Object.keys(table) as SubmissionOperation[];

function thrownBy(work: () => void): Pick<Problem, "code" | "details"> | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    const { code, details } = error as Problem;
    return { code, details };
  }
}

const cases = operations.flatMap((operation) =>
  [true, false].flatMap((screeningRequired) => states.map((from) => ({ operation, from, screeningRequired }))),
);

test.each(cases)("$operation from $from, screening $screeningRequired", ({ operation, from, screeningRequired }) => {
  const allowedFrom = table[operation][0]
    .split(" ")
    .filter((state) => !(operation === "advance" && state === "SUBMITTED" && screeningRequired));
  const thrown = thrownBy(() => checkTransition(operation, from, { screeningRequired }));
  const refusal = { code: "invalid_state_transition", details: { from, operation, allowedFrom } };
  expect(thrown).toEqual(allowedFrom.includes(from) ? undefined : refusal);
});

describe("the fields of a submission's state", () => {
  const now = "2026-11-20T04:01:05.123Z";

  test("are those of the current state only, whatever states came before", () => {
    const none = { eligible: null, submittedAt: null, screenedAt: null, withdrawnAt: null, decidedAt: null };
    const step = fc.record({ operation: fc.constantFrom(...operations), choice: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, screeningRequired) => {
        let submission: Partial<Submission> & { state: SubmissionState } = { state: "DRAFT", ...none };
        for (const { operation, choice } of steps) {
          const { state } = submission;
          if (operation === "edit" || thrownBy(() => checkTransition(operation, state, { screeningRequired })))
            continue;
          const destinations = table[operation][1].split(" ") as SubmissionState[];
          const to = destinations[choice % destinations.length] as SubmissionState;
          submission = { ...submission, ...createStateFields(to, now), state: to };
        }
        const { state } = submission;
        if (state === "DRAFT") expect(submission).toMatchObject(none);
        if (state === "SUBMITTED") expect(submission).toMatchObject({ ...none, submittedAt: now });
        if (/ELIGIBLE/.test(state))
          expect(submission).toMatchObject({ eligible: state === "ELIGIBLE", screenedAt: now });
        expect(submission.withdrawnAt).toBe(state === "WITHDRAWN" ? now : null);
        if (state !== "WITHDRAWN") {
          expect(submission.decidedAt).toBe(/ELIMINATED|FINALIST|WINNER/.test(state) ? now : null);
        }
      }),
    );
  });

  test("keep the round except for a draft", () => {
    expect(states.filter((state) => "currentRoundId" in createStateFields(state, now))).toEqual(["DRAFT"]);
  });

  test("assignments are cancelled with the return to draft, elimination and withdrawal", () => {
    expect(states.filter(endsReviewing)).toEqual(["DRAFT", "ELIMINATED", "WITHDRAWN"]);
  });
});

describe("intake and deadline", () => {
  const open = { trackId: "trk_1", intakeOpen: true, intakeOpenDate: null, intakeCloseDate: null };
  const at = (track: Partial<Track>, now: string) =>
    thrownBy(() => checkIntake({ ...open, ...track } as Track, now))?.code ?? "open";

  test.each([
    [{}, "2026-05-01T00:00:00.000Z", "open"],
    [{ intakeOpen: false }, "2026-05-01T00:00:00.000Z", "intake_closed"],
    [{ intakeOpenDate: "2026-05-01T00:00:00Z" }, "2026-05-01T00:00:00.000Z", "open"],
    [{ intakeOpenDate: "2026-05-01T00:00:00.001Z" }, "2026-05-01T00:00:00.000Z", "intake_closed"],
    [{ intakeCloseDate: "2026-05-01T00:00:00Z" }, "2026-05-01T00:00:00.000Z", "open"],
    [{ intakeCloseDate: "2026-05-01T00:00:00Z" }, "2026-05-01T00:00:00.001Z", "intake_closed"],
  ])("intake %j at %s: %s", (track, now, answer) => {
    expect(at(track, now)).toBe(answer);
  });

  test("a deadline includes its last millisecond", () => {
    const submission = { deadline: "2026-05-01T00:00:00.000Z" } as Submission;
    expect(thrownBy(() => checkDeadline(submission, "2026-05-01T00:00:00.000Z"))).toBeUndefined();
    expect(thrownBy(() => checkDeadline(submission, "2026-05-01T00:00:00.001Z"))).toMatchObject({
      code: "deadline_passed",
    });
  });
});

describe("checkComplete", () => {
  const title: FieldDefinition = {
    fieldId: "fld_t",
    key: "title",
    label: "Title",
    type: "text",
    required: true,
    sensitivity: "standard",
    archived: false,
    order: 0,
  };
  const old: FieldDefinition = { ...title, fieldId: "fld_o", key: "old", archived: true };
  const detailsOf = (fields: Submission["fields"], paymentStatus: Submission["paymentStatus"], feeRequired: boolean) =>
    thrownBy(() =>
      checkComplete(
        { fields, paymentStatus } as Submission,
        [title, old],
        { feeRequired, currency: "EUR" } as Program,
        { feeAmountMinor: 500, currency: null } as Track,
      ),
    )?.details;

  test.each([
    [{ fld_t: "Water" }, null, false, undefined],
    [{ fld_t: "Water", fld_o: 3 }, null, false, undefined],
    [{ fld_t: "Water" }, "succeeded", true, undefined],
    [{ fld_t: "Water" }, "waived", true, undefined],
    [{ fld_t: "Water" }, "pending", true, { missing: ["payment"] }],
    [{ fld_t: "Water" }, null, true, { missing: ["payment"] }],
    [{ fld_t: "Water" }, "refunded", true, { missing: ["payment"] }],
    [{}, "failed", true, { missing: ["fld_t", "payment"] }],
    [{ fld_t: 3 }, null, false, { missing: [], issues: [{ path: "fields.fld_t" }] }],
  ] as const)("%j, paid %s, fee %s", (fields, paymentStatus, feeRequired, details) => {
    const found = detailsOf(fields, paymentStatus, feeRequired);
    if (details === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(details);
  });

  test("the title is the text of the field whose key is title", () => {
    expect(getTitle([title], { fld_t: "Water", title: "Wine" })).toBe("Water");
    expect(getTitle([title], { fld_t: 3 })).toBeNull();
    expect(getTitle([old], { fld_o: "Water" })).toBeNull();
  });
});
