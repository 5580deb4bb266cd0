import { promises as dns } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { buildConnector } from "undici";
import type { AddressGuard } from "./address-guard.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Finds the addresses of a host name; rejects when it has none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Nothing may be sent to where a name or address leads. */
export class AddressRefused extends Error {
  constructor() {
    super("The address is private or reserved");
    this.name = "AddressRefused";
  }
}

const resolving = { timeout: 2_000, tries: 2 };

/**
 * Asks the name servers directly. What the system offers instead runs on the few threads that files are read on too:
 * some names that are slow to resolve would hold up everything.
 */
export async function resolveName(hostname: string): Promise<readonly ResolvedAddress[]> {
  if (isLocalName(hostname)) return [toResolvedAddress("127.0.0.1"), toResolvedAddress("::1")];
  // One for each name: its servers are read when it is made, and networks change.
  const resolver = new dns.Resolver(resolving);
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [v4, v6].flatMap((answer) =>
    answer.status === "fulfilled" ? answer.value.map(toResolvedAddress) : [],
  );
  if (found.length === 0 && v4.status === "rejected") throw v4.reason;
  return found;
}

function toResolvedAddress(address: string): ResolvedAddress {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

/** Names that never leave the machine (RFC 6761). */
function isLocalName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname);
}

/**
 * Opens connections, but none to an address that the guard refuses. The address that is checked is the one that is
 * dialled, for no name is resolved in between.
 */
export async function createSafeConnector(
  isBlocked: AddressGuard,
  resolve: Resolve,
  timeoutMs: number,
): Promise<buildConnector.connector> {
  const lookup: LookupFunction = (hostname, options, callback) => {
    const family = options.family === "IPv4" ? 4 : options.family === "IPv6" ? 6 : options.family;
    resolve(hostname)
      .then((found) => {
        const usable = found.filter((each) => !isBlocked(each.address) && (!family || each.family === family));
        const [first] = usable;
        if (!first) throw new AddressRefused();
        if (options.all) callback(null, [...usable]);
        else callback(null, first.address, first.family);
      })
      .catch((error: Error) => callback(error, ""));
  };
  const undici = await import("undici");
  const dial = undici.buildConnector({ lookup, timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    // An address is dialled without a lookup.
    if (isIP(options.hostname) !== 0 && isBlocked(options.hostname)) return callback(new AddressRefused(), null);
    return dial(options, callback);
  };
}
