import { vi } from "vitest";

/** Repeats the check until it passes. The timeout only ends a failing test: a loaded machine stays below it. */
export function waitFor<T>(check: () => T | Promise<T>, timeoutMs = 30_000): Promise<T> {
  return vi.waitFor(check, { timeout: timeoutMs, interval: 50 });
}
