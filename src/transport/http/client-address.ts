import { isIPv6 } from "node:net";

/**
 * Returns the key that identifies a client: its IPv4 address, or the /64 network of its IPv6 address, which usually
 * belongs to one client.
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
