import { validationProblem } from "../contract/errors.ts";
import type { Input } from "../contract/index.ts";
import { limits } from "../contract/limits.ts";
import type { Round } from "../contract/programs.ts";
import type { Reviewer } from "../contract/reviewers.ts";
import { workloadStatuses } from "../domain/assignments.ts";
import { mayHoldAddress } from "../lib/addresses.ts";
import { createRandomToken, hashSha256Hex } from "../lib/crypto/crypto.ts";
import { toHeaderLine } from "../lib/http/header-line.ts";
import { matchesShown } from "../lib/search-words.ts";
import type { Handler, ReadWork, WriteWork } from "../store/handler-context.ts";
import type { Query } from "../store/port.ts";
import { normalizeEmail, type Row } from "../store/tables.ts";
import { findSuppressed } from "./emails.ts";
import { getOrThrow, loadWritableProgram } from "./guards.ts";
import { expandPersons } from "./person-includes.ts";
import { findPersonByEmail } from "./person-lookup.ts";

export const list_reviewers: Handler<"list_reviewers"> = async (work, input) => {
  const { programId, roundId, status, search, includePersonFieldIds, ...page } = input;
  // Whoever is in a round is in its programme: the narrower of the two is all there is to look for.
  const round = programId && roundId ? await work.store.get("rounds", roundId) : undefined;
  const query = {
    where: { status },
    has: { programIds: round?.programId === programId ? undefined : programId, roundIds: roundId },
  };
  const { query: found, wanted } = createSearch(search, work.hidesContacts);
  const both = { ...query, ...found, has: { ...query.has, ...found?.has } };
  const { rows, lastEvaluatedKey } = await work.store.page("reviewers", both, "newest", page, wanted);
  const show = await createReviewerView(work, rows, includePersonFieldIds);
  return { rows: rows.map(show), lastEvaluatedKey };
};

const named = ["firstName", "lastName", "affiliation"] as const;

/**
 * How reviewers are searched for. For a caller from whom addresses are hidden by what is shown alone, for otherwise one
 * guess after the other finds out an address; and by a whole address, which is what a handle stands for.
 */
function createSearch(text: string | undefined, hidesContacts: boolean): Search {
  if (text === undefined) return {};
  if (!hidesContacts) return { query: { search: { columns: [...named, "email"], text } } };
  if (mayHoldAddress(text)) return { query: { has: { email: normalizeEmail(text) } } };
  const isWanted = (row: Row<"reviewers">) =>
    matchesShown(
      text,
      named.map((name) => row[name]),
    );
  return { query: { search: { columns: named, text } }, wanted: isWanted };
}

interface Search {
  readonly query?: Pick<Query<"reviewers">, "has" | "search">;
  readonly wanted?: (row: Row<"reviewers">) => boolean;
}

export const get_reviewer: Handler<"get_reviewer"> = async (work, { reviewerId, includePersonFieldIds }) => {
  const row = await getOrThrow(work.store, "reviewers", reviewerId);
  return (await createReviewerView(work, [row], includePersonFieldIds))(row);
};

export const invite_reviewer: Handler<"invite_reviewer"> = async (work, input) => {
  const rounds: Round[] = [];
  for (const roundId of new Set(input.roundIds)) rounds.push(await getOrThrow(work.store, "rounds", roundId));
  const programNames = new Map<string, string>();
  for (const { programId } of rounds) {
    if (!programNames.has(programId))
      programNames.set(programId, (await loadWritableProgram(work.store, programId)).name);
  }
  const [known] = await work.store.find("reviewers", { has: { email: normalizeEmail(input.email) } }, { limit: 1 });
  const reviewer = known ? await inviteAgain(work, known, input, rounds) : await inviteNew(work, input, rounds);
  await writeInvitation(work, reviewer, input, programNames);
  return (await createReviewerView(work, [reviewer]))(reviewer);
};

/** How rows are shown: with their assignment counts, and with their persons where fields are asked for. */
async function createReviewerView(
  work: Pick<ReadWork, "store" | "requireScopes">,
  rows: readonly Row<"reviewers">[],
  fieldIds?: readonly string[],
): Promise<(row: Row<"reviewers">) => Reviewer> {
  const where = { reviewerId: rows.map((row) => row.reviewerId), active: true };
  const count = (status: readonly (typeof workloadStatuses)[number][]) =>
    work.store.countBy("assignments", "reviewerId", { where: { ...where, status } });
  const assigned = await count(workloadStatuses);
  const completed = await count(["completed"]);
  const personOf = await expandPersons(work, rows, fieldIds);
  return (row) => ({
    ...row,
    assignmentCounts: { assigned: assigned.get(row.reviewerId) ?? 0, completed: completed.get(row.reviewerId) ?? 0 },
    ...personOf(row),
  });
}

type Invitation = Input<"invite_reviewer">;

async function inviteNew({ store, now, newId }: WriteWork, input: Invitation, rounds: readonly Round[]) {
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

/** The same reviewer with what the new invitation adds; whoever had accepted stays active. */
async function inviteAgain(
  { store, now }: WriteWork,
  known: Row<"reviewers">,
  input: Invitation,
  rounds: readonly Round[],
) {
  const { firstName, lastName, affiliation, role } = input;
  const expertise = uniteLists(known.expertise, input.expertise ?? []);
  if (expertise.length > Math.max(limits.expertise, known.expertise.length)) {
    const message = `A reviewer has at most ${limits.expertise} areas of expertise`;
    throw validationProblem({ path: "expertise", code: "too_big", message });
  }
  const personId = known.personId ?? (await findPersonByEmail(store, known.email))?.personId ?? null;
  return store.update("reviewers", known, {
    firstName,
    lastName,
    affiliation,
    role,
    expertise,
    personId,
    programIds: uniteLists(
      known.programIds,
      rounds.map(({ programId }) => programId),
    ),
    roundIds: uniteLists(
      known.roundIds,
      rounds.map(({ roundId }) => roundId),
    ),
    ...(known.status === "active" ? {} : { status: "invited", invitedAt: now, acceptedAt: null }),
  });
}

/** The magic link's hash, and the message that carries the link. */
async function writeInvitation(
  { store, links, now, newId }: WriteWork,
  reviewer: Row<"reviewers">,
  input: Invitation,
  programNames: ReadonlyMap<string, string>,
): Promise<void> {
  const secret = createRandomToken();
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

/** The items of both, each once; text without regard to case. */
function uniteLists(before: readonly string[], added: readonly string[]): string[] {
  const byKey = new Map<string, string>();
  for (const item of [...before, ...added]) if (!byKey.has(item.toLowerCase())) byKey.set(item.toLowerCase(), item);
  return [...byKey.values()];
}
