import type { EmailSend } from "../../src/contract/emails.ts";
import type { Person } from "../../src/contract/persons.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import { listChangeErrors, listDifference } from "../harness/checks.ts";
import {
  chooseSubmission,
  findRound,
  listAssignments,
  listFittingReviewers,
  listReviewers,
  listSubmissions,
} from "../harness/records.ts";
import type { Task } from "../harness/task.ts";
import type { World } from "../harness/world.ts";

/** Returns the reviewers who fit in best for a submission of a round: those of them with the least open work. */
async function listBestReplacements({ rest }: World, roundId: string, submission: Submission): Promise<string[]> {
  const open = await listAssignments(rest, { roundId, status: "incomplete" });
  const loads = (await listFittingReviewers(rest, roundId, submission)).map(({ reviewerId }) => ({
    reviewerId,
    load: open.filter((assignment) => assignment.reviewerId === reviewerId).length,
  }));
  const least = Math.min(...loads.map(({ load }) => load));
  return loads.filter(({ load }) => load === least).map(({ reviewerId }) => reviewerId);
}

const replaceReviewer: Task = {
  name: "replace-reviewer",
  kind: "writing",
  prompt:
    "A reviewer has a conflict of interest with “{title}” in the first reading of Community projects (Common Ground Fund 2026). Please give that review to an active reviewer of the round who knows the domain and has not had this application: of those, to somebody with the fewest open reviews in the round.",
  limits: { calls: 10, bytes: 25_000 },
  async prepare(world) {
    const { rest } = world;
    const { roundId } = await findRound(rest, "Community projects", "First reading");
    const conflicts = (await listAssignments(rest, { roundId })).filter(({ status }) => status === "conflict");
    const submission = await chooseSubmission(rest, { roundId }, ({ submissionId }) =>
      conflicts.some((conflict) => conflict.submissionId === submissionId),
    );
    const { title, submissionId } = submission;
    const best = await listBestReplacements(world, roundId, submission);
    return { names: { title }, subjects: [roundId, submissionId, ...best] };
  },
  async check({ world, subjects: [roundId = "", submissionId = "", ...best] }) {
    const now = await listAssignments(world.rest, { roundId, submissionId, includeInactive: "true" });
    const moved = now.filter(({ source }) => source === "reassign");
    const ids = moved.flatMap(({ assignmentId, reassignedFromId }) => [assignmentId, String(reassignedFromId)]);
    return [
      ...listDifference("The number of moved reviews", moved.length, 1),
      ...moved.flatMap(({ reviewerId }) => (best.includes(reviewerId) ? [] : [`${reviewerId} does not fit best`])),
      ...listDifference(
        "The number of open conflicts",
        now.filter(({ status, active }) => status === "conflict" && active).length,
        0,
      ),
      ...(await listChangeErrors(world, { assignment: ids }, ["email_send"])),
    ];
  },
};

const assignWaiting: Task = {
  name: "assign-waiting",
  kind: "writing",
  prompt:
    "Some applications of Enterprise pilots (Common Ground Fund 2026) are in the first reading but have no reviewers. Assign reviewers there by the programme's rules.",
  limits: { calls: 6, bytes: 15_000 },
  async prepare({ rest }) {
    const { roundId, trackId } = await findRound(rest, "Enterprise pilots", "First reading");
    const assignments = await listAssignments(rest, { roundId });
    const waiting = (await listSubmissions(rest, { trackId, roundId, state: "IN_REVIEW" })).filter(
      ({ submissionId }) => !assignments.some((assignment) => assignment.submissionId === submissionId),
    );
    return { subjects: [roundId, ...waiting.map(({ submissionId }) => submissionId)] };
  },
  async check({ world, subjects: [roundId = "", ...waiting] }) {
    const assignments = await listAssignments(world.rest, { roundId });
    const added = assignments.filter(({ source }) => source === "auto").map(({ assignmentId }) => assignmentId);
    return [
      ...waiting.flatMap((id) => {
        const readers = assignments.filter(({ submissionId }) => submissionId === id).length;
        return listDifference(`The number of reviewers of ${id}`, readers, 3);
      }),
      ...(await listChangeErrors(world, { assignment: added }, ["email_send"])),
    ];
  },
};

