import type { NewRow } from "../store/tables.ts";
import type { Form } from "./forms.ts";
import type { RubricWithRemarks } from "./rubrics.ts";
import type { Timeline } from "./timeline.ts";
import type { RoundFixture } from "./track-fixture.ts";

/** A programme with what most have; what is given stands. */
export function createProgram(
  given: Partial<NewRow<"programs">> & Pick<NewRow<"programs">, "programId" | "name" | "year">,
): NewRow<"programs"> {
  return {
    description: null,
    startDate: null,
    endDate: null,
    lifecycleStatus: "draft",
    branding: {},
    feeRequired: false,
    currency: "EUR",
    screeningRequired: true,
    assignmentRules: {
      reviewsPerSubmission: 3,
      useExpertiseMatching: true,
      domainFieldId: null,
      excludePriorRoundReviewers: true,
      maxPerReviewer: null,
    },
    ...given,
  };
}

interface Terms {
  readonly closesDaysAgo: number;
  readonly feeAmountMinor?: number;
}

/** Makes tracks of a programme. */
export function createTrackFactory(timeline: Timeline, program: NewRow<"programs">, daysAgo: number) {
  return (name: string, order: number, form: Form, { closesDaysAgo, feeAmountMinor }: Terms): NewRow<"tracks"> => ({
    trackId: timeline.newId("trk", daysAgo),
    programId: program.programId,
    name,
    description: null,
    order,
    intakeOpen: true,
    intakeOpenDate: program.startDate,
    intakeCloseDate: timeline.time(closesDaysAgo, 22),
    schemaId: form.schemaId,
    schemaVersion: form.schemaVersion,
    feeAmountMinor: feeAmountMinor ?? null,
    currency: feeAmountMinor === undefined ? null : "EUR",
    branding: {},
  });
}

/** In days ago; a round that `opens` is active from then on. */
interface Span {
  readonly opens?: number;
  readonly starts?: number;
  readonly ends: number;
}

/** Makes rounds of a track. */
export function createRoundFactory(timeline: Timeline, daysAgo: number) {
  return (
    { programId, trackId }: NewRow<"tracks">,
    sequence: number,
    name: string,
    rubric: RubricWithRemarks,
    { opens, starts = opens ?? 0, ends }: Span,
  ): RoundFixture => ({
    row: {
      roundId: timeline.newId("rnd", daysAgo),
      programId,
      trackId,
      name,
      sequence,
      startDate: timeline.time(starts, 0),
      endDate: timeline.time(ends, 23),
      deadline: timeline.time(ends + 3, 22),
      active: opens !== undefined,
      rubricId: rubric.row.rubricId,
      rubricVersion: rubric.row.rubricVersion,
      anonymity: sequence === 1 ? "double_blind" : "single_blind",
    },
    rubric,
    ...(opens === undefined ? {} : { opensDaysAgo: opens }),
  });
}
