import { expect, onTestFinished, test } from "vitest";
import { openAs } from "../identity/browser-session.ts";
import { clients, readConfirmation, readError, type ToolClient } from "../support/clients/clients.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

const ending = "Yours,\n  the jury & <b>board</b>\u200b";
const body = `Dear all,\n\n${"The jury has met. ".repeat(40)}\n\n${ending}`;
const shownEnding = "Yours,\n  the jury &amp; &lt;b&gt;board&lt;/b&gt;<";

async function openSetup() {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: "human" });
  onTestFinished(close);
  const agent = (await clients["2026-07-28 over HTTP"]?.(server, await server.token())) as ToolClient;
  const person = await openAs(server, { role: "staff" });
  const ask = async (tool: string, args: Record<string, unknown>) => {
    const result = await agent.call(tool, args);
    const { url } = readConfirmation(result) as { url?: string };
    return { answer: JSON.stringify(result), path: new URL(String(url)).pathname };
  };
  return { server, agent, person, ask };
}

/** Seeds applicants of a programme. Returns a function that creates a message to all of them. */
async function seedApplicants(server: TestServer) {
  const { programId } = await server.seed.program();
  const applicantEmails = Array.from({ length: 14 }, (_, index) => `someone-${index}@example.org`);
  for (const [index, email] of applicantEmails.entries()) {
    await server.seed.applicant({ name: `Applicant ${index}`, email, programIds: [programId] });
  }
  return (text: string) => ({ programId, applicants: { applicantEmails, subject: "News", body: text } });
}

test("a person reads the whole message and all recipients before approving, and the agent's question stays short", async () => {
  const { server, person, ask } = await openSetup();
  const write = await seedApplicants(server);
  const { answer, path } = await ask("send_bulk_email", write(body));
  expect(answer).not.toContain("Yours,");
  expect(answer).not.toContain("Applicant 13");
  const { text } = await person.open(path);
  expect(text).toContain("<summary>The whole message to applicants<");
  expect(text).toContain(shownEnding);
  expect(text).toContain("<summary>All 14 applicants by name<");
  expect(text).toContain("“Applicant 13” (someone-13@example.org)");
  expect(text).not.toContain("<b>board");

  // The beginning is the same, so only the whole text shows that this is another message.
  const changed = await ask("send_bulk_email", write(body.replace("the jury &", "the chair &")));
  expect(changed.path).not.toBe(path);
  expect((await person.open(changed.path)).text).toContain("the chair &amp;");

  await person.submit(path, { decision: "approve" });
  expect((await person.open(path)).text).toContain(shownEnding);
});

test("a person reads the whole new value of a field and the whole reason of a call", async () => {
  const { server, person, ask } = await openSetup();
  const { programId, version } = await server.seed.program({ lifecycleStatus: "completed" });
  const { submissionId, version: submissionVersion } = await server.seed.submission({ state: "IN_REVIEW" });
  for (const [name, tool, args] of [
    ["description", "update_program", { programId, version, description: body, lifecycleStatus: "archived" }],
    ["reason", "eliminate_submission", { submissionId, version: submissionVersion, reason: body }],
  ] as const) {
    const { text } = await person.open((await ask(tool, args)).path);
    expect(text).toContain(`<summary>The whole value of ${name}</summary>`);
    expect(text).toContain(shownEnding);
  }
});

test("a person reads every field of an update that changes more than a question lists", async () => {
  const { server, person, ask } = await openSetup();
  const { programId, version } = await server.seed.program();
  const copy = ["heroTitle", "heroSubtitle", "bodyHtml", "ctaLabel"];
  const pages = Object.fromEntries(
    ["landing", "register", "submission", "submitted"].map((page) => [
      page,
      Object.fromEntries(copy.map((name) => [name, `${page} ${name}`])),
    ]),
  );
  const move = { programId, version, lifecycleStatus: "completed", branding: { pages } };
  const { answer, path } = await ask("update_program", move);
  expect(answer).toContain("and 4 more");
  expect(answer).not.toContain("“submitted ctaLabel”");
  const { text } = await person.open(path);
  expect(text).toContain("<summary>All 16 changed fields</summary>");
  expect(text).toContain("branding › pages › submitted › ctaLabel: empty → “submitted ctaLabel”");
});

test("a person reads who gets what in a plan that is longer than a question", async () => {
  const { server, person, ask } = await openSetup();
  const { programId, trackId, roundId } = await server.seed.round();
  const place = { programId, trackId, currentRoundId: roundId, state: "IN_REVIEW" } as const;
  const submissionIds: string[] = [];
  const reviewerIds: string[] = [];
  for (let index = 0; index < 14; index++) {
    submissionIds.push((await server.seed.submission({ ...place, title: `Title ${index}.` })).submissionId);
    const reviewer = { firstName: "Rita", lastName: `Berg ${index}.`, roundIds: [roundId], programIds: [programId] };
    reviewerIds.push((await server.seed.reviewer(reviewer)).reviewerId);
  }
  const { answer, path } = await ask("bulk_assign_reviewers", { roundId, submissionIds, reviewerIds });
  expect(answer).not.toContain("Berg 13.");
  expect(answer).not.toContain("Title 13.");
  const { text } = await person.open(path);
  const [, plan = ""] = text.split("<summary>All 196 assignments for 14 reviewers</summary>");
  for (const [index, reviewerId] of reviewerIds.entries())
    expect(plan).toContain(`“Rita Berg ${index}.” (${reviewerId}) gets 14: “Title 0.” (${submissionIds[0]}), `);
  expect(plan.split(`“Title 13.” (${submissionIds[13]})`)).toHaveLength(15);

  const pairs = submissionIds.map((submissionId) => ({ submissionId, reviewerId: reviewerIds[0] }));
  await (await server.as("REST")).bulk_assign_reviewers({ roundId, pairs });
  const again = await person.open((await ask("bulk_assign_reviewers", { roundId, submissionIds, reviewerIds })).path);
  expect(again.text).toContain("<summary>All 14 left out</summary>");
});

test("a short message has no second text", async () => {
  const { server, person, ask } = await openSetup();
  const write = await seedApplicants(server);
  const { programId, applicants } = write("Dear all");
  const few = { programId, applicants: { ...applicants, applicantEmails: applicants.applicantEmails.slice(0, 2) } };
  const { path } = await ask("send_bulk_email", few);
  expect((await person.open(path)).text).not.toContain("<details");
});

test("in a batch, each call has its own message, and one that would be too long for a person is refused", async () => {
  const { server, agent, person, ask } = await openSetup();
  const write = await seedApplicants(server);
  const calls = ["first", "second"].map((word) => ({
    tool: "send_bulk_email",
    arguments: write(`${body} The ${word} end.`),
  }));
  const { path } = await ask("run_batch", { calls });
  const [, first = "", second = ""] = (await person.open(path)).text.split('<section class="call">');
  expect(first).toContain("The first end.");
  expect(first).not.toContain("The second end.");
  expect(second).toContain("The second end.");

  const call = { tool: "send_bulk_email", arguments: write("x".repeat(50_000)) };
  const refused = await agent.call("run_batch", { calls: Array.from({ length: 11 }, () => call) });
  expect(readError(refused)).toMatchObject({ code: "validation_failed" });
  expect(JSON.stringify(refused)).toContain("Split the batch");
});
