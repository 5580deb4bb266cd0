/** The path of the endpoints that scripts and other servers call. Pages and forms have paths of their own. */
export const authPath = "/auth";
export const minPasswordChars = 12;
export const maxPasswordChars = 128;
/** The time that a session lasts without a request. */
export const sessionHours = 12;
export const maxNameChars = 200;
/**
 * Attempts within the window: failed ones to sign in to one account; from one network address, to sign in or use a
 * link, to begin with a passkey or an external provider, which stores a row each, to register an app, and to have the
 * metadata document of one fetched. `refusal` counts the audit entries of an account's refused attempts.
 */
export const maxAttempts = {
  account: 10,
  refusal: 1,
  address: 100,
  link: 100,
  start: 300,
  registration: 20,
  document: 30,
} as const;
export const attemptWindowMinutes = 15;
/** Clients that have registered and that no one has connected. The oldest are deleted first. */
export const maxUnusedClients = 1_000;
/** The time for which the page that asks a person for consent can be answered, and a code be exchanged. */
export const consentMinutes = 10;
/** The time that an access token of a connected app lasts. */
export const appTokenMinutes = 60;
/** The choices of days for which an app stays connected, if not until it is ended. */
export const connectionDays = [1, 30, 90] as const;
export const defaultConnectionDays = 90;
/** The time for which an app stays connected without a request for a new access token. */
export const appIdleDays = 30;
