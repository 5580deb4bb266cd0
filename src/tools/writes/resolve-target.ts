import { limits } from "../../contract/access/limits.ts";
import { maxLimit } from "../../contract/definition/page.ts";
import { maxRecipients } from "../../contract/emails.ts";
import { Problem, validationProblem } from "../../contract/errors.ts";
import type { OperationName } from "../../contract/index.ts";
import { isObject } from "../../lib/json-value.ts";
import type { Failure, UpstreamCall } from "../../upstream/port.ts";
import { readUpstreamList, type UpstreamList, type UpstreamRow } from "../caller-reads.ts";
import { formatCount } from "../confirmation/preview-text.ts";
import type { ToolSession } from "../session.ts";
import type { Target } from "./target-arguments.ts";

/** A call with lists in place of its target. */
export interface ResolvedTarget {
  readonly ok: true;
  readonly input: UpstreamRow;
  /** Sentences about what the target selected and what it left out. */
  readonly lines: readonly string[];
  /** The answer of the call if the target selected nothing. */
  readonly emptyData?: unknown;
}

type ReadList = (operation: OperationName, filter: UpstreamRow) => Promise<UpstreamList>;

/** Most pages that one target reads, so that a refusal can say how many records match. */
const maxPages = 20;

/**
 * Resolves the target of a call with reads of its caller.
 * @returns the call's complete input; a failure if the arguments do not fit together, if more records match than the
 * operation accepts, or if the caller may not read them
 */
export async function resolveTarget(
  session: ToolSession,
  call: UpstreamCall,
  target: Target,
): Promise<ResolvedTarget | Failure> {
  const readList: ReadList = async (operation, filter) => {
    const list = await readUpstreamList(session, call, operation, filter, maxPages);
    if (!list.ok) throw list.problem;
    return list;
  };
  try {
    return call.operation === "send_bulk_email"
      ? await resolveRecipients(readList, call.input, target)
      : await resolveSubmissions(readList, call.input, target);
  } catch (error) {
    if (error instanceof Problem) return { ok: false, problem: error };
    throw error;
  }
}

async function resolveSubmissions(readList: ReadList, input: UpstreamRow, target: Target): Promise<ResolvedTarget> {
  const listed = ["submissionIds", "pairs"].filter((name) => input[name] !== undefined);
  if (listed.length > 0) throw createConflict(listed);
  const { roundId, reviewerIds } = input;
  // Only submissions in review in the round can be assigned.
  const filter = { state: "IN_REVIEW", roundId, ...target };
  const { rows, complete } = await readList("list_submissions", filter);
  const reviewers = Array.isArray(reviewerIds) ? reviewerIds.length : 0;
  const combined = rows.length * reviewers;
  if (combined > limits.bulkAssignments || !complete) {
    const count = `${complete ? "" : "more than "}${formatCount(rows.length, "submission")}`;
    throw createExcess(
      `${count} × ${formatCount(reviewers, "reviewer")}: one call makes at most ${limits.bulkAssignments} assignments. Name fewer reviewers, narrow the target, or give submissionIds`,
    );
  }
  return {
    ok: true,
    input: { ...input, submissionIds: rows.map(({ submissionId }) => submissionId) },
    lines: [`${formatFilter(filter)}: ${formatCount(rows.length, "submission")}`],
    ...(rows.length === 0 ? { emptyData: { created: [], skipped: [] } } : {}),
  };
}

/** Where each kind of recipient of a message is listed. */
const recipientLists = { reviewers: "reviewerIds", applicants: "applicantEmails" } as const;