const inviteReviewer: Task = {
  name: "invite-reviewer",
  kind: "writing",
  prompt:
    "Please invite Inés Calvo (ines.calvo@example.org, Institute for Rural Building) as a reviewer for the panel review of Community projects, Common Ground Fund 2026. Her field is Buildings and energy.",
  limits: { calls: 6, bytes: 8_000 },
  async check({ world }) {
    const { roundId } = await findRound(world.rest, "Community projects", "Panel review");
    const [invited] = (await listReviewers(world.rest)).filter(({ email }) => email === "ines.calvo@example.org");
    const { firstName, lastName, affiliation, expertise, roundIds, status, reviewerId = "" } = invited ?? {};
    return [
      ...listDifference(
        "The reviewer",
        [firstName, lastName, affiliation, expertise, roundIds, status],
        ["Inés", "Calvo", "Institute for Rural Building", ["Buildings and energy"], [roundId], "invited"],
      ),
      ...(await listChangeErrors(world, { reviewer: [reviewerId] }, ["email_send", "invitation", "person"])),
    ];
  },
};

const mergePersons: Task = {
  name: "merge-persons",
  kind: "writing",
  prompt:
    "{name} of {organization} is in our records twice, with the same address. Please make one of the two; the older record stays.",
  limits: { calls: 6, bytes: 30_000 },
  async prepare({ rest }) {
    const persons = (await rest.list<Person>("/persons")).filter(({ active, primaryEmail }) => active && primaryEmail);
    const groups = Map.groupBy(persons, ({ primaryEmail }) => String(primaryEmail).toLowerCase());
    const [older, newer] =
      [...groups.values()]
        .find(({ length }) => length === 2)
        ?.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)) ?? [];
    if (!older || !newer) throw new Error("The demonstration data have no duplicate person");
    const { firstName, lastName, organization = "" } = older.contactDetails ?? {};
    return { names: { name: `${firstName} ${lastName}`, organization }, subjects: [older.personId, newer.personId] };
  },
  async check({ world, subjects: [older = "", newer = ""] }) {
    const person = await world.rest.get<Person>(`/persons/${newer}`);
    return [
      ...listDifference("The newer record", [person.active, person.mergedIntoPersonId], [false, older]),
      ...(await listChangeErrors(world, { person: [older, newer] })),
    ];
  },
};

const subject = "Your draft for the Common Ground Fund";

const mailDrafts: Task = {
  name: "mail-drafts",
  kind: "writing",
  prompt: `Write to everybody who has a draft in the Common Ground Fund 2026, both tracks. Subject: “${subject}”. Text: “Your application is still a draft. Please submit it before the intake closes in December.” Each of them gets it once.`,
  limits: { calls: 6, bytes: 25_000 },
  async prepare({ rest }) {
    const drafts = await listSubmissions(rest, { state: "DRAFT" });
    return { subjects: [...new Set(drafts.map(({ innovatorEmail }) => innovatorEmail))] };
  },
  async check({ world, subjects }) {
    const sent = await Promise.all(
      subjects.map(async (address) => {
        const mails = await world.rest.get<EmailSend[]>(
          `/email-sends?${new URLSearchParams({ recipientEmail: address })}`,
        );
        return mails.filter((mail) => mail.subject === subject).map(({ emailSendId }) => emailSendId);
      }),
    );
    return [
      ...sent.flatMap((ids, index) => listDifference(`The number of mails to ${subjects[index]}`, ids.length, 1)),
      ...(await listChangeErrors(world, { email_send: sent.flat() })),
    ];
  },
};

export const peopleTasks: readonly Task[] = [replaceReviewer, assignWaiting, inviteReviewer, mergePersons, mailDrafts];
