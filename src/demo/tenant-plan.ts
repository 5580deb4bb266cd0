import type { AssignmentRules, Program, Track } from "../contract/programs.ts";
import type { Reviewer } from "../contract/reviewers.ts";
import type { NewRow } from "../store/tables.ts";
import type { DemoRubric, Form, FormKey, PersonFormKey, RubricKey } from "./forms.ts";
import type { Scenario, ScenarioCounts, ScriptedOutcome } from "./scenarios.ts";
import type { BrandingName, HostileProject, Project, ProjectGroup, SupplementName, SupplementText } from "./texts.ts";

/** Counts days before today; days to come are negative. */
type DaysAgo = number;

/** The records of an organisation, with their times. The plans are in `data/plans.json`. */
export interface TenantPlan {
  readonly projects: ProjectGroup;
  /** When each form and rubric is published. */
  readonly forms: Readonly<Partial<Record<FormKey, DaysAgo>>>;
  readonly rubrics: Readonly<Partial<Record<RubricKey, DaysAgo>>>;
  readonly personForms: Readonly<Partial<Record<PersonFormKey, DaysAgo>>>;
  readonly programs: readonly ProgramPlan[];
  readonly invitations: readonly Invitation[];
  /** Persons who neither apply nor review. */
  readonly contacts: readonly {
    readonly daysAgo: DaysAgo;
    readonly count: number;
    readonly source: "crm" | "manual";
  }[];
  /** True if there are the cases that a matching of persons has to handle. */
  readonly specialPersons?: boolean;
  /** When the applicants of this year's first programme get a message. */
  readonly informed?: DaysAgo;
}

export interface ProgramPlan extends Pick<Program, "name" | "description"> {
  /** Counted from the present one. */
  readonly year: number;
  readonly branding?: BrandingName;
  readonly rules?: Partial<AssignmentRules>;
  readonly screeningRequired?: boolean;
  /** When it comes to each status that it has so far. */
  readonly lifecycle: { readonly draft: DaysAgo } & Partial<Record<"configured" | "underway" | "completed", DaysAgo>>;
  readonly ends?: DaysAgo;
  readonly tracks: readonly TrackPlan[];
}

export interface TrackPlan extends Pick<Track, "name"> {
  /** By which invitations name it. */
  readonly key: string;
  readonly form: FormKey;
  readonly branding?: BrandingName;
  readonly feeAmountMinor?: number;
  readonly supplements?: readonly SupplementName[];
  /** When the intake closes. */
  readonly closes: DaysAgo;
  /** True if the service chooses the reviewers of the first round. */
  readonly automatic?: boolean;
  readonly rounds: readonly RoundPlan[];
  readonly submissions: ScenarioCounts;
  /** The day that scenarios are counted back from. Default: today. */
  readonly ends?: DaysAgo;
  /** True if there are more submissions at a larger scale. */
  readonly scaled?: boolean;
}

export interface RoundPlan {
  readonly name: string;
  readonly rubric: RubricKey;
  /** When it becomes active, if it has so far. */
  readonly opens?: DaysAgo;
  readonly starts?: DaysAgo;
  readonly ends: DaysAgo;
}

export interface Invitation {
  readonly status: Reviewer["status"];
  readonly invited: DaysAgo;
  /** Keys of tracks. */
  readonly tracks: readonly string[];
  /** When a second invitation adds tracks, and which. */
  readonly added?: { readonly daysAgo: DaysAgo; readonly tracks: readonly string[] };
  readonly lead?: boolean;
  readonly maxAssignments?: number;
  /** The number of reviewers who are invited so. Default: 1. */
  readonly count?: number;
  /** True if it is more of them at a larger scale. */
  readonly scaled?: boolean;
}

/** A track of a plan, with the records that its submissions refer to. */
export interface PlannedTrack {
  readonly plan: TrackPlan;
  readonly program: NewRow<"programs">;
  readonly row: NewRow<"tracks">;
  readonly form: Form;
  readonly deadline: string;
  readonly rounds: readonly { readonly plan: RoundPlan; readonly row: NewRow<"rounds">; readonly rubric: DemoRubric }[];
  readonly supplements: readonly SupplementRequest[];
}

export interface SupplementRequest extends SupplementText {
  readonly supplementRequestId: string;
  readonly form: Form;
}

/** A submission and the scenario that it follows. What is not known before it is created, is empty until then. */
export interface PlannedSubmission {
  readonly track: PlannedTrack;
  readonly scenario: Required<Scenario>;
  /** Number of the submission within its scenario: alternatives take turns by it. */
  readonly variant: number;
  readonly source: "portal" | "integration";
  readonly project: Project;
  readonly hostile: HostileProject | undefined;
  /** Quality of the application, from 0 to 1. */
  readonly merit: number;
  /** Assignments, with the index of their round and what their reviewers are going to do. */
  readonly assignments: { assignmentId: string; reviewerId: string; round: number; outcome: ScriptedOutcome }[];
  submissionId: string;
  title: string;
  applicant: { readonly email: string; readonly name: string };
  feedbackId?: string;
}

/** Returns the alternative whose turn it is. */
export function pickAlternative<T>(alternatives: readonly T[], { variant }: PlannedSubmission): T {
  return alternatives[variant % alternatives.length] as T;
}