async function resolveRecipients(readList: ReadList, input: UpstreamRow, target: Target): Promise<ResolvedTarget> {
  const kinds = (["reviewers", "applicants"] as const).filter((kind) => isObject(input[kind]));
  const unlisted = kinds.filter((kind) => (input[kind] as UpstreamRow)[recipientLists[kind]] === undefined);
  if (kinds.length > 0 && unlisted.length === 0)
    throw createConflict(kinds.map((kind) => `${kind}.${recipientLists[kind]}`));
  let resolved = input;
  const lines: string[] = [];
  for (const kind of unlisted) {
    const find = kind === "reviewers" ? findReviewers : findApplicants;
    const { recipients, line } = await find(readList, input["programId"], target);
    if (recipients.length > maxRecipients) {
      throw createExcess(
        `${recipients.length} ${kind} match: one call sends to at most ${maxRecipients}. Narrow the target by trackId, roundId or state`,
      );
    }
    lines.push(line);
    const { [kind]: message, ...rest } = resolved;
    resolved =
      recipients.length === 0
        ? rest
        : { ...rest, [kind]: { ...(message as UpstreamRow), [recipientLists[kind]]: recipients } };
  }
  const isEmpty = kinds.length > 0 && kinds.every((kind) => resolved[kind] === undefined);
  return {
    ok: true,
    input: resolved,
    lines,
    ...(isEmpty ? { emptyData: { queued: 0, suppressed: 0, skipped: [] } } : {}),
  };
}

interface Recipients {
  readonly recipients: readonly unknown[];
  readonly line: string;
}

async function findReviewers(readList: ReadList, programId: unknown, target: Target): Promise<Recipients> {
  const { roundId, trackId, state } = target;
  if (state !== undefined) {
    const message = "A state selects submissions, and with them applicants. Give reviewers a list, or in another call";
    throw validationProblem({ path: "target.state", code: "conflicting", message });
  }
  const list = await readList("list_reviewers", { programId, roundId });
  requireComplete(list, "reviewers");
  const roundIds = trackId === undefined ? undefined : await listRoundIds(readList, programId, trackId);
  const placed = list.rows.filter(
    (row) => !roundIds || (row["roundIds"] as readonly string[]).some((id) => roundIds.has(id)),
  );
  const reviewing = placed.filter(({ status }) => status === "active" || status === "invited");
  const left = placed.length - reviewing.length;
  const omitted = left > 0 ? `; ${left} declined or inactive left out` : "";
  return {
    recipients: reviewing.map(({ reviewerId }) => reviewerId),
    line: `${formatFilter({ programId, ...target })}: ${formatCount(reviewing.length, "reviewer")}${omitted}`,
  };
}

async function listRoundIds(readList: ReadList, programId: unknown, trackId: string): Promise<ReadonlySet<string>> {
  const { rows } = await readList("list_rounds", { programId });
  return new Set(rows.filter((row) => row["trackId"] === trackId).map(({ roundId }) => String(roundId)));
}

/** Finds the applicants of submissions if the target selects by a state or a round, otherwise all that registered. */
async function findApplicants(readList: ReadList, programId: unknown, target: Target): Promise<Recipients> {
  const { roundId, state, trackId } = target;
  const filter = { programId, ...target };
  if (roundId === undefined && state === undefined) {
    const list = await readList("list_applicants", { programId, trackId });
    requireComplete(list, "applicants");
    const line = `${formatFilter(filter)}: ${formatCount(list.rows.length, "applicant")}`;
    return { recipients: list.rows.map(({ email }) => email), line };
  }
  const list = await readList("list_submissions", filter);
  requireComplete(list, "submissions");
  const recipients = [...new Map(list.rows.map((row) => [row["applicantId"], row["innovatorEmail"]])).values()];
  const submissions = formatCount(list.rows.length, "submission");
  const line = `${formatFilter(filter)}: ${submissions} of ${formatCount(recipients.length, "applicant")}`;
  return { recipients, line };
}

/** @throws Problem `validation_failed` if there are more rows than one target reads */
function requireComplete({ complete }: UpstreamList, rows: string): void {
  if (!complete)
    throw createExcess(
      `More than ${maxPages * maxLimit} ${rows} match. Narrow the target by trackId, roundId or state`,
    );
}

function createExcess(message: string): Problem {
  return validationProblem({ path: "target", code: "too_big", message });
}

function createConflict(paths: readonly string[]): Problem {
  const message = "Give either a list or target";
  return validationProblem(...["target", ...paths].map((path) => ({ path, code: "conflicting", message })));
}

function formatFilter(filter: UpstreamRow): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return `Target (${given.map(([name, value]) => `${name} ${value}`).join(", ")})`;
}
