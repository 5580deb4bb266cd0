import type { AuditEntry } from "../../src/contract/audit.ts";
import { createId } from "../../src/lib/ids.ts";
import type { Store } from "../../src/store/port.ts";
import { createFactory, type Factory } from "../../test/support/data/seed-factory.ts";

const rowsPerTransaction = 500;

interface Size {
  readonly submissions: number;
  readonly persons: number;
  readonly auditEntries: number;
}

/** The records that the measured calls ask for. */
export interface Target {
  readonly programId: string;
  readonly roundId: string;
  readonly submissionId: string;
  /** ISO time of the middle of the audit. */
  readonly middle: string;
}

type Write = <R>(work: (factory: Factory) => Promise<R>) => Promise<R>;

/** Creates an organisation with a programme. */
export async function seedWorld(
  store: Store,
  businessId: string,
  { submissions, persons, auditEntries }: Size,
): Promise<Target> {
  const reviewerCount = Math.max(10, submissions / 100);
  const now = () => new Date().toISOString();
  await store.insertBusiness({ businessId, name: "Bench", createdAt: now() });
  const write: Write = (work) =>
    store.transaction({ businessId, actorId: "usr_bench", now: now() }, (tx) =>
      work(createFactory((each) => each(tx))),
    );
  const { round, track, reviewers } = await write(async (factory) => {
    const track = await factory.track();
    const round = await factory.round({ ...track, deadline: "2026-01-01T00:00:00.000Z" });
    const reviewers = [];
    for (let index = 0; index < reviewerCount; index += 1) {
      reviewers.push(await factory.reviewer({ programIds: [track.programId], roundIds: [round.roundId] }));
    }
    return { round, track, reviewers };
  });
  const { programId, roundId } = round;
  const { trackId } = track;
  let submissionId = "";
  for (let start = 0; start < submissions; start += rowsPerTransaction) {
    await write(async (factory) => {
      for (let index = start; index < Math.min(submissions, start + rowsPerTransaction); index += 1) {
        const fields = { fld_title: `Project ${index}`, fld_text: "A light roof for the school. ".repeat(40) };
        const given = {
          trackId,
          title: `Project ${index}`,
          state: "IN_REVIEW",
          currentRoundId: roundId,
          fields,
        } as const;
        ({ submissionId } = await factory.submission(given));
        for (const offset of [0, 1]) {
          const { reviewerId } = reviewers[(index * 2 + offset) % reviewers.length] ?? { reviewerId: "" };
          const home = { programId, roundId, submissionId, reviewerId };
          const isDone = index % 2 === offset;
          const status = isDone ? "completed" : "accepted";
          const assignment = await factory.assignment({ ...home, trackId, status, dueAt: round.deadline });
          if (!isDone && index % 2 === 0) continue;
          const { assignmentId } = assignment;
          const { rubricId } = round;
          const scored = {
            status: isDone ? "submitted" : "draft",
            totalScore: index % 21,
            weightedScore: index % 11,
          } as const;
          await factory.review({ ...home, assignmentId, rubricId, ...scored });
        }
      }
    });
  }
  await seedPersons(write, persons);
  const middle = await seedAudit(store, { businessId, programId, submissionId }, auditEntries);
  return { programId, roundId, submissionId, middle };
}

/** Persons with an address, a reference, a name, an organisation and a telephone number. One in 100 resembles another. */
async function seedPersons(write: Write, count: number): Promise<void> {
  for (let start = 0; start < count; start += rowsPerTransaction) {
    await write(async (factory) => {
      for (let index = start; index < Math.min(count, start + rowsPerTransaction); index += 1) {
        const like = index % 100 === 99 ? index - 1 : index;
        await factory.person({
          primaryEmail: `person${index}@example.org`,
          platformUserId: `user-${index}`,
          externalRefs: [{ namespace: "crm", objectType: "contact", externalId: String(index) }],
          contactDetails: {
            firstName: spell(like % 997),
            lastName: spell(like),
            organization: `Institute ${like % 500}`,
            phone: `+44 20 ${String(10_000_000 + like)}`,
          },
        });
      }
    });
  }
}

const letters = "bcdfgklmnprstvz";

/** Returns a name for a number. Other numbers have names with other consonants. */
function spell(number: number): string {
  const consonants = [...number.toString(letters.length)].map((digit) => letters[Number.parseInt(digit, 16)] ?? "");
  return `${consonants.join("a")}al`;
}

/** Entries of the programme a second apart, of which a few concern the target. Returns the time of the middle one. */
async function seedAudit(
  store: Store,
  { businessId, programId, submissionId }: Pick<Target, "programId" | "submissionId"> & { readonly businessId: string },
  count: number,
): Promise<string> {
  const endMs = Date.now();
  const toTime = (index: number) => new Date(endMs - (count - index) * 1000).toISOString();
  const rowsPerCommit = 5_000;
  for (let start = 0; start < count; start += rowsPerCommit) {
    const entries = Array.from({ length: Math.min(rowsPerCommit, count - start) }, (_, offset): AuditEntry => {
      const index = start + offset;
      const id = index % 20_000 === 0 ? submissionId : `sub_${index % 50_000}`;
      return {
        auditId: createId("aud"),
        businessId,
        action: "submission.updated",
        entityType: "submission",
        entityId: id,
        programId,
        submissionId: id,
        actorType: "user",
        actorId: "usr_bench",
        tokenId: null,
        requestId: `req_${index}`,
        status: null,
        changes: [{ path: "title", from: "A roof", to: `A roof ${index}` }],
        reason: null,
        occurredAt: toTime(index),
      };
    });
    await store.transaction({ businessId, actorId: "usr_bench", now: toTime(start) }, (transaction) =>
      transaction.appendAudit(entries),
    );
  }
  return toTime(Math.floor(count / 2));
}
