import type { Assignment, AssignmentOutcome, ConflictKind } from "../../contract/assignments.ts";
import { maxLimit } from "../../contract/definition/page.ts";
import type { OperationName } from "../../contract/index.ts";
import type { Person } from "../../contract/persons.ts";
import type { Reviewer } from "../../contract/reviewers.ts";
import type { Submission } from "../../contract/submissions.ts";
import type { Pair } from "../../domain/assignments.ts";
import { type ConflictParty, listConflicts } from "../../domain/conflicts.ts";
import type { DryRunResult, UpstreamCall } from "../../upstream/port.ts";
import { readAsCaller, type UpstreamRow } from "../caller-reads.ts";
import { formatName, LongTexts } from "../confirmation/preview-text.ts";
import type { ToolSession } from "../session.ts";

/** Most submissions and most reviewers that are compared for one call: each costs up to three reads. */
const maxCompared = 20;

const descriptions: Readonly<Record<ConflictKind, string>> = {
  declared_conflict: "the reviewer declared a conflict of interest",
  same_person: "the reviewer is the applicant",
  same_organization: "the same organization as the applicant",
  declined_before: "the reviewer declined it before",
};

/** Describes what speaks against the assignments that a call would create. */
export function describePlannedConflicts(
  session: ToolSession,
  call: UpstreamCall,
  dryRunResult: DryRunResult,
  longTexts: LongTexts,
): Promise<string[]> {
  const rows = dryRunResult.changes.flatMap(({ table, before, after }) =>
    table === "assignments" && !before && after ? [after] : [],
  );
  const pairs = rows.map((row) => ({
    submissionId: String(row["submissionId"]),
    reviewerId: String(row["reviewerId"]),
  }));
  return describeConflicts(session, call, pairs, { longTexts, formatRecord: (id) => formatName(dryRunResult, id) });
}

/** Describes what speaks against the assignments that a call has created without a question. */
export async function describeCreatedConflicts(
  session: ToolSession,
  call: UpstreamCall,
  data: unknown,
): Promise<string[]> {
  const { operation } = call;
  if (operation === "reassign_assignment") return describeConflicts(session, call, [data as Assignment]);
  if (operation !== "bulk_assign_reviewers" && operation !== "auto_assign_reviewers") return [];
  return describeConflicts(session, call, (data as AssignmentOutcome).created);
}

/** The values that are compared, by the read that shows them. */
const comparisons: Partial<Record<OperationName, string>> = {
  get_reviewer: "reviewers",
  get_submission: "applicants",
  get_person: "applicants' organizations",
  list_assignments: "declared conflicts and earlier declines",
};

interface ConflictFormat {
  readonly longTexts: LongTexts;
  readonly formatRecord: (id: string) => string;
}

/** Describes what speaks against assignments, a line each, and what was not compared. Never fails. */
async function describeConflicts(
  session: ToolSession,
  call: UpstreamCall,
  pairs: readonly Pair[],
  { longTexts, formatRecord }: ConflictFormat = { longTexts: new LongTexts(), formatRecord: (id) => id },
): Promise<string[]> {
  const allSubmissionIds = [...new Set(pairs.map(({ submissionId }) => submissionId))];
  const allReviewerIds = [...new Set(pairs.map(({ reviewerId }) => reviewerId))];
  const submissionIds = allSubmissionIds.slice(0, maxCompared);
  const reviewerIds = allReviewerIds.slice(0, maxCompared);
  const compared = pairs.filter(
    (pair) => submissionIds.includes(pair.submissionId) && reviewerIds.includes(pair.reviewerId),
  );
  const unread = new Set<string>();
  const read: Read = async (operation, input) => {
    const answer = await readAsCaller(session, call, operation, input);
    if (answer.ok) return answer.data;
    unread.add(comparisons[operation] ?? operation);
    return undefined;
  };
  const reviewers = new Map(
    await Promise.all(reviewerIds.map(async (id) => [id, await readReviewer(read, id)] as const)),
  );
  const ofSubmissions = submissionIds.map(async (submissionId) => {
    const [applicant, past = []] = await Promise.all([
      readApplicant(read, submissionId),
      read("list_assignments", { submissionId, includeInactive: true, limit: maxLimit }),
    ]);
    const together = compared.filter((pair) => pair.submissionId === submissionId);
    return together.flatMap(({ reviewerId }) => {
      const own = (past as readonly Assignment[]).filter((assignment) => assignment.reviewerId === reviewerId);
      const found = listConflicts(reviewers.get(reviewerId) ?? {}, applicant, own).map((kind) => descriptions[kind]);
      return found.length === 0
        ? []
        : [`Caution, ${formatRecord(reviewerId)} and ${formatRecord(submissionId)}: ${found.join("; ")}`];
    });
  });
  const lines = (await Promise.all(ofSubmissions)).flat();
  const isLeftOut = (id: string) => !submissionIds.includes(id) && !reviewerIds.includes(id);
  const leftOut = [...allSubmissionIds, ...allReviewerIds].filter(isLeftOut).map(formatRecord);
  return [
    ...longTexts.shortenLines(`All ${lines.length} cautions`, lines),
    ...(unread.size > 0
      ? [`Not checked for conflicts, because they could not be read: ${[...unread].join(", ")}`]
      : []),
    ...(compared.length < pairs.length
      ? [
          `Not checked for conflicts: ${pairs.length - compared.length} of the ${pairs.length} assignments. ` +
            `One call compares ${maxCompared} submissions and ${maxCompared} reviewers. Left out: ` +
            longTexts.formatList(`All ${leftOut.length} not checked for conflicts`, leftOut),
        ]
      : []),
  ];
}

type Read = (operation: OperationName, input: UpstreamRow) => Promise<unknown>;

async function readReviewer(read: Read, reviewerId: string): Promise<ConflictParty> {
  const reviewer = (await read("get_reviewer", { reviewerId })) as Partial<Reviewer> | undefined;
  return { email: reviewer?.email, personId: reviewer?.personId, organization: reviewer?.affiliation };
}

async function readApplicant(read: Read, submissionId: string): Promise<ConflictParty> {
  const submission = (await read("get_submission", { submissionId })) as Partial<Submission> | undefined;
  const personId = submission?.applicantPersonId;
  const person = personId ? ((await read("get_person", { personId })) as Partial<Person> | undefined) : undefined;
  return { email: submission?.innovatorEmail, personId, organization: person?.contactDetails?.organization };
}
