import { describe, expect, test } from "vitest";
import { scopes, sensitiveScope } from "../../src/contract/scopes.ts";
import type { Desk } from "../support/desk.ts";
import { exported, memoryDesk, workOff } from "../support/exports.ts";
import { personFieldIds } from "../support/factory.ts";
import { send } from "../support/raw.ts";

const secret = { email: "ada.secret@example.org", inText: "hidden.in.text@example.org", health: "asthma" };

/** A programme of which every section of an export has something to hide. */
async function programOf({ seed }: Desk) {
  await seed.personSchema();
  const track = await seed.track();
  const { programId, trackId } = track;
  const round = await seed.round({ programId, trackId });
  const { personId } = await seed.person({
    primaryEmail: secret.email,
    customFields: { [personFieldIds.restricted]: secret.health },
  });
  const applicant = await seed.applicant({
    email: secret.email,
    personId,
    programIds: [programId],
    trackIds: [trackId],
  });
  const submission = await seed.submission({
    programId,
    trackId,
    currentRoundId: round.roundId,
    applicantId: applicant.applicantId,
    innovatorEmail: secret.email,
    fields: { fld_title: `Write to ${secret.inText}\u202e` },
    state: "IN_REVIEW",
  });
  const { reviewerId } = await seed.reviewer({ email: secret.email, programIds: [programId] });
  const at = { programId, trackId, roundId: round.roundId, submissionId: submission.submissionId, reviewerId };
  const { assignmentId } = await seed.assignment(at);
  await seed.review({ ...at, assignmentId, overallComment: `Ask ${secret.inText}` });
  return programId;
}

const persons = { fieldIds: [personFieldIds.restricted] };

describe.each(["blind", "strict"])("an export that an agent creates where it sees people as %s", (privacy) => {
  test("shows what its tools show, and has a link", async () => {
    const desk = await memoryDesk({ PROGRAMME_PRIVACY: privacy });
    const programId = await programOf(desk);
    const agent = await desk.as("MCP");
    const { exportId } = await agent.create_export({ programId, persons });
    await workOff(desk);
    const job = await agent.get_export({ exportId });
    expect(job).toMatchObject({ status: "completed", privacy });
    const { text, body } = await send(job.downloadUrl, {});
    expect(text).not.toMatch(/secret@|hidden\.in\.text|example\.org|\u202e/);
    expect(body.privacy).toBe(privacy);
    const [applicant] = await agent.list_applicants({ programId });
    const [submission] = await agent.list_submissions({ programId });
    expect(body.applicants).toMatchObject([{ email: applicant.email }]);
    expect(body.applicants[0].email).toMatch(/@handle\.invalid$/);
    expect(body.submissions).toEqual([submission]);
    expect(body.reviews[0].overallComment).toMatch(/^Ask \S+@handle\.invalid$/);
    expect(body.persons).toMatchObject([{ customFields: privacy === "strict" ? {} : { fld_health: secret.health } }]);
  });

  test("leaves out answers that the form calls personal, as its tools do for a token that may not see them", async () => {
    const desk = await memoryDesk({ PROGRAMME_PRIVACY: privacy });
    const programId = await programOf(desk);
    await desk.write(async (tx) => {
      for await (const row of tx.scan("schemas", {})) {
        const fields = row.fields.map((field) => ({ ...field, sensitivity: "pii" as const }));
        await tx.update("schemas", row, { fields });
      }
    });
    const agent = await desk.as(
      "MCP",
      scopes.filter((scope) => scope !== sensitiveScope),
    );
    const { exportId } = await agent.create_export({ programId });
    await workOff(desk);
    const { downloadUrl } = await agent.get_export({ exportId });
    const { body } = await send(downloadUrl, {});
    expect(body.submissions).toMatchObject([{ fields: {} }]);
    expect(body.submissions).toEqual(await agent.list_submissions({ programId }));
  });

  test("is the only one that it gets a link to", async () => {
    const desk = await memoryDesk({ PROGRAMME_PRIVACY: privacy });
    const programId = await programOf(desk);
    const system = await desk.as("REST");
    const { exportId } = await system.create_export({ programId });
    await workOff(desk);
    const agent = await desk.as("MCP");
    const seen = await agent.get_export({ exportId });
    expect(seen).toMatchObject({ status: "completed", downloadUrl: null, downloadExpiresAt: null });
    expect(seen.warnings).toEqual([expect.stringContaining("you get no link to it")]);
    expect(seen).not.toHaveProperty("privacy");
    // The system itself gets its link, and the file as the interface has it.
    const { downloadUrl, warnings } = await system.get_export({ exportId });
    expect(warnings).toBeUndefined();
    expect((await send(downloadUrl, {})).body.applicants).toMatchObject([{ email: secret.email }]);
  });
});

test("an agent that sees addresses gets them in exports too, and so does a system", async () => {
  const desk = await memoryDesk({ PROGRAMME_PRIVACY: "api" });
  const programId = await programOf(desk);
  const agent = await desk.as("MCP");
  const { exportId } = await agent.create_export({ programId });
  await workOff(desk);
  const { downloadUrl, ...job } = await agent.get_export({ exportId });
  expect(job).not.toHaveProperty("privacy");
  const { body } = await send(downloadUrl, {});
  expect(body.applicants).toMatchObject([{ email: secret.email }]);
  expect(body).not.toHaveProperty("privacy");
  expect((await exported(desk, { programId })).applicants).toEqual(body.applicants);
});
