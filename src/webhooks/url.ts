import { isIP } from "node:net";
import type { AddressGuard } from "./address-guard.ts";
import { isLocal } from "./sender.ts";

export interface UrlRules {
  readonly isBlocked: AddressGuard;
  readonly allowLoopback: boolean;
}

export const maxUrlChars = 2_000;

/**
 * Returns why an address is not allowed, as far as it is known without resolving its name; undefined if it is allowed.
 * The resolved address is checked at each connection.
 */
export function findUrlFault(text: string, { isBlocked, allowLoopback }: UrlRules): string | undefined {
  const url = URL.parse(text);
  if (!url || text.length > maxUrlChars) return `it must be an https address of at most ${maxUrlChars} characters`;
  const { protocol, username, password, hash } = url;
  if (username !== "" || password !== "") return "it must not hold a user name or password";
  if (hash !== "") return "it must not have a fragment";
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (isLocal(hostname)) {
    if (!allowLoopback) return "it is on this machine, which only PROGRAMME_WEBHOOK_LOOPBACK allows";
    return protocol === "https:" || protocol === "http:" ? undefined : "it must be an http or https address";
  }
  if (protocol !== "https:") return "it must be an https address";
  return isIP(hostname) !== 0 && isBlocked(hostname) ? "it is a private or reserved address" : undefined;
}
