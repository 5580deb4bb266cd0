import type { NewRow } from "../store/tables.ts";
import type { FormKey, Forms, PersonFormKey, RubricKey } from "./forms.ts";
import type { People } from "./people.ts";
import type { ServiceSession } from "./service-session.ts";
import type { PlannedTrack, ProgramPlan, TenantPlan, TrackPlan } from "./tenant-plan.ts";
import { fillPlaceholders, getBranding, getSupplement } from "./texts.ts";
import type { Timeline } from "./timeline.ts";

export interface PlanServices {
  readonly timeline: Timeline;
  readonly session: ServiceSession;
  readonly forms: Forms;
  readonly people: People;
  /** The present one. */
  readonly year: number;
  /** The factor for the reviews of each reviewer. */
  readonly growth: number;
  newId(prefix: string, daysAgo: number): string;
}

/** Plans the publication of forms and rubrics, which the interface cannot create. */
export function planPublications(plan: TenantPlan, { timeline, session, forms, people }: PlanServices): void {
  for (const [name, daysAgo] of Object.entries(plan.forms) as [FormKey, number][]) {
    const form = forms.createForm(name, timeline.time(daysAgo, 12));
    timeline.on(daysAgo, "staff", () => session.add("schemas", form));
  }
  for (const [name, daysAgo] of Object.entries(plan.rubrics) as [RubricKey, number][]) {
    timeline.on(daysAgo, "staff", () => session.add("rubrics", forms.createRubric(name)));
  }
  for (const [name, daysAgo] of Object.entries(plan.personForms) as [PersonFormKey, number][]) {
    const form = forms.createPersonForm(name, timeline.time(daysAgo, 12));
    timeline.on(daysAgo, "staff", async () => {
      if (people.form) await session.change("personSchemas", people.form.personSchemaId, { active: false });
      people.form = form;
      await session.add("personSchemas", form);
    });
  }
}

/** Plans the programmes, each of which is drafted with its tracks and closed rounds, then opened step by step. */
export function planPrograms(plan: TenantPlan, services: PlanServices): PlannedTrack[] {
  return plan.programs.flatMap((program) => {
    const row = createProgram(program, services);
    const tracks = program.tracks.map((track, order) => createTrack(program, row, track, order, services));
    planLifecycle(program, row, tracks, services);
    return tracks;
  });
}

function createProgram(plan: ProgramPlan, { timeline, forms, newId, ...given }: PlanServices): NewRow<"programs"> {
  const { description, branding, rules, screeningRequired = true, lifecycle, ends, tracks } = plan;
  const year = given.year + plan.year;
  const name = fillPlaceholders(plan.name, { year: String(year) });
  const maxPerReviewer = rules?.maxPerReviewer ? Math.ceil(rules.maxPerReviewer * given.growth) : null;
  return {
    programId: newId("prg", lifecycle.draft),
    name,
    description,
    year,
    startDate: lifecycle.underway === undefined ? null : timeline.time(lifecycle.underway, 0),
    endDate: ends === undefined ? null : timeline.time(ends, 0),
    lifecycleStatus: "draft",
    branding: branding ? getBranding(branding, name) : {},
    feeRequired: tracks.some(({ feeAmountMinor }) => feeAmountMinor !== undefined),
    currency: "EUR",
    screeningRequired,
    assignmentRules: {
      reviewsPerSubmission: 3,
      useExpertiseMatching: true,
      domainFieldId: forms.findFieldId("domain"),
      excludePriorRoundReviewers: true,
      ...rules,
      maxPerReviewer,
    },
  };
}

function createTrack(
  { lifecycle }: ProgramPlan,
  program: NewRow<"programs">,
  plan: TrackPlan,
  order: number,
  { timeline, forms, newId }: PlanServices,
): PlannedTrack {
  const { programId } = program;
  const deadline = timeline.time(plan.closes, 22);
  const form = forms.createForm(plan.form, deadline);
  const row: NewRow<"tracks"> = {
    trackId: newId("trk", lifecycle.draft),
    programId,
    name: plan.name,
    description: null,
    order,
    intakeOpen: false,
    intakeOpenDate: program.startDate,
    intakeCloseDate: deadline,
    schemaId: form.schemaId,
    schemaVersion: form.schemaVersion,
    feeAmountMinor: plan.feeAmountMinor ?? null,
    currency: plan.feeAmountMinor === undefined ? null : "EUR",
    branding: plan.branding ? getBranding(plan.branding, plan.name) : {},
  };
  const rounds = plan.rounds.map((round, index) => {
    const rubric = forms.createRubric(round.rubric);
    const roundRow: NewRow<"rounds"> = {
      roundId: newId("rnd", lifecycle.draft),
      programId,
      trackId: row.trackId,
      name: round.name,
      sequence: index + 1,
      startDate: timeline.time(round.starts ?? round.opens ?? 0, 0),
      endDate: timeline.time(round.ends, 23),
      deadline: timeline.time(round.ends + 3, 22),
      active: false,
      rubricId: rubric.rubricId,
      rubricVersion: rubric.rubricVersion,
      anonymity: index === 0 ? "double_blind" : "single_blind",
    };
    return { plan: round, rubric, row: roundRow };
  });
  const supplements = (plan.supplements ?? []).map((name) => {
    const supplementRequestId = newId("srq", lifecycle.draft);
    return { ...getSupplement(name), supplementRequestId, form: forms.createForm("support", deadline) };
  });
  return { plan, program, row, form, deadline, rounds, supplements };
}

function planLifecycle(
  { lifecycle }: ProgramPlan,
  program: NewRow<"programs">,
  tracks: readonly PlannedTrack[],
  { timeline, session }: PlanServices,
): void {
  const { programId } = program;
  const rounds = tracks.flatMap((track) => track.rounds);
  timeline.on(lifecycle.draft, "staff", async () => {
    await session.add("programs", program);
    for (const { row } of tracks) await session.add("tracks", row);
    for (const { row } of rounds) await session.add("rounds", row);
  });
  const setActive = ({ roundId, trackId }: NewRow<"rounds">, active: boolean) =>
    session.callOn("update_round", "rounds", roundId, { programId, trackId, active });
  for (const lifecycleStatus of ["configured", "underway", "completed"] as const) {
    const daysAgo = lifecycle[lifecycleStatus];
    if (daysAgo === undefined) continue;
    timeline.on(daysAgo, "staff", async () => {
      await session.callOn("update_program", "programs", programId, { lifecycleStatus });
      const intakeOpen = lifecycleStatus === "underway";
      for (const { row } of tracks) {
        await session.callOn("update_track", "tracks", row.trackId, { programId, intakeOpen });
      }
      if (lifecycleStatus !== "completed") return;
      for (const { row } of rounds) await setActive(row, false);
    });
  }
  for (const { plan, row } of rounds) {
    if (plan.opens !== undefined) timeline.on(plan.opens, "staff", () => setActive(row, true));
  }
}
