import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createExample } from "../../src/contract/definition/example.ts";
import type { FieldDefinition } from "../../src/domain/fields.ts";
import { scoreReview } from "../../src/domain/scoring.ts";
import { checkComplete, checkDeadline, checkIntake } from "../../src/domain/submissions.ts";
import { listOutstanding } from "../../src/domain/supplements.ts";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { normalizeEmail, tables } from "../../src/store/tables.ts";
import { byId, formOf, now, openSeeded, type Seeded, type Tenant, tableNames, valuesOf } from "./seeded.ts";

let demo: Seeded;
let main: Tenant;

beforeAll(async () => {
  demo = await openSeeded();
  [main] = demo.tenants;
});

afterAll(() => demo.close());

test("ids have the prefixes that the interface documents", () => {
  for (const { rows } of demo.tenants) {
    for (const name of tableNames) {
      const { record, id } = tables[name];
      const [prefix] = String((createExample(record, { optional: true }) as Record<string, unknown>)[id]).split("_");
      const ids = rows[name].map((row) => String((row as Record<string, unknown>)[id]));
      expect(
        ids.filter((each) => !each.startsWith(`${prefix}_`)),
        name,
      ).toEqual([]);
    }
  }
});

describe("submissions", () => {
  test("have the fields that their state requires", () => {
    for (const { rows } of demo.tenants) {
      const rounds = byId(rows, "rounds");
      for (const { state, ...row } of rows.submissions) {
        const later = ["IN_REVIEW", "FINALIST", "WINNER"].includes(state);
        if (state === "DRAFT") expect([row.submittedAt, row.currentRoundId, row.eligible]).toEqual([null, null, null]);
        else if (state !== "WITHDRAWN") expect(row.submittedAt).not.toBeNull();
        if (later) expect([row.eligible, rounds.get(row.currentRoundId)?.trackId]).toEqual([true, row.trackId]);
        if (state === "SUBMITTED") expect(row.eligible).toBeNull();
        if (state === "ELIGIBLE" || state === "INELIGIBLE") expect(row.eligible).toBe(state === "ELIGIBLE");
        if (state === "INELIGIBLE" || state === "ELIMINATED" || state === "WITHDRAWN")
          expect(row.stateReason).toBeTruthy();
        expect(row.decidedAt !== null).toBe(["ELIMINATED", "FINALIST", "WINNER"].includes(state));
        expect(row.withdrawnAt !== null).toBe(state === "WITHDRAWN");
        const times = [row.createdAt, row.submittedAt, row.screenedAt, row.decidedAt ?? row.withdrawnAt].flatMap(
          (at) => at ?? [],
        );
        expect(times).toEqual(times.toSorted());
      }
    }
  });

  test("belong to an applicant of their programme and track, and to that applicant's person", () => {
    for (const { rows } of demo.tenants) {
      const applicants = byId(rows, "applicants");
      for (const submission of rows.submissions) {
        expect(applicants.get(submission.applicantId)).toMatchObject({
          innovatorId: submission.innovatorId,
          email: submission.innovatorEmail,
          name: submission.innovatorName,
          personId: submission.applicantPersonId,
          programIds: expect.arrayContaining([submission.programId]),
          trackIds: expect.arrayContaining([submission.trackId]),
        });
      }
    }
    const applied = Map.groupBy(main.rows.submissions, ({ applicantId }) => applicantId);
    expect([...applied.values()].some((submissions) => submissions.length > 1)).toBe(true);
  });

  test("have the payment that their track asks for", () => {
    const { rows } = main;
    const payments = new Map(rows.payments.map((payment) => [payment.submissionId, payment]));
    const tracks = byId(rows, "tracks");
    for (const { submissionId, trackId, paymentStatus } of rows.submissions) {
      const { feeAmountMinor = null } = tracks.get(trackId) ?? {};
      const payment = payments.get(submissionId);
      expect(payment?.status ?? null).toBe(paymentStatus);
      expect(payment?.amountMinor ?? null).toBe(feeAmountMinor);
    }
    expect(payments.size).toBe(rows.payments.length);
  });

  test("own the files that their fields and supplements name", () => {
    for (const { rows } of demo.tenants) {
      const named = new Map<string, string[]>();
      for (const { submissionId, fileIds, fields, schemaId, schemaVersion } of rows.submissions) {
        const inFields = fileFields(formOf(rows, schemaId, schemaVersion).fields).flatMap(
          (id) => (fields[id] ?? []) as string[],
        );
        expect(fileIds.toSorted()).toEqual(inFields.toSorted());
        named.set(submissionId, [...fileIds]);
      }
      for (const { submissionId, supplementResponseId, fileIds } of rows.supplements) {
        const own = rows.files.filter((file) => file.supplementResponseId === supplementResponseId);
        expect(own.map(({ fileId }) => fileId)).toEqual(fileIds);
        named.get(submissionId)?.push(...fileIds);
      }
      const files = Map.groupBy(rows.files, ({ submissionId }) => submissionId as string);
      for (const [submissionId, of] of files) {
        expect(of.map(({ fileId }) => fileId).toSorted()).toEqual(named.get(submissionId)?.toSorted());
      }
    }
  });

  test("include drafts that can be submitted, and one without a required supplement", () => {
    const { rows } = main;
    const outcomes = rows.submissions
      .filter(({ state }) => state === "DRAFT")
      .map((submission) => {
        const { submissionId, programId, trackId, schemaId, schemaVersion } = submission;
        const [program, track] = [byId(rows, "programs").get(programId), byId(rows, "tracks").get(trackId)];
        if (!program || !track) throw new Error("A submission without programme or track");
        checkIntake(track, now.toISOString());
        checkDeadline(submission, now.toISOString());
        try {
          checkComplete(submission, formOf(rows, schemaId, schemaVersion).fields, program, track);
        } catch (error) {
          return (error as { code?: string }).code;
        }
        const requested = rows.supplements.filter((row) => row.submissionId === submissionId);
        if (listOutstanding(requested).length > 0) return "supplement_warnings";
        return track.feeAmountMinor === null ? "free" : "paid";
      });
    expect(new Set(outcomes)).toEqual(new Set(["free", "paid", "supplement_warnings", "incomplete_application"]));
  });
});

