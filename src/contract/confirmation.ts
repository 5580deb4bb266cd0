/**
 * What happens before a call that cannot be undone. `ask`: a human is asked, or the model has to call twice where the
 * client cannot ask. `human`: refused where no human can be asked. `off`: nobody is asked.
 */
export const confirmationPostures = ["ask", "human", "off"] as const;
export type ConfirmationPosture = (typeof confirmationPostures)[number];
