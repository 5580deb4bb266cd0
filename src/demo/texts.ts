/** Why an application was found ineligible; staff write these. */
export const ineligibleReasons = [
  "The applicant is registered outside the area of this call.",
  "The work was largely finished before the application was made; the fund does not pay in retrospect.",
  "The budget contains running costs beyond the share that the call allows.",
];

export const eliminationReasons = [
  "Ranked below the line in the first reading; the plan leaves open who will carry the work after the first year.",
  "The panel found the need convincing but the method too thin to judge.",
  "Costs are high in relation to what would be left after the project.",
  "A similar project in the same area is already being funded.",
];

export const withdrawalReasons = [
  "Another funder has taken on the whole project.",
  "Our main partner has had to step back for this year.",
  "The site is no longer available; we hope to apply again next year.",
];

export const reopenReasons = ["The applicant asked to replace the budget, which named the wrong year."];

export const eligibleReasons = ["All documents are in order.", "Formal requirements met; budget checked."];

export const declineReasons = [
  "I am travelling during the whole reading period.",
  "This is too far from my field for me to judge the method.",
];

export const conflictStatements = [
  "I am a member of the applicant's advisory board.",
  "I supervised one of the applicants until last year.",
];

export const noConflictStatement = "I know of no personal, financial or professional ties to this applicant.";

export const reassignReasons = ["Declined by the first reviewer."];

interface Letter {
  readonly template: string;
  readonly subject: string;
  readonly body: string;
}

/** What the office sends; `{name}`, `{title}` and `{program}` are filled in. */
export const letters = {
  received: {
    template: "submission_received",
    subject: "We have received your application",
    body: "Dear {name},\n\nThank you for your application “{title}” to the {program}. It is complete and has been passed on for screening. You will hear from us within four weeks.\n\nThe programme office",
  },
  ineligible: {
    template: "submission_ineligible",
    subject: "Your application cannot be considered",
    body: "Dear {name},\n\nWe have checked your application “{title}” against the rules of the {program} and are sorry to say that it cannot be considered. The reason is shown in the portal. A fee that you paid will be returned.\n\nThe programme office",
  },
  declined: {
    template: "decision_declined",
    subject: "Decision on your application",
    body: "Dear {name},\n\nThe panel has read your application “{title}” with care. There were more good applications than the {program} can support, and yours is not among those that go on. You will find the reviewers' remarks in the portal.\n\nThe programme office",
  },
  finalist: {
    template: "decision_finalist",
    subject: "Your application has reached the final",
    body: "Dear {name},\n\nYour application “{title}” is one of the finalists of the {program}. We will propose dates for a conversation with the panel in the next days.\n\nThe programme office",
  },
  winner: {
    template: "decision_winner",
    subject: "Your project will be supported",
    body: "Dear {name},\n\nWe are glad to tell you that the {program} will support “{title}”. The agreement will reach you by post; please let us know if the start date has moved.\n\nThe programme office",
  },
  feedback: {
    template: "feedback_released",
    subject: "Remarks on your application are in the portal",
    body: "Dear {name},\n\nThe reviewers' remarks on “{title}” can now be read in the portal.\n\nThe programme office",
  },
  invited: {
    template: "reviewer_invitation",
    subject: "Invitation to review: {program}",
    body: "Dear {name},\n\nWe would be glad to have you as a reviewer for the {program}. Your personal link was part of the original message; it works for fourteen days.\n\nThe programme office",
  },
  assigned: {
    template: "assignments_ready",
    subject: "Applications are waiting for your review",
    body: "Dear {name},\n\nNew applications to the {program} have been assigned to you. Please tell us within five days if you cannot read them or have a conflict of interest.\n\nThe programme office",
  },
  session: {
    template: "information_session",
    subject: "Questions and answers on the {program}",
    body: "Dear {name},\n\nOn Thursday at 17:00 UTC the programme office answers questions on the {program} in an open video call. No registration is needed; the link is in the portal.\n\nThe programme office",
  },
} as const satisfies Record<string, Letter>;

export type LetterName = keyof typeof letters;

/** Remarks for applicants, in three parts. */
export const feedbackParts = {
  opening: [
    "Three reviewers have read your application and discussed it with the panel.",
    "The panel thanks you for a carefully prepared application.",
    "Your application was among those that the panel discussed longest.",
  ],
  strength: [
    "The reviewers valued that the need is described with figures of your own.",
    "The partners named are the right ones, and their letters are specific about what each will do.",
    "The plan is realistic for the time and money asked for.",
    "That results will be open to others was seen as a particular strength.",
  ],
  advice: [
    "For a new application we advise naming who keeps the work going once the grant ends.",
    "The measuring plan would gain from a comparison site and from a date by which a first result is due.",
    "Please separate personnel and material costs; the reviewers could not judge the staffing from the budget.",
    "A risk that several reviewers named is the permit; a letter from the authority would answer it.",
  ],
} as const;

/** Fills in the names in braces. */
export function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
