import { residencyBranding } from "./branding.ts";
import { createForms } from "./forms.ts";
import { residencyProjects } from "./projects.ts";
import type { RandomPicker } from "./random-picker.ts";
import { createProgram, createRoundFactory, createTrackFactory } from "./record-factory.ts";
import { createRubrics } from "./rubrics.ts";
import type { Timeline } from "./timeline.ts";
import { planProgram, type TrackFixture } from "./track-fixture.ts";

interface Setting {
  readonly timeline: Timeline;
  readonly picker: RandomPicker;
  readonly year: number;
  readonly maxPerReviewer: number;
}

/** Plans the one programme of the arts trust: residencies without fee or supplements. */
export function planArtsTenant({ timeline, picker, year, maxPerReviewer }: Setting): TrackFixture {
  const forms = createForms(timeline);
  const form = forms.residency(112);
  const jury = createRubrics(timeline).jury(112);
  timeline.on(112, "office", async (session) => {
    await session.add("schemas", form);
    await session.add("rubrics", jury.row);
  });
  const program = createProgram({
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
  const track = createTrackFactory(timeline, program, 110)("Residencies", 0, form, { closesDaysAgo: -18 });
  const round = createRoundFactory(timeline, 110);
  const fixture = {
    program,
    track,
    form,
    deadline: timeline.time(-18, 22),
    supplements: [],
    automatic: true,
    endsDaysAgo: 0,
    nextProject: picker.createDeck(residencyProjects),
    rounds: [
      round(track, 1, "Jury", jury, { opens: 62, ends: -30 }),
      round(track, 2, "Studio talk", jury, { opens: 40, ends: -45 }),
    ],
  };
  planProgram(timeline, [fixture], { drafted: 110, configured: 90, underway: 75 });
  return fixture;
}
