import type { AssignmentStatus } from "../contract/assignments.ts";
import type { PaymentStatus } from "../contract/payments.ts";

/** What happens to a submission. Steps that end in 2 are those of the second round. */
export type ScenarioStep =
  | "begin"
  | "create"
  | "answer"
  | "pay"
  | "submit"
  | "reopen"
  | "screen"
  | "refuse"
  | "advance"
  | "assign"
  | "respond"
  | "rearrange"
  | "review"
  | "advance2"
  | "assign2"
  | "respond2"
  | "review2"
  | "eliminate"
  | "finalist"
  | "winner"
  | "withdraw"
  | "refund"
  | "feedback"
  | "release";

/** What becomes of an assignment. `draft`: accepted, with a review begun; `reassigned`: declined and moved. */
export type ScriptedOutcome = AssignmentStatus | "draft" | "reassigned";

export interface Scenario {
  /** Each with how many days before the end of the call it happens; where one needs the other, three days apart. */
  readonly steps: readonly (readonly [step: ScenarioStep, daysBefore: number])[];
  /** How good the application is, from 0 to 1. */
  readonly merit: number;
  /** What becomes of the first round's assignments; submissions take turns. */
  readonly first?: readonly (readonly ScriptedOutcome[])[];
  readonly second?: readonly (readonly ScriptedOutcome[])[];
  /** What becomes of the fee, where there is one; submissions take turns. */
  readonly fee?: readonly PaymentStatus[];
}

const done = ["completed", "completed", "completed"] as const satisfies ScriptedOutcome[];
const paid = ["succeeded", "succeeded", "waived"] as const satisfies PaymentStatus[];

/** The steps to a submitted application that was found eligible that many days before the end. */
const listStepsToEligible = (days: number): Scenario["steps"] => [
  ["create", days + 13],
  ["answer", days + 10],
  ["pay", days + 9],
  ["submit", days + 7],
  ["screen", days],
];

/** The steps through the first round, to the last review that many days before the end. */
const listStepsToReviewed = (days: number): Scenario["steps"] => [
  ...listStepsToEligible(days + 15),
  ["advance", days + 11],
  ["assign", days + 10],
  ["respond", days + 7],
  ["review", days],
];

const listStepsToReviewedTwice = (days: number): Scenario["steps"] => [
  ...listStepsToReviewed(days + 18),
  ["advance2", days + 12],
  ["assign2", days + 11],
  ["respond2", days + 8],
  ["review2", days],
];

export const scenarios = {
  begun: {
    steps: [
      ["begin", 2],
      ["pay", 1],
    ],
    merit: 0.5,
    fee: ["failed"],
  },
  ready: {
    steps: [
      ["create", 9],
      ["answer", 6],
      ["pay", 5],
    ],
    merit: 0.6,
    fee: ["waived", "pending"],
  },
  unanswered: { steps: [["create", 11]], merit: 0.5 },
  reopened: {
    steps: [
      ["create", 24],
      ["answer", 21],
      ["pay", 20],
      ["submit", 18],
      ["reopen", 8],
    ],
    merit: 0.5,
    fee: paid,
  },
  submitted: {
    steps: [
      ["create", 14],
      ["answer", 11],
      ["pay", 10],
      ["submit", 7],
    ],
    merit: 0.6,
    fee: paid,
  },
  eligible: { steps: listStepsToEligible(6), merit: 0.6, fee: paid },
  ineligible: {
    steps: [
      ["create", 24],
      ["answer", 21],
      ["pay", 20],
      ["submit", 17],
      ["refuse", 10],
      ["refund", 8],
    ],
    merit: 0.3,
    fee: ["succeeded"],
  },
  waiting: { steps: [...listStepsToEligible(16), ["advance", 4]], merit: 0.6, fee: paid },
  reading: {
    steps: [...listStepsToReviewed(6).slice(0, -1), ["rearrange", 9], ["review", 6]],
    merit: 0.6,
    fee: paid,
    first: [
      ["completed", "draft", "reassigned"],
      ["completed", "conflict", "accepted"],
      ["declined", "completed", "assigned"],
      ["cancelled", "completed", "draft"],
      ["accepted", "assigned", "assigned"],
    ],
  },
  read: { steps: listStepsToReviewed(8), merit: 0.65, fee: paid, first: [done] },
  toBeSeated: { steps: [...listStepsToReviewed(19), ["advance2", 5]], merit: 0.75, fee: paid, first: [done] },
  discussed: {
    steps: listStepsToReviewedTwice(4),
    merit: 0.8,
    fee: paid,
    first: [done],
    second: [
      ["completed", "draft"],
      ["completed", "assigned"],
      ["accepted", "conflict"],
    ],
  },
  refused: { steps: [...listStepsToEligible(18), ["eliminate", 12], ["feedback", 10]], merit: 0.3, fee: paid },
  eliminated: {
    steps: [...listStepsToReviewed(22), ["eliminate", 16], ["feedback", 13], ["release", 10]],
    merit: 0.35,
    fee: paid,
    first: [done, ["completed", "completed", "declined"]],
  },
  finalist: {
    steps: [...listStepsToReviewedTwice(14), ["finalist", 8], ["feedback", 6]],
    merit: 0.85,
    fee: paid,
    first: [done],
    second: [["completed", "completed"]],
  },
  winner: {
    steps: [...listStepsToReviewedTwice(14), ["finalist", 10], ["winner", 7], ["feedback", 5], ["release", 3]],
    merit: 0.95,
    fee: paid,
    first: [done],
    second: [["completed", "completed"]],
  },
  withdrawnDraft: {
    steps: [
      ["create", 18],
      ["withdraw", 9],
    ],
    merit: 0.5,
  },
  withdrawnSubmitted: {
    steps: [
      ["create", 24],
      ["answer", 21],
      ["pay", 20],
      ["submit", 17],
      ["withdraw", 8],
      ["refund", 4],
    ],
    merit: 0.5,
    fee: ["succeeded"],
  },
  withdrawnInReview: {
    steps: [...listStepsToReviewed(12).slice(0, -1), ["withdraw", 11]],
    merit: 0.6,
    fee: paid,
    first: [["accepted", "assigned", "accepted"]],
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;
/** How many submissions of a track take each journey. */
export type ScenarioCounts = Partial<Record<ScenarioName, number>>;

export const communityCounts: ScenarioCounts = {
  begun: 2,
  ready: 2,
  unanswered: 1,
  reopened: 1,
  submitted: 4,
  eligible: 4,
  ineligible: 2,
  waiting: 3,
  reading: 5,
  read: 3,
  toBeSeated: 3,
  discussed: 2,
  refused: 1,
  eliminated: 3,
  finalist: 2,
  winner: 1,
  withdrawnDraft: 1,
  withdrawnInReview: 1,
};

export const pilotCounts: ScenarioCounts = {
  begun: 1,
  ready: 2,
  submitted: 3,
  eligible: 2,
  ineligible: 1,
  waiting: 1,
  reading: 2,
  read: 1,
  toBeSeated: 1,
  discussed: 1,
  eliminated: 1,
  finalist: 1,
  winner: 1,
  withdrawnSubmitted: 1,
};

export const lastYearCounts: ScenarioCounts = { ineligible: 1, eliminated: 2, finalist: 1, winner: 2 };

export const residencyCounts: ScenarioCounts = {
  begun: 1,
  ready: 1,
  submitted: 1,
  eligible: 1,
  reading: 2,
  eliminated: 1,
  winner: 1,
};

/** How many days a further submission of a journey is earlier than the first: three or six, or none. */
export function computeStaggerDays(index: number): number {
  return (index % 3) * 3;
}
