import { createFundBranding, pilotBranding } from "./branding.ts";
import { createForms, type Form, type Forms } from "./forms.ts";
import { fundProjects } from "./projects.ts";
import type { RandomPicker } from "./random-picker.ts";
import { createProgram, createRoundFactory, createTrackFactory } from "./record-factory.ts";
import { createRubrics, type RubricWithRemarks } from "./rubrics.ts";
import type { Timeline } from "./timeline.ts";
import { planProgram, type SupplementRequest, type TrackFixture } from "./track-fixture.ts";

export interface FundTracks {
  readonly community: TrackFixture;
  readonly pilot: TrackFixture;
  readonly lastYear: TrackFixture;
}

interface Setting {
  readonly timeline: Timeline;
  readonly picker: RandomPicker;
  readonly year: number;
  readonly forms: Forms;
  readonly maxPerReviewer: number;
}

interface PublishedForms {
  readonly lastYear: Form;
  readonly community: Form;
  readonly pilot: Form;
  readonly support: Form;
  readonly readingBefore: RubricWithRemarks;
  readonly reading: RubricWithRemarks;
  readonly panel: RubricWithRemarks;
}

/** How many days before today last year's call counts as over. */
const lastYearEnds = 330;
const openedDaysAgo = 75;

/** Plans the programmes of the foundation: this year's under way, last year's completed, next year's a draft. */
export function planFundTenant(given: Omit<Setting, "forms">): FundTracks {
  const setting = { ...given, forms: createForms(given.timeline) };
  const sheets = planForms(setting);
  const { timeline } = setting;
  const calls = { ...planCurrentProgram(setting, sheets), lastYear: planCompletedProgram(setting, sheets) };
  planProgram(timeline, [calls.lastYear], { drafted: 445, configured: 428, underway: 412, completed: 322 });
  planProgram(timeline, [calls.community, calls.pilot], { drafted: 120, configured: 95, underway: openedDaysAgo });
  planProgram(timeline, [planDraftProgram(setting, sheets)], { drafted: 13 });
  return calls;
}

function planForms({ timeline, forms }: Setting): PublishedForms {
  const [lastYear, community] = forms.community(450, 124);
  const [readingBefore, reading] = createRubrics(timeline).reading(450, 124);
  const panel = createRubrics(timeline).panel(124);
  const sheets = {
    lastYear,
    community,
    pilot: forms.pilot(124),
    support: forms.support(450),
    readingBefore,
    reading,
    panel,
  };
  timeline.on(450, "office", async (session) => {
    for (const form of [lastYear, sheets.support]) await session.add("schemas", form);
    await session.add("rubrics", readingBefore.row);
  });
  timeline.on(124, "office", async (session) => {
    for (const form of [community, sheets.pilot]) await session.add("schemas", form);
    for (const { row } of [reading, panel]) await session.add("rubrics", row);
  });
  return sheets;
}

function planCurrentProgram(
  { timeline, picker, year, forms, maxPerReviewer }: Setting,
  sheets: PublishedForms,
): Omit<FundTracks, "lastYear"> {
  const name = `Common Ground Fund ${year}`;
  const program = createProgram({
    programId: timeline.newId("prg", 120),
    name,
    year,
    description:
      "Grants for community projects and for pilots of small enterprises, with a rolling intake and three readings.",
    startDate: timeline.time(openedDaysAgo, 0),
    endDate: timeline.time(-160, 0),
    branding: createFundBranding(name),
    feeRequired: true,
    assignmentRules: {
      reviewsPerSubmission: 3,
      useExpertiseMatching: true,
      domainFieldId: forms.fieldId("domain", 450),
      excludePriorRoundReviewers: true,
      maxPerReviewer,
    },
  });
  const common = { program, supplements: [], endsDaysAgo: 0, nextProject: picker.createDeck(fundProjects) };
  const track = createTrackFactory(timeline, program, 120);
  const community = track("Community projects", 0, sheets.community, { closesDaysAgo: -28 });
  const pilot = track("Enterprise pilots", 1, sheets.pilot, { closesDaysAgo: -21, feeAmountMinor: 7500 });
  const round = createRoundFactory(timeline, 120);
  return {
    community: {
      ...common,
      track: community,
      form: sheets.community,
      deadline: timeline.time(-28, 22),
      supplements: [letterOfSupport(timeline, sheets.support), photographs(timeline, sheets.support)],
      rounds: [
        round(community, 1, "First reading", sheets.reading, { opens: 62, ends: -35 }),
        round(community, 2, "Panel review", sheets.reading, { opens: 40, ends: -50 }),
        round(community, 3, "Conversation with finalists", sheets.panel, { starts: -52, ends: -70 }),
      ],
    },
    pilot: {
      ...common,
      track: { ...pilot, branding: pilotBranding },
      form: sheets.pilot,
      deadline: timeline.time(-21, 22),
      supplements: [accounts(timeline, sheets.support)],
      rounds: [
        round(pilot, 1, "First reading", sheets.reading, { opens: 62, ends: -28 }),
        round(pilot, 2, "Site visits", sheets.reading, { opens: 40, ends: -56 }),
      ],
    },
  };
}

