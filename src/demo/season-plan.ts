import type { Random } from "../lib/crypto/random.ts";
import type { ContentStore, Store } from "../store/port.ts";
import { createFundBranding, pilotBranding } from "./branding.ts";
import { type Documents, storeDocuments } from "./documents.ts";
import { createForms, type Form } from "./forms.ts";
import { fundProjects } from "./projects.ts";
import type { RandomPicker } from "./random-picker.ts";
import { createProgram, createRoundFactory, createTrackFactory } from "./record-factory.ts";
import { createRubrics } from "./rubrics.ts";
import { Timeline } from "./timeline.ts";
import { planProgram, type SupplementRequest, type TrackFixture } from "./track-fixture.ts";

export interface SeasonOptions {
  readonly store: Store;
  readonly content: ContentStore;
  readonly businessId: string;
  readonly now: Date;
  readonly random: Random;
  readonly picker: RandomPicker;
  /** Of the intake, in days from now. */
  readonly closesInDays: number;
}

/** A programme that is drafted, with all that applicants and reviewers will need. */
export interface PlannedSeason {
  readonly programId: string;
  readonly community: TrackFixture;
  readonly pilot: TrackFixture;
  readonly documents: Documents;
}

/** What only the product's own setup pages make: forms, rubrics, a programme of two tracks with two rounds each. */
export async function planSeason(options: SeasonOptions): Promise<PlannedSeason> {
  const { content, picker, now } = options;
  const timeline = new Timeline(options);
  const forms = createForms(timeline);
  const [communityForm] = forms.community(1, 1);
  const sheets = { community: communityForm, pilot: forms.pilot(1), support: forms.support(1) };
  const [rubric] = createRubrics(timeline).reading(1, 1);
  timeline.on(1, "office", async (session) => {
    for (const form of Object.values(sheets)) await session.add("schemas", form);
    await session.add("rubrics", rubric.row);
  });

  const year = now.getUTCFullYear();
  const name = `Open Season ${year}`;
  const program = createProgram({
    programId: timeline.newId("prg", 1),
    name,
    year,
    description: "A simulated season: everything in it is invented.",
    branding: createFundBranding(name),
    feeRequired: true,
    assignmentRules: {
      reviewsPerSubmission: 2,
      useExpertiseMatching: true,
      domainFieldId: forms.fieldId("domain", 1),
      excludePriorRoundReviewers: true,
      maxPerReviewer: null,
    },
  });
  const closesDaysAgo = -options.closesInDays;
  const track = createTrackFactory(timeline, program, 1);
  const round = createRoundFactory(timeline, 1);
  const fixture = (given: Pick<TrackFixture, "track" | "form" | "supplements">): TrackFixture => ({
    ...given,
    program,
    deadline: timeline.time(closesDaysAgo, 22),
    endsDaysAgo: 0,
    nextProject: picker.createDeck(fundProjects),
    rounds: [
      round(given.track, 1, "First reading", rubric, { ends: closesDaysAgo - 30 }),
      round(given.track, 2, "Panel review", rubric, { ends: closesDaysAgo - 50 }),
    ],
  });
  const community = fixture({
    track: track("Community projects", 0, sheets.community, { closesDaysAgo }),
    form: sheets.community,
    supplements: [],
  });
  const pilot = fixture({
    track: {
      ...track("Enterprise pilots", 1, sheets.pilot, { closesDaysAgo, feeAmountMinor: 7500 }),
      branding: pilotBranding,
    },
    form: sheets.pilot,
    supplements: [letterOfSupport(timeline, sheets.support)],
  });
  planProgram(timeline, [community, pilot], { drafted: 1 });
  await timeline.run();
  return { programId: program.programId, community, pilot, documents: await storeDocuments(content, fundProjects) };
}

function letterOfSupport(timeline: Timeline, form: Form): SupplementRequest {
  return {
    supplementRequestId: timeline.newId("srq", 1),
    title: "Letter of support by a partner",
    required: true,
    audience: "applicant",
    form,
    statements: ["Our association supports the project and will keep up what is built for at least five years."],
  };
}
