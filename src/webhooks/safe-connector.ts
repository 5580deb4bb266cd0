import { promises as dns } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { buildConnector } from "undici";
import type { AddressGuard } from "./address-guard.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Resolves a host name to addresses; rejects if it has none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The host's address is blocked. */
export class AddressRefused extends Error {
  constructor() {
    super("The address is private or reserved");
    this.name = "AddressRefused";
  }
}

const resolving = { timeout: 2_000, tries: 2 };

/**
 * Resolves a host name by asking the name servers directly. The system's resolver uses the thread pool of file access,
 * so a few slow names would delay everything.
 */
export async function resolveName(hostname: string): Promise<readonly ResolvedAddress[]> {
  if (isLocalName(hostname)) return [toResolvedAddress("127.0.0.1"), toResolvedAddress("::1")];
  // A resolver reads its servers when it is created, and networks change.
  const resolver = new dns.Resolver(resolving);
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [v4, v6].flatMap((answer) =>
    answer.status === "fulfilled" ? answer.value.map(toResolvedAddress) : [],
  );
  if (addresses.length === 0 && v4.status === "rejected") throw v4.reason;
  return addresses;
}

function toResolvedAddress(address: string): ResolvedAddress {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

/** Names that never leave the machine (RFC 6761). */
function isLocalName(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname);
}

/**
 * Creates a connector that refuses blocked addresses. It connects to the very address that it checked, because no name
 * is resolved in between.
 */
export async function createSafeConnector(
  isBlocked: AddressGuard,
  resolve: Resolve,
  timeoutMs: number,
): Promise<buildConnector.connector> {
  const lookup: LookupFunction = (hostname, options, callback) => {
    const family = options.family === "IPv4" ? 4 : options.family === "IPv6" ? 6 : options.family;
    resolve(hostname)
      .then((addresses) => {
        const usable = addresses.filter((each) => !isBlocked(each.address) && (!family || each.family === family));
        const [first] = usable;
        if (!first) throw new AddressRefused();
        if (options.all) callback(null, [...usable]);
        else callback(null, first.address, first.family);
      })
      .catch((error: Error) => callback(error, ""));
  };
  const undici = await import("undici");
  const connect = undici.buildConnector({ lookup, timeout: timeoutMs, allowH2: false });
  return (options, callback) => {
    // An IP address needs no lookup.
    if (isIP(options.hostname) !== 0 && isBlocked(options.hostname)) return callback(new AddressRefused(), null);
    return connect(options, callback);
  };
}
