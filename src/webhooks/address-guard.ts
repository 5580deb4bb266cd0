import { BlockList, isIP } from "node:net";
import { isLoopback } from "../lib/http/loopback.ts";

/** Returns whether an IP address is blocked. */
export type AddressGuard = (address: string) => boolean;

/**
 * Blocks addresses outside the public internet (IANA's special-purpose registries): private, link-local,
 * shared, reserved, documentation, multicast and unspecified ones, and IPv6 addresses that stand for IPv4 ones.
 * @param allowLoopback - whether this machine itself may be reached
 */
export function createAddressGuard({ allowLoopback }: { readonly allowLoopback: boolean }): AddressGuard {
  return (address) => {
    const family = isIP(address);
    if (family === 0) return true;
    if (family === 4 ? specialIPv4.check(address, "ipv4") : specialIPv6.check(address, "ipv6")) return true;
    return isLoopback(address) && !allowLoopback;
  };
}

/** Without loopback addresses. */
const specialIPv4 = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  specialIPv4.addSubnet(network, bits, "ipv4");
}

/** Without loopback addresses. */
const specialIPv6 = new BlockList();
specialIPv6.addAddress("::", "ipv6");
// Global addresses begin with the bits 001. Below: IPv4-mapped, IPv4-compatible, NAT64, discard.
specialIPv6.addRange("::2", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ipv6");
for (const [network, bits] of [
  // Protocol assignments: Teredo, benchmarking, ORCHID.
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
  // Above: segment routing, unique local, link-local, site-local, multicast.
  ["4000::", 2],
  ["8000::", 1],
] as const) {
  specialIPv6.addSubnet(network, bits, "ipv6");
}
