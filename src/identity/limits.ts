/** The path of the endpoints that scripts and other servers call. Pages and forms have paths of their own. */
export const authPath = "/auth";
export const minPasswordChars = 12;
export const maxPasswordChars = 128;
/** How long a session lasts without a request. */
export const sessionHours = 12;
export const maxNameChars = 200;
/**
 * Attempts within the window: to sign in to one account, to sign in or use a link from one network address, and to begin
 * with a passkey or an external provider from one address, which stores a row each.
 */
export const maxAttempts = { account: 10, address: 100, start: 300 } as const;
export const attemptWindowMinutes = 15;
