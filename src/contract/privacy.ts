/**
 * What agents see of people. `off`: what the interface shows. `pseudonymize`: handles for addresses, phone numbers and
 * external ids. `redact`: and nothing sensitive, whatever the scopes.
 */
export const privacyModes = ["off", "pseudonymize", "redact"] as const;
export type Privacy = (typeof privacyModes)[number];

/** Whether agents see handles of addresses and telephone numbers. Callers without a posture are none. */
export function hidesContacts(privacy: Privacy | undefined): boolean {
  return privacy === "pseudonymize" || privacy === "redact";
}
