import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Returns whether a host name or address (IPv6 with or without brackets) reaches only this machine. */
export function isLoopback(host: string): boolean {
  const address = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  const family = isIP(address);
  if (family === 0) return address === "localhost";
  return loopback.check(address, family === 6 ? "ipv6" : "ipv4");
}

/**
 * Returns an origin on this machine with the name `localhost`: browsers do not allow passkeys for an address without a
 * name. Returns other origins unchanged.
 */
export function toNamedOrigin(origin: string): string {
  return origin.replace(/^http:\/\/(127\.0\.0\.1|\[::1\])(?=:|$)/, "http://localhost");
}
