import { readFileSync } from "node:fs";

/** Returns the resident memory of a process in MiB, or NaN once it has ended. Needs Linux. */
export function readMemoryMiB(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}

/** Returns the processor time of a process so far in milliseconds. Linux counts it in hundredths of a second (proc(5)). */
export function readCpuMs(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
