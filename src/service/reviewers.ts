import { limits } from "../contract/access/limits.ts";
import { shouldHideContacts } from "../contract/access/privacy.ts";
import { validationProblem } from "../contract/errors.ts";
import type { Input } from "../contract/index.ts";
import type { Round } from "../contract/programs.ts";
import type { Reviewer } from "../contract/reviewers.ts";
import { workloadStatuses } from "../domain/assignments.ts";
import { mayHoldAddress } from "../lib/addresses.ts";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import { toHeaderLine } from "../lib/http/header-line.ts";
import { matchesShown } from "../lib/search-words.ts";
import type { Handler, ReadContext, WriteContext } from "../store/handler-context.ts";
import type { Query } from "../store/port.ts";
import { normalizeEmail, type Row } from "../store/tables.ts";
import { findSuppressed } from "./emails.ts";
import { getOrThrow, loadWritableProgram } from "./guards.ts";
import { createPersonIncluder } from "./persons/includes.ts";
import { findPersonByEmail } from "./persons/lookup.ts";

export const list_reviewers: Handler<"list_reviewers"> = async (context, input) => {
  const { programId, roundId, status, search, includePersonFieldIds, ...page } = input;
  // Everyone in a round is in its programme, so the query filters by the narrower of the two.
  const round = programId && roundId ? await context.store.get("rounds", roundId) : undefined;
  const query = {
    where: { status },
    has: { programIds: round?.programId === programId ? undefined : programId, roundIds: roundId },
  };
  const { query: found, wanted } = createSearch(search, shouldHideContacts(context.privacy));
  const combined = { ...query, ...found, has: { ...query.has, ...found?.has } };
  const { rows, ...cursors } = await context.store.page("reviewers", combined, "newest", page, wanted);
  const toReviewer = await createReviewerMapper(context, rows, includePersonFieldIds);
  return { rows: rows.map(toReviewer), ...cursors };
};

const visibleColumns = ["firstName", "lastName", "affiliation"] as const;

/**
 * Creates the query of a search. For callers who may not see addresses, the search covers only visible fields, because
 * repeated guesses would otherwise reveal an address. A whole address, which is what a handle stands for, matches
 * exactly.
 */
function createSearch(text: string | undefined, hidesContacts: boolean): ReviewerSearch {
  if (text === undefined) return {};
  if (!hidesContacts) return { query: { search: { columns: [...visibleColumns, "email"], text } } };
  if (mayHoldAddress(text)) return { query: { has: { email: normalizeEmail(text) } } };
  const isWanted = (row: Row<"reviewers">) =>
    matchesShown(
      text,
      visibleColumns.map((name) => row[name]),
    );
  return { query: { search: { columns: visibleColumns, text } }, wanted: isWanted };
}

interface ReviewerSearch {
  readonly query?: Pick<Query<"reviewers">, "has" | "search">;
  readonly wanted?: (row: Row<"reviewers">) => boolean;
}

export const get_reviewer: Handler<"get_reviewer"> = async (context, { reviewerId, includePersonFieldIds }) => {
  const row = await getOrThrow(context.store, "reviewers", reviewerId);
  return (await createReviewerMapper(context, [row], includePersonFieldIds))(row);
};

export const invite_reviewer: Handler<"invite_reviewer"> = async (context, input) => {
  const rounds: Round[] = [];
  for (const roundId of new Set(input.roundIds)) rounds.push(await getOrThrow(context.store, "rounds", roundId));
  const programNames = new Map<string, string>();
  for (const { programId } of rounds) {
    if (!programNames.has(programId))
      programNames.set(programId, (await loadWritableProgram(context.store, programId)).name);
  }
  const [existing] = await context.store.find(
    "reviewers",
    { has: { email: normalizeEmail(input.email) } },
    { limit: 1 },
  );
  const reviewer = existing
    ? await inviteAgain(context, existing, input, rounds)
    : await inviteNew(context, input, rounds);
  await writeInvitation(context, reviewer, input, programNames);
  return (await createReviewerMapper(context, [reviewer]))(reviewer);
};

/** Returns a function that adds assignment counts to rows, and person data if fields are requested. */
async function createReviewerMapper(
  context: Pick<ReadContext, "store" | "requireScopes">,
  rows: readonly Row<"reviewers">[],
  fieldIds?: readonly string[],
): Promise<(row: Row<"reviewers">) => Reviewer> {
  const where = { reviewerId: rows.map((row) => row.reviewerId), active: true };
  const countByStatus = (status: readonly (typeof workloadStatuses)[number][]) =>
    context.store.countBy("assignments", "reviewerId", { where: { ...where, status } });
  const assigned = await countByStatus(workloadStatuses);
  const completed = await countByStatus(["completed"]);
  const includePerson = await createPersonIncluder(context, rows, fieldIds);
  return (row) => ({
    ...row,
    assignmentCounts: { assigned: assigned.get(row.reviewerId) ?? 0, completed: completed.get(row.reviewerId) ?? 0 },
    ...includePerson(row),
  });
}

