import { toNamedOrigin } from "../lib/http/loopback.ts";

/** Returns the address of a person's one-time link. */
export function formatUserLink(origin: string, secret: string): string {
  return `${toNamedOrigin(origin)}/join/${secret}`;
}