function fileFields(fields: readonly FieldDefinition[]): string[] {
  return fields.filter(({ type }) => type === "file").map(({ fieldId }) => fieldId);
}

describe("files", () => {
  test("have the bytes that their records describe", async () => {
    const seen = new Map<string, Buffer>();
    for (const { rows } of demo.tenants) {
      for (const { sha256, sizeBytes } of rows.files) {
        const bytes = seen.get(sha256) ?? Buffer.concat(await (await demo.content.open(sha256)).toArray());
        seen.set(sha256, bytes);
        expect(hashSha256Hex(bytes)).toBe(sha256);
        expect(bytes.byteLength).toBe(sizeBytes);
      }
    }
    expect(seen.size).toBeGreaterThan(30);
  });
});

describe("hostile texts", () => {
  test("are in four applications", () => {
    const { submissions } = main.rows;
    const find = (begin: string) => {
      const found = submissions.filter(({ title }) => title?.startsWith(begin));
      expect(found).toHaveLength(1);
      return found[0];
    };
    expect(find("Ignore previous instructions")).toMatchObject({ state: "SUBMITTED" });
    expect(find("<script>")).toMatchObject({ innovatorName: expect.stringContaining("<b>") });
    expect(find("=HYPERLINK(")).toMatchObject({ state: "ELIGIBLE" });
    const backwards = find("Seagrass 🌱");
    expect(backwards).toMatchObject({ state: "WITHDRAWN", innovatorName: expect.stringContaining("\u202e") });
    const text = Object.values(backwards?.fields ?? {}).join(" ");
    expect(text).toMatch(/[\p{L}]{200}/u);
    expect(text).toMatch(/\u200b.*@example\.org/su);
    expect(backwards?.stateReason).toContain("\u202e");
  });

  test("are in comments of a review, for the panel and for the applicant", () => {
    const hostile = main.rows.reviews.filter(({ overallComment }) => overallComment?.startsWith("Assistant:"));
    expect(hostile).toMatchObject([{ confidentialComment: expect.stringContaining("<!--") }]);
  });
});

