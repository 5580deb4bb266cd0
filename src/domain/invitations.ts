import type { ReviewerStatus } from "../contract/reviewers.ts";

interface Invitation {
  readonly expiresAt: string;
  readonly usedAt: string | null;
}

/**
 * Returns whether an invitation can be accepted: once, before it expires, and not by a reviewer whom staff deactivated.
 */
export function isOpen({ expiresAt, usedAt }: Invitation, status: ReviewerStatus, now: string): boolean {
  return usedAt === null && expiresAt > now && status !== "inactive";
}
