/**
 * Privacy modes: what agents see of people. `off`: all that the interface shows. `pseudonymize`: handles in place of
 * addresses, phone numbers and external ids. `redact`: in addition, no sensitive data whatever the scopes.
 */
export const privacyModes = ["off", "pseudonymize", "redact"] as const;
export type Privacy = (typeof privacyModes)[number];

/** Returns whether agents see handles in place of contact details. Callers without a privacy mode are not agents. */
export function shouldHideContacts(privacy: Privacy | undefined): boolean {
  return privacy === "pseudonymize" || privacy === "redact";
}

/** Explains handles to agents. */
export const handlesExplained =
  "Addresses and phone numbers may be handles, as in abc@handle.invalid: pass them as they are, and the server uses the value that they stand for.";
