import type { ReviewerStatus } from "../contract/reviewers.ts";

interface Invitation {
  readonly expiresAt: string;
  readonly usedAt: string | null;
}

/** Whether an invitation can be accepted: once, until it expires, and by nobody whom staff have made inactive. */
export function isOpen({ expiresAt, usedAt }: Invitation, status: ReviewerStatus, now: string): boolean {
  return usedAt === null && expiresAt > now && status !== "inactive";
}