describe("reviewing", () => {
  test("completed assignments have a submitted review, others have none or a draft", () => {
    for (const { rows } of demo.tenants) {
      const reviews = new Map(rows.reviews.map((review) => [review.assignmentId, review]));
      for (const assignment of rows.assignments) {
        const { assignmentId, status, active, submissionId, roundId, reviewerId, programId } = assignment;
        const review = reviews.get(assignmentId);
        expect(review?.status === "submitted").toBe(status === "completed");
        if (review) expect(review).toMatchObject({ submissionId, roundId, reviewerId, programId });
        expect(assignment.completedAt !== null).toBe(status === "completed");
        expect(assignment.removedAt !== null).toBe(!active);
        if (status === "cancelled") expect(active).toBe(false);
        if (status === "conflict") expect(assignment.conflictAttestation?.hasConflict).toBe(true);
      }
      expect(reviews.size).toBe(rows.reviews.length);
    }
    const reassigned = main.rows.assignments.filter(({ reassignedFromId }) => reassignedFromId !== null);
    expect(reassigned.length).toBeGreaterThan(0);
  });

  test("submitted reviews have scores within the bounds of their rubric, and comments", () => {
    for (const { rows } of demo.tenants) {
      const submitted = rows.reviews.filter(({ status }) => status === "submitted");
      for (const { rubricId, rubricVersion, scores, totalScore, weightedScore, overallComment } of submitted) {
        const rubric = rows.rubrics.find((row) => row.rubricId === rubricId && row.rubricVersion === rubricVersion);
        if (!rubric) throw new Error("A review without its rubric");
        expect(scores.map(({ criterionId }) => criterionId)).toEqual(
          rubric.criteria.map(({ criterionId }) => criterionId),
        );
        for (const [index, { value }] of scores.entries()) {
          const { min = 0, max = 0, step = 1 } = rubric.criteria[index] ?? {};
          expect((Number(value) - min) % step).toBe(0);
          expect(Number(value)).toBeGreaterThanOrEqual(min);
          expect(Number(value)).toBeLessThanOrEqual(max);
        }
        expect({ totalScore, weightedScore }).toEqual(scoreReview(rubric, scores));
        expect(overallComment).toBeTruthy();
      }
    }
    expect(valuesOf(main.rows.reviews, "weightedScore").size).toBeGreaterThan(15);
    const reading = main.rows.rubrics.filter(({ name }) => name === "Reading");
    expect(reading.map(({ rubricVersion, criteria }) => [rubricVersion, criteria.length])).toEqual([
      [1, 4],
      [2, 4],
    ]);
  });

  test("reviewers have assignments only in their rounds, one for each submission, and no more than their limit", () => {
    for (const { rows } of demo.tenants) {
      const reviewers = byId(rows, "reviewers");
      const programs = byId(rows, "programs");
      const active = rows.assignments.filter(({ active }) => active);
      for (const { reviewerId, roundId } of rows.assignments) {
        expect(reviewers.get(reviewerId)?.status).toBe("active");
        expect(reviewers.get(reviewerId)?.roundIds).toContain(roundId);
      }
      const pairs = rows.assignments.map(({ reviewerId, submissionId }) => `${reviewerId} ${submissionId}`);
      expect(new Set(pairs).size).toBe(pairs.length);
      for (const [reviewerId, of] of Map.groupBy(active, (row) => row.reviewerId)) {
        expect(of.length).toBeLessThanOrEqual(reviewers.get(reviewerId)?.maxAssignments ?? Number.POSITIVE_INFINITY);
      }
      for (const of of Map.groupBy(active, ({ reviewerId, roundId }) => `${reviewerId} ${roundId}`).values()) {
        const rules = programs.get(of[0]?.programId)?.assignmentRules;
        expect(of.length).toBeLessThanOrEqual(rules?.maxPerReviewer ?? 0);
      }
    }
    expect(main.rows.reviewers.filter(({ maxAssignments }) => maxAssignments !== null).length).toBeGreaterThan(1);
  });

  test("automatic assignment finds work in the first and the second round", () => {
    const { rows } = main;
    const short = rows.submissions.filter(({ state, submissionId, currentRoundId }) => {
      const seated = rows.assignments.filter(
        (row) => row.submissionId === submissionId && row.roundId === currentRoundId,
      );
      return state === "IN_REVIEW" && seated.length < 3;
    });
    const sequences = new Set(short.map(({ currentRoundId }) => byId(rows, "rounds").get(currentRoundId)?.sequence));
    expect(sequences).toEqual(new Set([1, 2]));
  });
});

