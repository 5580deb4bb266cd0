/**
 * What agents see of people. `api`: what the interface shows. `blind`: handles for addresses, phone numbers and
 * external ids. `strict`: and nothing sensitive, whatever the scopes.
 */
export const privacyPostures = ["api", "blind", "strict"] as const;
export type Privacy = (typeof privacyPostures)[number];

/** Whether agents see handles of addresses and telephone numbers. Callers without a posture are none. */
export function hidesContacts(privacy: Privacy | undefined): boolean {
  return privacy === "blind" || privacy === "strict";
}
