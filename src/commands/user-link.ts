/**
 * Returns the address of a person's one-time link. On this machine it has the name `localhost`: browsers do not allow
 * passkeys for an address without a name.
 */
export function formatUserLink(origin: string, secret: string): string {
  return `${origin.replace(/^http:\/\/(127\.0\.0\.1|\[::1\])(?=:|$)/, "http://localhost")}/join/${secret}`;
}