function planCompletedProgram(
  { timeline, picker, year, forms, maxPerReviewer }: Setting,
  sheets: PublishedForms,
): TrackFixture {
  const name = `Common Ground Fund ${year - 1}`;
  const program = createProgram({
    programId: timeline.newId("prg", 445),
    name,
    year: year - 1,
    description: "The first call of the fund, for community projects alone.",
    startDate: timeline.time(412, 0),
    endDate: timeline.time(322, 0),
    branding: createFundBranding(name),
    assignmentRules: {
      reviewsPerSubmission: 3,
      useExpertiseMatching: true,
      domainFieldId: forms.fieldId("domain", 450),
      excludePriorRoundReviewers: false,
      maxPerReviewer,
    },
  });
  const track = createTrackFactory(timeline, program, 445)("Community projects", 0, sheets.lastYear, {
    closesDaysAgo: 345,
  });
  const round = createRoundFactory(timeline, 445);
  return {
    program,
    track,
    form: sheets.lastYear,
    deadline: timeline.time(345, 22),
    supplements: [letterOfSupport(timeline, sheets.support)],
    endsDaysAgo: lastYearEnds,
    automatic: true,
    nextProject: picker.createDeck(fundProjects),
    rounds: [
      round(track, 1, "Reading", sheets.readingBefore, { opens: 396, ends: 350 }),
      round(track, 2, "Panel", sheets.readingBefore, { opens: 374, ends: 338 }),
    ],
  };
}

function planDraftProgram({ timeline, picker, year }: Setting, sheets: PublishedForms): TrackFixture {
  const program = createProgram({
    programId: timeline.newId("prg", 13),
    name: `Common Ground Fund ${year + 1}`,
    year: year + 1,
    description: "Draft: one track, to be opened to applicants from all of the region.",
    screeningRequired: false,
  });
  const track = createTrackFactory(timeline, program, 13)("Community projects", 0, sheets.community, {
    closesDaysAgo: -420,
  });
  return {
    program,
    track,
    form: sheets.community,
    deadline: timeline.time(-420, 22),
    supplements: [],
    endsDaysAgo: 0,
    nextProject: picker.createDeck(fundProjects),
    rounds: [createRoundFactory(timeline, 13)(track, 1, "First reading", sheets.reading, { starts: -380, ends: -430 })],
  };
}

function createSupplementRequest(
  timeline: Timeline,
  form: Form,
  given: Omit<SupplementRequest, "supplementRequestId" | "form">,
) {
  return { ...given, form, supplementRequestId: timeline.newId("srq", 120) };
}

const letterOfSupport = (timeline: Timeline, form: Form) =>
  createSupplementRequest(timeline, form, {
    title: "Letter of support by a partner",
    required: true,
    audience: "contributor",
    statements: [
      "We have known the applicants for several years and will host the work on our site, with our own staff for two days a month.",
      "Our association supports the project and will keep up what is built for at least five years.",
      "The municipality welcomes the project and grants the use of the public ground that it needs.",
    ],
  });

const photographs = (timeline: Timeline, form: Form) =>
  createSupplementRequest(timeline, form, {
    title: "Consent to photographs of the site",
    required: false,
    audience: "applicant",
    statements: ["We agree to photographs of the site and of the work for reports on the project."],
  });

const accounts = (timeline: Timeline, form: Form) =>
  createSupplementRequest(timeline, form, {
    title: "Statement on the last annual accounts",
    required: true,
    audience: "applicant",
    statements: [
      "The figures given in the application are those of our last approved accounts.",
      "Our accounts of last year have been audited and show a small surplus.",
    ],
  });