type Invitation = Input<"invite_reviewer">;

async function inviteNew({ store, now, newId }: WriteContext, input: Invitation, rounds: readonly Round[]) {
  const person = await findPersonByEmail(store, input.email);
  return store.insert("reviewers", {
    reviewerId: newId("rvw"),
    email: input.email,
    firstName: input.firstName ?? null,
    lastName: input.lastName ?? null,
    affiliation: input.affiliation ?? null,
    expertise: uniteLists([], input.expertise ?? []),
    role: input.role ?? "reviewer",
    status: "invited",
    programIds: uniteLists(
      [],
      rounds.map(({ programId }) => programId),
    ),
    roundIds: rounds.map(({ roundId }) => roundId),
    personId: person?.personId ?? null,
    maxAssignments: null,
    invitedAt: now,
    acceptedAt: null,
  });
}

/** Adds an invitation to an existing reviewer. A reviewer who has accepted before stays active. */
async function inviteAgain(
  { store, now }: WriteContext,
  existing: Row<"reviewers">,
  input: Invitation,
  rounds: readonly Round[],
) {
  const { firstName, lastName, affiliation, role } = input;
  const expertise = uniteLists(existing.expertise, input.expertise ?? []);
  if (expertise.length > Math.max(limits.expertise, existing.expertise.length)) {
    const message = `A reviewer has at most ${limits.expertise} areas of expertise`;
    throw validationProblem({ path: "expertise", code: "too_big", message });
  }
  const personId = existing.personId ?? (await findPersonByEmail(store, existing.email))?.personId ?? null;
  return store.update("reviewers", existing, {
    firstName,
    lastName,
    affiliation,
    role,
    expertise,
    personId,
    programIds: uniteLists(
      existing.programIds,
      rounds.map(({ programId }) => programId),
    ),
    roundIds: uniteLists(
      existing.roundIds,
      rounds.map(({ roundId }) => roundId),
    ),
    ...(existing.status === "active" ? {} : { status: "invited", invitedAt: now, acceptedAt: null }),
  });
}

/** Stores the hash of a magic link and queues the e-mail that contains the link. */
async function writeInvitation(
  { store, links, now, newId, newSecret }: WriteContext,
  reviewer: Row<"reviewers">,
  input: Invitation,
  programNames: ReadonlyMap<string, string>,
): Promise<void> {
  const secret = newSecret();
  const expiresAt = new Date(Date.parse(now) + limits.invitationSeconds * 1000).toISOString();
  const { reviewerId } = reviewer;
  const invitation = { reviewerId, sha256: hashSha256Hex(secret), expiresAt, usedAt: null };
  await store.insert("invitations", { invitationId: newId("inv"), ...invitation });

  const suppressed = input.suppressEmails || (await findSuppressed(store, [reviewer.email])).size > 0;
  const programme = input.programName ?? [...programNames.values()].join(", ");
  const [programId = null, ...others] = programNames.keys();
  const paragraphs = [
    reviewer.firstName ? `Dear ${reviewer.firstName},` : "Hello,",
    programme ? `You are invited to review submissions to ${programme}.` : "You are invited to review submissions.",
    ...(input.message ? [input.message] : []),
    `Accept the invitation here: ${await links.invitation(secret)}`,
    `The link is for you alone and works until ${expiresAt.slice(0, 10)} (UTC).`,
  ];
  await store.insert("emailSends", {
    emailSendId: newId("eml"),
    programId: others.length === 0 ? programId : null,
    submissionId: null,
    recipientEmail: reviewer.email,
    recipientKind: "reviewer",
    template: "reviewer_invitation",
    subject: toHeaderLine(programme ? `Invitation to review: ${programme}` : "Invitation to review"),
    body: paragraphs.join("\n\n"),
    status: suppressed ? "suppressed" : "queued",
    bulkId: null,
    error: null,
    queuedAt: now,
    sentAt: null,
  });
}

/** Combines two lists without duplicates, ignoring case. */
export function uniteLists(before: readonly string[], added: readonly string[]): string[] {
  const byKey = new Map<string, string>();
  for (const item of [...before, ...added]) if (!byKey.has(item.toLowerCase())) byKey.set(item.toLowerCase(), item);
  return [...byKey.values()];
}
