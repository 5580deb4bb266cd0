import { approvalKeptDays } from "../approvals/approvals.ts";
import type { Config } from "../config/load.ts";
import { limits } from "../contract/access/limits.ts";
import type { RetentionDeps } from "../retention/retention.ts";

/** Returns the retention period of each kind of rows, in days. */
export function getKeptDays({ accessLogDays }: Config): RetentionDeps["keptDays"] {
  return {
    deliveries: 30,
    events: 30,
    accesses: accessLogDays,
    answers: limits.idempotencyTtlSeconds / 86_400,
    confirmations: 0,
    approvals: approvalKeptDays,
  };
}
