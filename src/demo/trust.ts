import { residencyBranding } from "./branding.ts";
import { type Course, planProgram } from "./course.ts";
import type { Draw } from "./draw.ts";
import { createForms } from "./forms.ts";
import { residencyProjects } from "./projects.ts";
import { newProgram, roundOf, trackOf } from "./records.ts";
import { createRubrics } from "./rubrics.ts";
import type { Timeline } from "./timeline.ts";

interface Setting {
  readonly timeline: Timeline;
  readonly draw: Draw;
  readonly year: number;
  readonly maxPerReviewer: number;
}

/** Plans the one programme of the arts trust: residencies without fee or supplements. */
export function planTrust({ timeline, draw, year, maxPerReviewer }: Setting): Course {
  const forms = createForms(timeline);
  const form = forms.residency(112);
  const jury = createRubrics(timeline).jury(112);
  timeline.on(112, "office", async (desk) => {
    await desk.add("schemas", form, { action: "schema.published" });
    await desk.add("rubrics", jury.row, { action: "rubric.published" });
  });
  const program = newProgram({
    programId: timeline.newId("prg", 110),
    name: `Studio Residencies ${year}`,
    year,
    description: "Three months in a studio by the harbour, with a grant and a flat.",
    startDate: timeline.time(75, 0),
    endDate: timeline.time(-90, 0),
    branding: residencyBranding,
    assignmentRules: {
      reviewsPerSubmission: 3,
      useExpertiseMatching: true,
      domainFieldId: forms.fieldId("domain", 112),
      excludePriorRoundReviewers: false,
      maxPerReviewer,
    },
  });
  const track = trackOf(timeline, program, 110)("Residencies", 0, form, { closesDaysAgo: -18 });
  const round = roundOf(timeline, 110);
  const course = {
    program,
    track,
    form,
    deadline: timeline.time(-18, 22),
    supplements: [],
    endsDaysAgo: 0,
    nextProject: draw.deck(residencyProjects),
    rounds: [
      round(track, 1, "Jury", jury, { opens: 62, ends: -30 }),
      round(track, 2, "Studio talk", jury, { opens: 40, ends: -45 }),
    ],
  };
  planProgram(timeline, [course], { drafted: 110, configured: 90, underway: 75 });
  return course;
}
