import { isIPv6 } from "node:net";

/**
 * Returns by what a client is told from others: its IPv4 address, or the /64 that its IPv6 address is in, of which one
 * client has all.
 */
export function getClientAddress(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined || !isIPv6(remoteAddress)) return remoteAddress ?? "";
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remoteAddress)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = remoteAddress.split("%")[0]?.split("::") ?? [];
  const splitGroups = (text: string) => text.split(":").filter((group) => group !== "");
  const missing = tail === undefined ? 0 : 8 - splitGroups(head).length - splitGroups(tail).length;
  const all = [...splitGroups(head), ...Array.from({ length: missing }, () => "0"), ...splitGroups(tail ?? "")];
  return all.slice(0, 4).join(":");
}
