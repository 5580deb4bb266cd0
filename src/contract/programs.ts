import * as z from "zod";
import { limits } from "./access/limits.ts";
import { boundedText, common, DateTime, Id, Timestamp, Version } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { pageQuery } from "./definition/page.ts";

const PageCopy = z.strictObject({
  heroTitle: boundedText(120).optional(),
  heroSubtitle: boundedText(240).optional(),
  bodyHtml: boundedText(5000).optional(),
  ctaLabel: boundedText(40).optional(),
});

/** Branding texts of a programme or track (specification 2.4). */
export const Branding = z.strictObject({
  headerText: boundedText(5000).optional(),
  footerText: boundedText(5000).optional(),
  pages: z
    .strictObject({
      landing: PageCopy.optional(),
      register: PageCopy.optional(),
      submission: PageCopy.optional(),
      submitted: PageCopy.optional(),
    })
    .optional(),
});

export const LifecycleStatus = z.enum(["draft", "configured", "underway", "completed", "archived"]);
export type LifecycleStatus = z.output<typeof LifecycleStatus>;

export const AssignmentRules = z.object({
  reviewsPerSubmission: z.int().min(0),
  useExpertiseMatching: z.boolean(),
  domainFieldId: z.string().nullable(),
  excludePriorRoundReviewers: z.boolean(),
  maxPerReviewer: z.int().min(0).nullable(),
});
export type AssignmentRules = z.output<typeof AssignmentRules>;

export const Program = z.object({
  programId: Id,
  name: z.string(),
  description: z.string().nullable(),
  year: z.int(),
  startDate: Timestamp.nullable(),
  endDate: Timestamp.nullable(),
  lifecycleStatus: LifecycleStatus,
  branding: Branding,
  feeRequired: z.boolean(),
  currency: z.string().nullable(),
  screeningRequired: z.boolean(),
  assignmentRules: AssignmentRules,
  ...common,
});
export type Program = z.output<typeof Program>;

export const Track = z.object({
  trackId: Id,
  programId: Id,
  name: z.string(),
  description: z.string().nullable(),
  order: z.int(),
  intakeOpen: z.boolean(),
  intakeOpenDate: Timestamp.nullable(),
  intakeCloseDate: Timestamp.nullable(),
  schemaId: Id,
  schemaVersion: z.int().min(1),
  feeAmountMinor: z.int().nullable(),
  currency: z.string().nullable(),
  branding: Branding,
  ...common,
});
export type Track = z.output<typeof Track>;

export const Round = z.object({
  roundId: Id,
  programId: Id,
  trackId: Id,
  name: z.string(),
  sequence: z.int().min(1),
  startDate: Timestamp.nullable(),
  endDate: Timestamp.nullable(),
  deadline: Timestamp.nullable(),
  active: z.boolean(),
  rubricId: Id,
  rubricVersion: z.int().min(1),
  anonymity: z.enum(["open", "single_blind", "double_blind"]),
  ...common,
});
export type Round = z.output<typeof Round>;

export const list_programs = operation({
  summary: "List programmes",
  method: "GET",
  path: "/programs",
  resource: "programme://programs",
  scope: "programs:read",
  effect: "read",
  query: pageQuery,
  data: z.array(Program),
  audit: "program.listed",
  errors: ["invalid_cursor"],
});

export const get_program = operation({
  summary: "Get a programme",
  method: "GET",
  path: "/programs/{programId}",
  resource: "programme://programs/{programId}",
  scope: "programs:read",
  effect: "read",
  data: Program,
  audit: "program.read",
  errors: ["not_found"],
});

export const update_program = operation({
  summary: "Update a programme's name, texts, dates or lifecycle",
  description:
    "Lifecycle moves: draft→configured, archived; configured→draft, underway, archived; underway→configured (while it has no submissions), completed; completed→underway, archived; archived→completed.",
  method: "PATCH",
  path: "/programs/{programId}",
  scope: "programs:write",
  effect: "update",
  body: z.strictObject({
    name: boundedText(200, 1).optional(),
    description: boundedText(1000).optional(),
    year: z.int().min(1900).max(3000).optional(),
    startDate: DateTime.optional(),
    endDate: DateTime.optional(),
    lifecycleStatus: LifecycleStatus.optional(),
    branding: Branding.optional(),
    version: Version.optional().describe("recommended, as read"),
  }),
  data: Program,
  audit: "program.updated",
  confirm: ({ programId, lifecycleStatus }) =>
    lifecycleStatus === "completed" || lifecycleStatus === "archived"
      ? `Move programme ${programId} to ${lifecycleStatus}`
      : undefined,
  errors: ["not_found", "version_conflict", "invalid_state_transition", "program_archived"],
});

export const list_rounds = operation({
  summary: "List review rounds of all tracks of a programme",
  method: "GET",
  path: "/programs/{programId}/rounds",
  resource: "programme://programs/{programId}/rounds",
  scope: "rounds:read",
  effect: "read",
  data: z.array(Round),
  maxRows: limits.listedRounds,
  audit: "round.listed",
  errors: ["not_found"],
});

export const list_tracks = operation({
  summary: "List a programme's tracks",
  method: "GET",
  path: "/programs/{programId}/tracks",
  resource: "programme://programs/{programId}/tracks",
  scope: "tracks:read",
  effect: "read",
  query: pageQuery,
  data: z.array(Track),
  audit: "track.listed",
  errors: ["not_found", "invalid_cursor"],
});

export const update_track = operation({
  summary: "Update a track's intake or page texts",
  method: "PATCH",
  path: "/programs/{programId}/tracks/{trackId}",
  scope: "tracks:write",
  effect: "update",
  body: z.strictObject({
    version: Version,
    intakeOpen: z.boolean().optional(),
    intakeOpenDate: DateTime.optional(),
    intakeCloseDate: DateTime.optional(),
    branding: Branding.optional(),
  }),
  data: Track,
  audit: "track.updated",
  errors: ["not_found", "version_conflict", "program_archived"],
});

export const update_round = operation({
  summary: "Update a review round's dates or activity",
  method: "PATCH",
  path: "/programs/{programId}/tracks/{trackId}/rounds/{roundId}",
  scope: "rounds:write",
  effect: "update",
  body: z.strictObject({
    version: Version,
    startDate: DateTime.optional(),
    endDate: DateTime.optional(),
    deadline: DateTime.optional(),
    active: z.boolean().optional(),
  }),
  data: Round,
  audit: "round.updated",
  errors: ["not_found", "version_conflict", "program_archived"],
});
