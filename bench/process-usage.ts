import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

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

/**
 * Returns for how long the first thread of a process, on which JavaScript runs, has run so far and has waited for a
 * processor, in milliseconds. Linux writes nanoseconds (sched-stats).
 */
export function readMainThreadMs(pid: number | undefined): { readonly run: number; readonly waited: number } {
  const [runNs, waitedNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return { run: Number(runNs) / 1e6, waited: Number(waitedNs) / 1e6 };
}

/** Returns the time so far that the host of a virtual machine gave to others, in milliseconds of one processor (proc(5)). */
export function readStolenMs(): number {
  const [, ...fields] = (/^cpu .*$/m.exec(readFileSync("/proc/stat", "utf8"))?.[0] ?? "").split(/ +/);
  return (Number(fields[7] ?? 0) * 10) / availableParallelism();
}
