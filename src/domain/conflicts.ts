import { type Assignment, ConflictKind } from "../contract/assignments.ts";

/** The known facts of a reviewer or an applicant. What is not known conflicts with nothing. */
export interface ConflictParty {
  readonly email?: string | null | undefined;
  readonly personId?: string | null | undefined;
  readonly organization?: string | null | undefined;
}

/** An assignment between the reviewer and the submission, of any round, removed ones included. */
export type ConflictAssignment = Pick<Assignment, "status" | "conflictAttestation">;

/** Returns the conflicts between a reviewer and a submission's applicant, most serious first. */
export function listConflicts(
  reviewer: ConflictParty,
  applicant: ConflictParty,
  past: readonly ConflictAssignment[],
): ConflictKind[] {
  const found: Readonly<Record<ConflictKind, boolean>> = {
    declared_conflict: past.some(isDeclaredConflict),
    same_person: isEqual(reviewer.personId, applicant.personId) || isEqual(reviewer.email, applicant.email, toLower),
    same_organization: isEqual(reviewer.organization, applicant.organization, normalizeOrganization),
    declined_before: past.some(({ status }) => status === "declined"),
  };
  return ConflictKind.options.filter((kind) => found[kind]);
}

/** Returns whether a reviewer declared a conflict of interest on an assignment. */
export function isDeclaredConflict({ status, conflictAttestation }: ConflictAssignment): boolean {
  return status === "conflict" || conflictAttestation?.hasConflict === true;
}

type Text = string | null | undefined;

function isEqual(a: Text, b: Text, normalize: (text: string) => string = (text) => text): boolean {
  const known = normalize(a ?? "");
  return known !== "" && known === normalize(b ?? "");
}

function toLower(text: string): string {
  return text.trim().toLowerCase();
}

/** Ignores accents, case, punctuation and a leading article, in which spellings of one name differ. */
function normalizeOrganization(text: string): string {
  const words = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  return words.replace(/^the (?=.)/, "");
}
