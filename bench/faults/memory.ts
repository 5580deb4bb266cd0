import { readFileSync } from "node:fs";

/** Returns the resident memory of a process, or NaN once it has ended. */
export function readMemoryMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}
