/**
 * Confirmation modes: what happens before a call that cannot be undone. `ask`: a human is asked; if the client cannot
 * ask, the agent has to call twice. `human`: the call is rejected if the client cannot ask. `off`: no confirmation.
 */
export const confirmationModes = ["ask", "human", "off"] as const;
export type ConfirmationMode = (typeof confirmationModes)[number];
