import type { PastAssignment } from "../../src/domain/assignment-plan.ts";

/** The round that is planned, and one before it. */
export const here = "rnd_2";
export const before = "rnd_1";

export const attested = { hasConflict: true, statement: "a colleague", attestedAt: "2026-01-01T00:00:00.000Z" };

/** An assignment made earlier: in the planned round, active and open unless the change says otherwise. */
export function past(submissionId: string, reviewerId: string, change: Partial<PastAssignment> = {}): PastAssignment {
  return {
    submissionId,
    reviewerId,
    roundId: here,
    status: "assigned",
    active: true,
    conflictAttestation: null,
    ...change,
  };
}
