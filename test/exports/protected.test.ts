import { describe, expect, test } from "vitest";
import { type Scope, scopes, sensitiveScope } from "../../src/contract/access/scopes.ts";
import { clients, readConfirmation, readError } from "../support/clients/clients.ts";
import { send } from "../support/clients/raw-http.ts";
import { openMemoryServer, runDueExports, runExport } from "../support/data/exports.ts";
import { personFieldIds } from "../support/data/seed-factory.ts";
import type { TestServer } from "../support/servers/test-server.ts";

const secret = { email: "ada.secret@example.org", inText: "hidden.in.text@example.org", health: "asthma" };

/** A programme of which every section of an export has something to hide. */
async function programOf({ seed }: TestServer) {
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

describe.each(["pseudonymize", "redact"])("an export that an agent creates where it sees people as %s", (privacy) => {
  test("shows what its tools show, and has a link", async () => {
    const server = await openMemoryServer({ PROGRAMME_PRIVACY: privacy });
    const programId = await programOf(server);
    const agent = await server.as("MCP");
    const { exportId } = await agent.create_export({ programId, persons });
    await runDueExports(server);
    const job = await agent.get_export({ exportId });
    expect(job).toMatchObject({ status: "completed", privacy });
    const { text, body } = await send(job.downloadUrl, {});
    expect(text).not.toMatch(/secret@|hidden\.in\.text|example\.org|\u202e/);
    expect(body.privacy).toBe(privacy);
    const [applicant] = await agent.list_applicants({ programId });
    const [submission] = await agent.list_submissions({ programId });
    expect(body.applicants).toMatchObject([{ email: applicant.email }]);
    expect(body.applicants[0].email).toMatch(/[@.]handle\.invalid$/);
    expect(body.submissions).toEqual([submission]);
    expect(body.reviews[0].overallComment).toMatch(/^Ask \S+[@.]handle\.invalid$/);
    expect(body.persons).toMatchObject([{ customFields: privacy === "redact" ? {} : { fld_health: secret.health } }]);
  });

  test("leaves out answers that the form calls personal, as its tools do for a token that may not see them", async () => {
    const server = await openMemoryServer({ PROGRAMME_PRIVACY: privacy });
    const programId = await programOf(server);
    await server.write(async (tx) => {
      for await (const row of tx.scan("schemas", {})) {
        const fields = row.fields.map((field) => ({ ...field, sensitivity: "pii" as const }));
        await tx.update("schemas", row, { fields });
      }
    });
    const agent = await server.as(
      "MCP",
      scopes.filter((scope) => scope !== sensitiveScope),
    );
    const { exportId } = await agent.create_export({ programId });
    await runDueExports(server);
    const { downloadUrl } = await agent.get_export({ exportId });
    const { body } = await send(downloadUrl, {});
    expect(body.submissions).toMatchObject([{ fields: {} }]);
    expect(body.submissions).toEqual(await agent.list_submissions({ programId }));
  });

  test("is the only export that it gets a link to", async () => {
    const server = await openMemoryServer({ PROGRAMME_PRIVACY: privacy });
    const programId = await programOf(server);
    const system = await server.as("REST");
    const { exportId } = await system.create_export({ programId });
    await runDueExports(server);
    const agent = await server.as("MCP");
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

describe("a token gets no link to the file of another token that may see more", () => {
  const without = (...left: readonly Scope[]) => scopes.filter((scope) => !left.includes(scope));

  test.each([
    ["REST", "off"],
    ["MCP", "off"],
    ["MCP", "pseudonymize"],
  ] as const)("over %s where agents see people as %s", async (surface, privacy) => {
    const server = await openMemoryServer({ PROGRAMME_PRIVACY: privacy });
    const programId = await programOf(server);
    const { exportId } = await (await server.as(surface)).create_export({ programId, persons });
    await runDueExports(server);
    for (const missing of [sensitiveScope, "persons:read"] as const) {
      const seen = await (await server.as(surface, without(missing))).get_export({ exportId });
      expect(seen).toMatchObject({ status: "completed", downloadUrl: null, downloadExpiresAt: null });
      expect(seen.warnings).toEqual([expect.stringContaining(`${missing} is missing`)]);
    }
    const { downloadUrl } = await (await server.as(surface)).get_export({ exportId });
    expect((await send(downloadUrl, {})).text).toContain(secret.health);
  });

  test("but to one that shows no more than it may see", async () => {
    const server = await openMemoryServer();
    const programId = await programOf(server);
    const reader = await server.as("REST", ["exports:read", "persons:read"]);
    for (const fieldIds of [undefined, [], [personFieldIds.standard]]) {
      const { exportId } = await (await server.as("REST")).create_export({
        programId,
        ...(fieldIds ? { persons: { fieldIds } } : {}),
      });
      await runDueExports(server);
      const { downloadUrl, warnings } = await reader.get_export({ exportId });
      expect([(await send(downloadUrl, {})).status, warnings]).toEqual([200, undefined]);
    }
  });

  test("an agent without sensitive data gets none to the personal answers of an application", async () => {
    const server = await openMemoryServer({ PROGRAMME_PRIVACY: "pseudonymize" });
    const programId = await programOf(server);
    const { exportId } = await (await server.as("MCP")).create_export({ programId });
    await runDueExports(server);
    const seen = await (await server.as("MCP", without(sensitiveScope))).get_export({ exportId });
    expect(seen).toMatchObject({ status: "completed", downloadUrl: null });
    expect((await (await server.as("MCP")).get_export({ exportId })).downloadUrl).toEqual(expect.any(String));
  });
});

describe.each(Object.entries(clients))("a human who is asked by a client of %s before an export", (_, connect) => {
  test.each([
    ["chooses to show addresses", true, "off", secret.email],
    ["leaves them hidden", false, "pseudonymize", expect.stringMatching(/[@.]handle\.invalid$/)],
  ])("%s", async (_case, showHidden, privacy, email) => {
    const server = await openMemoryServer({ PROGRAMME_PRIVACY: "pseudonymize", PROGRAMME_CONFIRM: "human" });
    const programId = await programOf(server);
    const questions: string[] = [];
    const client = await connect(server, await server.token(), (question) => {
      questions.push(question);
      return { action: "accept", content: { confirm: true, showHidden } };
    });
    const made = await client.call("create_export", { programId });
    const exportId = made.structuredContent?.data?.["exportId"];
    await runDueExports(server);
    const seen = await client.call("get_export", { exportId });
    const { downloadUrl } = seen.structuredContent?.data as { downloadUrl: string };
    expect(seen.structuredContent?.data).toMatchObject({ privacy });
    expect((await send(downloadUrl, {})).body.applicants).toMatchObject([{ email }]);
    expect(questions).toEqual([expect.stringContaining("It shows handles in place of addresses")]);
  });
});

test("an agent cannot choose by itself that an export shows addresses", async () => {
  const server = await openMemoryServer({ PROGRAMME_PRIVACY: "pseudonymize", PROGRAMME_CONFIRM: "ask" });
  const programId = await programOf(server);
  const client = await (clients["2026-07-28 over HTTP"] as (typeof clients)[string])(server, await server.token());
  const { token } = readConfirmation(await client.call("create_export", { programId }));
  const wanted = await client.call("create_export", { programId, confirmation: token, showHidden: true });
  expect(readError(wanted)).toMatchObject({ code: "validation_failed" });
  const made = await client.call("create_export", { programId, confirmation: token, select: "*" });
  expect(made.structuredContent?.data).toMatchObject({ privacy: "pseudonymize" });
});

test("an agent that sees addresses gets them in exports too, and so does a system", async () => {
  const server = await openMemoryServer({ PROGRAMME_PRIVACY: "off" });
  const programId = await programOf(server);
  const agent = await server.as("MCP");
  const { exportId } = await agent.create_export({ programId });
  await runDueExports(server);
  const { downloadUrl, ...job } = await agent.get_export({ exportId });
  expect(job).not.toHaveProperty("privacy");
  const { body } = await send(downloadUrl, {});
  expect(body.applicants).toMatchObject([{ email: secret.email }]);
  expect(body).not.toHaveProperty("privacy");
  expect((await runExport(server, { programId })).applicants).toEqual(body.applicants);
});
