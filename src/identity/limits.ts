/** The path of the endpoints that scripts and other servers call. Pages and forms have paths of their own. */
export const authPath = "/auth";
export const minPasswordChars = 12;
export const maxPasswordChars = 128;
/** How long a session lasts without a request. */
export const sessionHours = 12;
/** Attempts to sign in or to use a link within the window: for one account, and from one network address. */
export const maxAttempts = { account: 10, address: 100 } as const;
export const attemptWindowMinutes = 15;
