/**
 * Confirmation modes: what happens before a call that cannot be undone. `ask`: a human is asked; if the client cannot
 * ask, the agent has to call twice. `human`: the call is rejected if the client cannot ask. `off`: no confirmation.
 */
export const confirmationModes = ["ask", "human", "off"] as const;
export type ConfirmationMode = (typeof confirmationModes)[number];

/** The beginnings of a question's lines by which pages and views put them apart. */
export const questionMarks = {
  reason: "Reason: ",
  cleared: "Cleared: ",
  dated: "Set to the time of the call: ",
  replaced: "Replaced: ",
  wayBack: "Way back: ",
  irrevocable: "This cannot be undone",
  sameBatch: "In the same batch: ",
  refused: "Refused in any case: ",
} as const;

/** The words of a line about lost reviews. */
export const lostReviews = "unfinished reviews are lost";
