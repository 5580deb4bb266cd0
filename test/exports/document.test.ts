import { describe, expect } from "vitest";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { createId } from "../../src/lib/ids.ts";
import type { Row } from "../../src/store/tables.ts";
import { download, runDueExports, runExport } from "../support/data/exports.ts";
import { createFactory, personFieldIds } from "../support/data/seed-factory.ts";
import { type TestServer, test } from "../support/servers/test-server.ts";

const day = (date: number) => `2026-11-${String(date).padStart(2, "0")}T12:00:00.000Z`;
const attestation = (hasConflict: boolean) => ({ hasConflict, statement: "As far as I know", attestedAt: day(12) });

/** A programme of two tracks, and another one, each with submissions, reviewers and reviews. */
async function season({ seed }: TestServer) {
  const { programId } = await seed.program({ name: "This" });
  const elsewhere = (await seed.program({ name: "Other" })).programId;
  const course = async (program: string) => {
    const track = await seed.track({ programId: program });
    return { ...track, ...(await seed.round({ programId: program, trackId: track.trackId })) };
  };
  const [main, side, other] = [await course(programId), await course(programId), await course(elsewhere)];
  const applicant = (name: string, on: typeof main) =>
    seed.applicant({ name, email: `${name}@example.org`, programIds: [on.programId], trackIds: [on.trackId] });
  const people = {
    ada: await applicant("ada", main),
    ben: await applicant("ben", side),
    cleo: await applicant("cleo", main),
    dan: await applicant("dan", other),
  };
  const submission = (by: Row<"applicants">, on: typeof main, given: object) =>
    seed.submission({
      trackId: on.trackId,
      applicantId: by.applicantId,
      title: by.name,
      innovatorEmail: by.email,
      ...given,
    });
  const submissions = {
    early: await submission(people.ada, main, { state: "IN_REVIEW", submittedAt: day(1) }),
    draft: await submission(people.ada, main, {}),
    late: await submission(people.ben, side, { state: "FINALIST", submittedAt: day(10) }),
    foreign: await submission(people.dan, other, { state: "IN_REVIEW", submittedAt: day(1) }),
  };
  const reviewer = (firstName: string, on?: typeof main) =>
    seed.reviewer({
      firstName,
      email: `${firstName}@example.org`,
      programIds: on ? [on.programId] : [],
      roundIds: on ? [on.roundId] : [],
    });
  const reviewers = {
    vera: await reviewer("vera", main),
    will: await reviewer("will", side),
    xena: await reviewer("xena"),
    yves: await reviewer("yves", other),
    zoe: await reviewer("zoe"),
  };
  const review = async (by: Row<"reviewers">, on: typeof main, of: Row<"submissions">, given: object) => {
    const { programId, trackId, roundId } = on;
    const seat = { programId, roundId, submissionId: of.submissionId, reviewerId: by.reviewerId };
    const { assignmentId } = await seed.assignment({ ...seat, trackId, ...given });
    return (await seed.review({ ...seat, assignmentId })).reviewId;
  };
  const { early, late, foreign } = submissions;
  const reviews = {
    vera: await review(reviewers.vera, main, early, { conflictAttestation: attestation(false) }),
    xena: await review(reviewers.xena, main, early, {}),
    will: await review(reviewers.will, side, late, { conflictAttestation: attestation(true), active: false }),
    yves: await review(reviewers.yves, other, foreign, { conflictAttestation: attestation(true) }),
  };
  return { programId, main, side, people, submissions, reviewers, reviews };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read the file without types
function summary(file: any) {
  const all = (section: string, key: string) => file[section].map((row: Record<string, unknown>) => row[key]);
  return {
    applicants: all("applicants", "name"),
    reviewers: all("reviewers", "name").map((name: string) => name.split(" ")[0]),
    submissions: all("submissions", "submissionId"),
    reviews: all("reviews", "reviewId"),
    attestations: all("conflictAttestations", "hasConflict"),
  };
}

describe("the file of an export", () => {
  test("holds a programme's applicants, reviewers, submissions, reviews and attestations, and no other's", async ({
    server,
  }) => {
    const { programId, submissions, reviews } = await season(server);
    await season(await server.other());
    const file = await runExport(server, { programId }, ["exports:write"]);
    expect(summary(file)).toEqual({
      applicants: ["ada", "ben", "cleo"],
      reviewers: ["vera", "will", "xena"],
      submissions: [submissions.early, submissions.draft, submissions.late].map((row) => row.submissionId),
      reviews: [reviews.vera, reviews.xena, reviews.will],
      attestations: [false, true],
    });
    expect(file).not.toHaveProperty("persons");
  });

  test("says which export it is, and shows each row as the interface does", async ({ server }) => {
    const { programId, people, submissions, reviewers, reviews } = await season(server);
    const reader = server.app.store.reader(server.businessId);
    const file = await runExport(server, { programId });
    const [job] = await reader.find("exports", {}, { limit: 1 });
    expect(Object.keys(file).slice(0, 6)).toEqual([
      "exportId",
      "businessId",
      "programId",
      "trackId",
      "filters",
      "generatedAt",
    ]);
    expect(file).toMatchObject({
      exportId: job?.exportId,
      businessId: server.businessId,
      programId,
      trackId: null,
      filters: { state: null, submittedFrom: null, submittedTo: null },
      generatedAt: server.clock.now().toISOString(),
    });
    const { ada } = people;
    expect(file.applicants[0]).toEqual({ applicantId: ada.applicantId, name: "ada", email: "ada@example.org" });
    const { vera, will } = reviewers;
    expect(file.reviewers[0]).toEqual({ reviewerId: vera.reviewerId, name: "vera Okafor", email: "vera@example.org" });
    expect(file.submissions[0]).toEqual(submissions.early);
    expect(file.reviews[0]).toEqual(await reader.get("reviews", reviews.vera));
    expect(file.reviews[0]).toMatchObject({ scores: [{ value: 8, comment: "Clear and well argued" }, { value: 5 }] });
    expect(file.conflictAttestations[1]).toEqual({
      assignmentId: expect.stringMatching(/^asg_/),
      trackId: submissions.late.trackId,
      roundId: expect.stringMatching(/^rnd_/),
      submissionId: submissions.late.submissionId,
      reviewerId: will.reviewerId,
      ...attestation(true),
    });
  });

  test("of one track holds what belongs there, but the attestations of the whole programme", async ({ server }) => {
    const { programId, main, submissions, reviews } = await season(server);
    expect(summary(await runExport(server, { programId, trackId: main.trackId }))).toEqual({
      applicants: ["ada", "cleo"],
      reviewers: ["vera", "xena"],
      submissions: [submissions.early, submissions.draft].map((row) => row.submissionId),
      reviews: [reviews.vera, reviews.xena],
      attestations: [false, true],
    });
  });

  test.for([
    [{ state: "FINALIST" }, ["late"], ["ben"], ["will"]],
    [{ state: "DRAFT" }, ["draft"], ["ada"], []],
    [{ state: "WINNER" }, [], [], []],
    [{ state: "winner" }, [], [], []],
    [{ submittedTo: day(1) }, ["early"], ["ada"], ["vera", "xena"]],
    [{ submittedFrom: day(2) }, ["late"], ["ben"], ["will"]],
    [{ submittedFrom: day(1), submittedTo: day(10) }, ["early", "late"], ["ada", "ben"], ["vera", "xena", "will"]],
    [{ submittedFrom: day(2), submittedTo: day(9) }, [], [], []],
    [{ submittedFrom: day(1), state: "IN_REVIEW" }, ["early"], ["ada"], ["vera", "xena"]],
  ] as const)("with filters %o holds the submissions that match, their applicants and reviews", async (case_, {
    server,
  }) => {
    const [filters, submissions, applicants, reviews] = case_;
    const season_ = await season(server);
    const found = summary(await runExport(server, { programId: season_.programId, ...filters }));
    expect(found).toEqual({
      applicants,
      reviewers: ["vera", "will", "xena"],
      submissions: submissions.map((name) => season_.submissions[name].submissionId),
      reviews: reviews.map((name) => season_.reviews[name]),
      attestations: [false, true],
    });
  });

  test("of an empty programme is whole too", async ({ server }) => {
    const { programId } = await server.seed.program();
    const empty = { applicants: [], reviewers: [], submissions: [], reviews: [], attestations: [] };
    expect(summary(await runExport(server, { programId }))).toEqual(empty);
  });

  test("keeps every character, in thousands of rows", async ({ server }) => {
    const { programId, trackId } = await server.seed.track();
    const titles = Array.from({ length: 2_345 }, (_, index) => `Ł😀"\\\u2028\n${index}`);
    await server.write(async (tx) => {
      const seed = createFactory((work) => work(tx));
      for (const title of titles) await seed.submission({ trackId, title });
    });
    const file = await runExport(server, { programId });
    expect(file.submissions.map(({ title }: { title: string }) => title)).toEqual(titles);
  });
});

const { standard, pii, restricted } = personFieldIds;
const sensitive: readonly Scope[] = ["exports:write", "persons:read", "persons:sensitive:read"];

describe("the persons of an export", () => {
  const customFields = { [standard]: "weaving", [pii]: "1971-05-01", [restricted]: "asthma" };

  test("are those of its applicants and reviewers, each once, with the fields that were asked for", async ({
    server,
  }) => {
    const { seed } = server;
    await seed.personSchema();
    const { programId } = await seed.program();
    const person = (given: object = {}) =>
      seed.person({ primaryEmail: `${createId("p")}@example.org`, customFields, ...given });
    const both = await person({ primaryEmail: "Both@example.org" });
    const survivor = await person();
    const merged = await person({ active: false, mergedIntoPersonId: survivor.personId });
    const inactive = await person({ active: false });
    await person({ primaryEmail: "twice@example.org" });
    await person({ primaryEmail: "twice@example.org" });
    const bystander = await person();
    const applicant = (email: string, personId: string | null) =>
      seed.applicant({ email, personId, programIds: [programId] });
    const one = await applicant("both@example.org", null);
    const two = await applicant("two@example.org", merged.personId);
    await applicant("three@example.org", inactive.personId);
    await applicant("twice@example.org", null);
    await applicant("none@example.org", null);
    const reviewer = await seed.reviewer({ email: "r@example.org", personId: both.personId, programIds: [programId] });
    const file = await runExport(server, { programId, persons: { fieldIds: [standard, restricted] } }, sensitive);
    const answers = { [standard]: "weaving", [restricted]: "asthma" };
    expect(file.persons).toEqual([
      {
        personId: both.personId,
        customFields: answers,
        applicantIds: [one.applicantId],
        reviewerIds: [reviewer.reviewerId],
      },
      { personId: survivor.personId, customFields: answers, applicantIds: [two.applicantId], reviewerIds: [] },
    ]);
    expect(JSON.stringify(file)).not.toContain(bystander.personId);
  });

  test("show nothing that the token may not see when the export runs", async ({ server }) => {
    const { seed } = server;
    const schema = await seed.personSchema();
    const { programId } = await seed.program();
    const { personId } = await seed.person({ customFields });
    await seed.applicant({ personId, programIds: [programId] });
    const fieldsOf = async (job: { exportId: string }) => {
      await runDueExports(server);
      const { body } = await download(server, job.exportId);
      return Object.keys(body.persons[0].customFields).sort();
    };
    const ask = (fieldIds: string[], granted: readonly Scope[]) =>
      server.as("REST", granted).then((clerk) => clerk.create_export({ programId, persons: { fieldIds } }));
    const all = [standard, pii, restricted].sort();
    expect(await fieldsOf(await ask(all, sensitive))).toEqual(all);

    // The scopes of the job count only as far as its token still has them.
    const { tokenId } = await tokenWith(server, ["exports:write", "persons:read"]);
    const persons = { fieldIds: all };
    expect(await fieldsOf(await seed.exportJob({ programId, persons, tokenId, scopes: [...sensitive] }))).toEqual([
      standard,
    ]);
    // And those of the token only as far as the job was asked for with them.
    const { tokenId: later } = await tokenWith(server, sensitive);
    const scopes: Scope[] = ["exports:write", "persons:read"];
    expect(await fieldsOf(await seed.exportJob({ programId, persons, tokenId: later, scopes }))).toEqual([standard]);

    const job = await ask([standard], ["exports:write", "persons:read"]);
    const fields = schema.fields.map((field) => ({ ...field, sensitivity: "pii" as const }));
    await server.write(async (tx) => {
      const row = await tx.get("personSchemas", schema.personSchemaId);
      if (row) await tx.update("personSchemas", row, { fields });
    });
    expect(await fieldsOf(job)).toEqual([]);
  });

  test("are of 500 people at most; asked for without fields they are ids alone", async ({ server }) => {
    await server.seed.personSchema();
    const { programId } = await server.seed.program();
    await server.write(async (tx) => {
      const seed = createFactory((work) => work(tx));
      for (let index = 0; index < 505; index++) {
        const email = `a${index}@example.org`;
        const { personId } = await seed.person({ primaryEmail: email, customFields });
        await seed.applicant({ email, personId, programIds: [programId] });
      }
      await seed.reviewer({
        personId: (await seed.person({ primaryEmail: "r@example.org" })).personId,
        programIds: [programId],
      });
    });
    const file = await runExport(server, { programId, persons: { fieldIds: [] } }, ["exports:write", "persons:read"]);
    expect([file.applicants, file.reviewers, file.persons].map(({ length }) => length)).toEqual([505, 1, 500]);
    expect(file.truncated).toEqual([{ section: "persons", of: "applicants and reviewers looked up", limit: 500 }]);
    const job = await runExport(server, { programId }, ["exports:write"]);
    expect(job).not.toHaveProperty("truncated");
    expect(
      file.persons.every(({ customFields: shown }: { customFields: object }) => Object.keys(shown).length === 0),
    ).toBe(true);
    const known = new Set(file.applicants.slice(0, 500).map(({ applicantId }: { applicantId: string }) => applicantId));
    expect(
      file.persons
        .flatMap(({ applicantIds }: { applicantIds: string[] }) => applicantIds)
        .every((id: string) => known.has(id)),
    ).toBe(true);
  });
});

async function tokenWith(server: TestServer, granted: readonly Scope[]): Promise<{ tokenId: string }> {
  const before = new Set((await server.app.store.listTokens(server.businessId)).map(({ tokenId }) => tokenId));
  await server.token(granted);
  const [made] = (await server.app.store.listTokens(server.businessId)).filter(({ tokenId }) => !before.has(tokenId));
  return made as { tokenId: string };
}