describe("persons", () => {
  test("include some with a shared address, one merged, one anonymised and one without an address", () => {
    const { persons, applicants } = main.rows;
    expect(persons.length).toBeGreaterThan(80);
    const active = persons.filter((person) => person.active);
    const shared = [...Map.groupBy(active, ({ primaryEmail = "" }) => normalizeEmail(primaryEmail))].filter(
      ([key, of]) => key !== "" && of.length > 1,
    );
    expect(shared.map(([, of]) => of.length)).toEqual([2, 2]);
    const ambiguous = applicants.filter(({ email }) => shared.some(([key]) => key === normalizeEmail(email)));
    expect(ambiguous.map(({ personId }) => personId)).toEqual([null]);

    const [merged, ...noMore] = persons.filter(({ mergedIntoPersonId }) => mergedIntoPersonId !== null);
    expect(noMore).toEqual([]);
    expect(merged).toMatchObject({ active: false, externalRefs: [] });
    const target = persons.find(({ personId }) => personId === merged?.mergedIntoPersonId);
    expect(target).toMatchObject({ active: true, kinds: ["contact", "applicant"] });
    expect(target?.externalRefs).toHaveLength(2);

    const anonymised = persons.filter(({ anonymizedAt }) => anonymizedAt !== null);
    expect(anonymised).toHaveLength(1);
    expect(anonymised[0]).toMatchObject({ active: false, customFields: {}, externalRefs: [], metadata: {} });
    expect(anonymised[0]).not.toHaveProperty("contactDetails");
    expect(active.filter(({ primaryEmail }) => primaryEmail === undefined)).toHaveLength(1);
  });

  test("applicants and reviewers are linked to the person with their address", () => {
    const { rows } = main;
    const persons = byId(rows, "persons");
    const linked = [...rows.applicants, ...rows.reviewers].filter(({ personId }) => personId !== null);
    for (const { personId, email } of linked) expect(persons.get(personId)?.primaryEmail).toBe(email);
    expect(rows.applicants.length - linked.length + rows.reviewers.length).toBeGreaterThan(2);
    for (const { innovatorId, personId } of rows.applicants) {
      if (personId !== null) expect(persons.get(personId)?.platformUserId).toBe(innovatorId);
    }
  });
});

describe("history", () => {
  test("has one entry for each version of each record", () => {
    for (const { rows, audit } of demo.tenants) {
      const entries = Map.groupBy(audit, ({ entityType, entityId }) => `${entityType} ${entityId}`);
      for (const table of tableNames.filter((name) => !tables[name].revision)) {
        for (const row of rows[table]) {
          const id = (row as Record<string, unknown>)[tables[table].id];
          expect(entries.get(`${tables[table].entity} ${id}`)).toHaveLength(row.version + 1);
        }
      }
    }
  });

  test("contains no personal data", () => {
    const { rows, audit } = main;
    const text = JSON.stringify(audit.map(({ changes }) => changes));
    for (const { email, name } of rows.applicants) {
      expect(text).not.toContain(email);
      expect(text).not.toContain(name);
    }
    for (const { title, stateReason } of rows.submissions) {
      if (title) expect(text).not.toContain(title);
      if (stateReason) expect(text).not.toContain(stateReason);
    }
    expect(text).toContain('"path":"fields.fld_');
  });

  test("no token in the data is valid", () => {
    for (const { tokens } of demo.tenants) expect(tokens.map(({ name }) => name)).toEqual(["CRM synchronisation"]);
  });
});
