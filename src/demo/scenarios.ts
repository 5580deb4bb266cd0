import type { AssignmentStatus } from "../contract/assignments.ts";
import type { PaymentStatus } from "../contract/payments.ts";
import type { Channel } from "./timeline.ts";

/** Steps of an applicant in the portal, or of the CRM that hands an application in by the interface. */
const applicantSteps = ["begin", "create", "pay", "submit"] as const;
/** Steps in the portal. Steps that end in 2 are those of the second round. */
const portalSteps = ["answer", "withdraw", "respond", "review", "respond2", "review2"] as const;
type StaffStep =
  | ("screen" | "refuse" | "refund" | "reopen" | "advance" | "assign" | "rearrange" | "advance2" | "assign2")
  | ("eliminate" | "finalist" | "winner" | "feedback" | "release");
/** The course of a submission. */
export type ScenarioStep = (typeof applicantSteps)[number] | (typeof portalSteps)[number] | StaffStep;

/** The outcome of an assignment. `draft`: accepted, with a review begun; `reassigned`: declined and moved. */
export type ScriptedOutcome = AssignmentStatus | "draft" | "reassigned";

type Steps = Partial<Record<ScenarioStep, number>>;

export interface Scenario {
  /** The days before the end of the call at which each step happens; where one needs the other, three days apart. */
  readonly steps: Steps;
  /** The quality of the application, from 0 to 1. */
  readonly merit: number;
  /** The outcome of the first round's assignments; submissions take turns. Default: three reviews. */
  readonly first?: readonly (readonly ScriptedOutcome[])[];
  /** The outcome of the second round's. Default: two reviews. */
  readonly second?: readonly (readonly ScriptedOutcome[])[];
  /** The outcome of the fee, where there is one; submissions take turns. Default: it is paid, or waived. */
  readonly fee?: readonly PaymentStatus[];
}

/** The steps to a complete application, handed in that many days before the end. */
const untilSubmitted = (days: number): Steps => ({ create: days + 7, answer: days + 4, pay: days + 3, submit: days });

const untilEligible = (days: number): Steps => ({ ...untilSubmitted(days + 7), screen: days });

const untilAssigned = (days: number): Steps => ({
  ...untilEligible(days + 8),
  ...{ advance: days + 4, assign: days + 3, respond: days },
});

const untilReviewed = (days: number): Steps => ({ ...untilAssigned(days + 7), review: days });

const untilReviewedTwice = (days: number): Steps => ({
  ...untilReviewed(days + 18),
  ...{ advance2: days + 12, assign2: days + 11, respond2: days + 8, review2: days },
});

const scenarios = {
  begun: { steps: { begin: 2, pay: 1 }, merit: 0.5, fee: ["failed"] },
  ready: { steps: { create: 9, answer: 6, pay: 5 }, merit: 0.6, fee: ["waived", "pending"] },
  unanswered: { steps: { create: 11 }, merit: 0.5 },
  reopened: { steps: { ...untilSubmitted(18), reopen: 8 }, merit: 0.5 },
  submitted: { steps: untilSubmitted(7), merit: 0.6 },
  eligible: { steps: untilEligible(6), merit: 0.6 },
  ineligible: { steps: { ...untilSubmitted(17), refuse: 10, refund: 8 }, merit: 0.3, fee: ["succeeded"] },
  waiting: { steps: { ...untilEligible(16), advance: 4 }, merit: 0.6 },
  reading: {
    steps: { ...untilReviewed(6), rearrange: 9 },
    merit: 0.6,
    first: [
      ["completed", "draft", "reassigned"],
      ["completed", "conflict", "accepted"],
      ["declined", "completed", "assigned"],
      ["cancelled", "completed", "draft"],
      ["accepted", "assigned", "assigned"],
    ],
  },
  read: { steps: untilReviewed(8), merit: 0.65 },
  toBeSeated: { steps: { ...untilReviewed(19), advance2: 5 }, merit: 0.75 },
  discussed: {
    steps: untilReviewedTwice(4),
    merit: 0.8,
    second: [
      ["completed", "draft"],
      ["completed", "assigned"],
      ["accepted", "conflict"],
    ],
  },
  refused: { steps: { ...untilEligible(18), eliminate: 12, feedback: 10 }, merit: 0.3 },
  eliminated: { steps: { ...untilReviewed(22), eliminate: 16, feedback: 13, release: 10 }, merit: 0.35 },
  finalist: { steps: { ...untilReviewedTwice(14), finalist: 8, feedback: 6 }, merit: 0.85 },
  winner: { steps: { ...untilReviewedTwice(14), finalist: 10, winner: 7, feedback: 5, release: 3 }, merit: 0.95 },
  withdrawnDraft: { steps: { create: 18, withdraw: 9 }, merit: 0.5 },
  withdrawnSubmitted: { steps: { ...untilSubmitted(17), withdraw: 8, refund: 4 }, merit: 0.5, fee: ["succeeded"] },
  withdrawnInReview: {
    steps: { ...untilAssigned(19), withdraw: 11 },
    merit: 0.6,
    first: [["accepted", "assigned", "accepted"]],
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;
/** The number of submissions of a track that follow each scenario. */
export type ScenarioCounts = Partial<Record<ScenarioName, number>>;

export function getScenario(name: ScenarioName): Required<Scenario> {
  return {
    first: [["completed", "completed", "completed"]],
    second: [["completed", "completed"]],
    fee: ["succeeded", "succeeded", "waived"],
    ...scenarios[name],
  };
}

export function getChannel(step: ScenarioStep, source: "portal" | "integration"): Channel {
  const isOf = (steps: readonly ScenarioStep[]) => steps.includes(step);
  if (isOf(applicantSteps)) return source === "portal" ? "portal" : "crm";
  return isOf(portalSteps) ? "portal" : "staff";
}
