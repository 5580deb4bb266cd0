import { cpus } from "node:os";

/** Returns the number and kind of the machine's processors, for results. */
export function describeMachine(): string {
  return `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`;
}
