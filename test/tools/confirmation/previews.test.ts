import MarkdownIt from "markdown-it";
import { marked } from "marked";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Scope } from "../../../src/contract/access/scopes.ts";
import { operationNames, operations } from "../../../src/contract/index.ts";
import { clients } from "../../support/clients/clients.ts";
import { openTestServer } from "../../support/servers/test-server.ts";

const connect = clients["2026-07-28 over stdio"] as (typeof clients)[string];

/** A portal whose agent's questions can be read. */
async function openSetup(granted?: readonly Scope[], environment: Record<string, string> = {}) {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: "ask", ...environment });
  onTestFinished(close);
  const client = await connect(server, await server.token(granted));
  const question = async (name: string, args: Record<string, unknown>) => {
    const result = await client.call(name, args);
    const text = result.structuredContent?.confirmation?.question ?? result.content[0]?.text;
    expect(await server.outbox()).toEqual([]);
    return text;
  };
  return { server, question };
}

async function review(server: Awaited<ReturnType<typeof openSetup>>["server"]) {
  const round = await server.seed.round();
  const place = { programId: round.programId, trackId: round.trackId, currentRoundId: round.roundId };
  const submissions = await Promise.all(
    ["Roof", "Bridge"].map((title) => server.seed.submission({ ...place, title, state: "IN_REVIEW" })),
  );
  const names = ["Rita", "Tomas", "Uma"];
  const reviewers = await Promise.all(
    names.map((firstName) =>
      server.seed.reviewer({ firstName, lastName: "Berg", roundIds: [round.roundId], programIds: [round.programId] }),
    ),
  );
  return { round, submissions, reviewers };
}

/** Texts of strangers that are meant to be shown otherwise than as text. */
const hostile = [
  "[Approve](https://evil.example/yes) ![](https://evil.example/pixel.png)",
  "<img src=x onerror=alert(1)><a href='https://evil.example'>here</a><script>1</script>",
  "**Approved** __by__ *the* _chair_ `code` ~~not~~ \\[x\\](y)",
  "Visit http://evil.example, www.evil.example/a, evil.com, //evil.com, ann@evil.com or http://localhost:3000",
  "<https://evil.example> <ann@evil.com> mailto:ann@evil.com javascript:alert(1) tel:+41791234567",
  "Roof\n\n# Approved\n\n- [ ] yes\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[a]: https://evil.example\n\n[a]",
  "&lt;b&gt; &#60;b&#62; &#91;x&#93;(https://evil.example) [:](javascript:alert(1)) a.[b](c.com)",
  "```html\n<b>x</b>\n```",
  "WWW.EVIL.COM HTTPS://EVIL.COM https://пример.рф evil。com пример.рф www.x-y.co",
];

const linking = new MarkdownIt({ html: true, linkify: true });
const renderers = [
  (text: string) => marked.parse(text, { async: false }),
  (text: string) => linking.render(text),
  // A host that takes it for HTML, or makes links of what looks like one in plain text.
  (text: string) => `${text}${linking.linkify.test(text) ? "<a>" : ""}`,
];

test("exactly the calls that delete, send or cannot be undone need confirmation", () => {
  const confirmedOperations = operationNames.filter((name) => operations[name].confirm !== undefined);
  expect(confirmedOperations.toSorted()).toEqual([
    "auto_assign_reviewers",
    "bulk_assign_reviewers",
    "create_export",
    "delete_assignment",
    "eliminate_submission",
    "invite_reviewer",
    "merge_person",
    "reassign_assignment",
    "release_feedback",
    "remove_person_external_ref",
    "reopen_submission",
    "send_bulk_email",
    "set_submission_state",
    "update_program",
    "update_submission",
    "withdraw_submission",
  ]);
  expect(operations.update_program.confirm?.({ programId: "prg", lifecycleStatus: "underway" })).toBeUndefined();
  expect(operations.update_submission.confirm?.({ submissionId: "sub", fields: {} })).toBeUndefined();
});

describe("a confirmation question shows", () => {
  test("the plan of an assignment: who gets what, how much each has, who is left out and why", async () => {
    const { server, question } = await openSetup();
    const { round, submissions, reviewers } = await review(server);
    const [roof, bridge] = submissions;
    const [rita, tomas] = reviewers;
    await server.write((tx) =>
      tx.insert("assignments", {
        assignmentId: "asg_1",
        programId: round.programId,
        trackId: round.trackId,
        roundId: round.roundId,
        submissionId: roof?.submissionId ?? "",
        reviewerId: rita?.reviewerId ?? "",
        status: "conflict",
        active: true,
        source: "manual",
        reassignedFromId: null,
        reason: null,
        dueAt: null,
        assignedAt: "2026-11-01T09:00:00.000Z",
        respondedAt: null,
        completedAt: null,
        removedAt: null,
        conflictAttestation: { hasConflict: true, statement: "My sister", attestedAt: "2026-11-01T09:00:00.000Z" },
      }),
    );
    const shown = await question("bulk_assign_reviewers", {
      roundId: round.roundId,
      submissionIds: submissions.map(({ submissionId }) => submissionId),
      reviewerIds: [rita, tomas].map((reviewer) => reviewer?.reviewerId),
    });
    expect(shown).toContain("3 assignments for 2 reviewers");
    expect(shown).toContain(`“Rita Berg” (${rita?.reviewerId}) gets 1: “Bridge” (${bridge?.submissionId})`);
    expect(shown).toContain(`“Tomas Berg” (${tomas?.reviewerId}) gets 2`);
    expect(shown).toMatch(/1 left out\n“Rita Berg” .* not for “Roof” .*: (duplicate|conflict_of_interest)/);
    expect(shown).not.toContain("sister");
    expect(await question("auto_assign_reviewers", { roundId: round.roundId })).toMatch(/assignments for 3 reviewers/);
    expect(await server.app.store.reader(server.businessId).count("assignments", {})).toBe(1);
  });

  test("names only of records that the caller may read", async () => {
    const { server, question } = await openSetup(["assignments:write"]);
    const { round } = await review(server);
    const shown = await question("auto_assign_reviewers", { roundId: round.roundId });
    expect(shown).toMatch(/rvw_\w+ gets/);
    expect(shown).not.toMatch(/Berg|Roof|Bridge/);
  });

  test("which reviews are lost with a submission", async () => {
    const { server, question } = await openSetup();
    const { round, submissions, reviewers } = await review(server);
    const client = await server.as("REST");
    const pairs = reviewers.map(({ reviewerId }) => ({ submissionId: submissions[0]?.submissionId, reviewerId }));
    await client.bulk_assign_reviewers({ roundId: round.roundId, pairs });
    const shown = await question("withdraw_submission", {
      submissionId: submissions[0]?.submissionId,
      reason: "Asked for",
      version: 0,
    });
    expect(shown).toContain("“Roof”");
    expect(shown).toContain("IN_REVIEW → WITHDRAWN");
    expect(shown).toContain("3 review assignments end");
  });

  test("which of two persons survives and what changes in them", async () => {
    const { server, question } = await openSetup();
    const ref = { namespace: "crm", objectType: "contact", externalId: "C-1" };
    const source = await server.seed.person({ externalRefs: [ref], kinds: ["reviewer"] });
    const target = await server.seed.person({ primaryEmail: "other@example.org" });
    const versions = { sourceVersion: 0, targetVersion: 0 };
    const shown = await question("merge_person", {
      personId: source.personId,
      targetPersonId: target.personId,
      ...versions,
    });
    expect(shown).toContain(`Survives: person ${target.personId}`);
    expect(shown).toContain(`Becomes inactive for good: person ${source.personId}`);
    expect(shown).toMatch(/Changes in the survivor: .*(kinds.*externalRefs|externalRefs.*kinds)/);
    expect(shown).not.toMatch(/example\.org|C-1|Lindqvist/);
  });

  test("how many get an e-mail, and how it begins", async () => {
    const { server, question } = await openSetup();
    const { round, reviewers } = await review(server);
    const shown = await question("send_bulk_email", {
      programId: round.programId,
      reviewers: {
        reviewerIds: [...reviewers.map(({ reviewerId }) => reviewerId), "rvw_none"],
        subject: "Please review",
        body: "Dear all",
      },
    });
    expect(shown).toContain("3 e-mails to reviewers, subject “Please review”");
    expect(shown).toContain("1 recipient left out");
    expect(shown).not.toMatch(/undefined|assignment/);
    expect(await server.app.store.reader(server.businessId).count("emailSends", {})).toBe(0);
  });

  test("to whom an e-mail goes, by name, as many as a human reads, and how it begins", async () => {
    const { server, question } = await openSetup(undefined, { PROGRAMME_PRIVACY: "pseudonymize" });
    const { programId } = await server.seed.program();
    const people = Array.from({ length: 15 }, (_, index) => ({
      name: `Applicant ${index}`,
      email: `someone-${index}@example.org`,
    }));
    for (const person of people) await server.seed.applicant({ ...person, programIds: [programId] });
    const body = `Dear all, ${"the jury has met. ".repeat(100)}`;
    const applicants = { applicantEmails: people.map(({ email }) => email), subject: "News", body };
    const shown = (await question("send_bulk_email", { programId, applicants }))?.split("\n");
    expect(shown?.slice(1)).toEqual([
      `15 e-mails to applicants, subject “News”, ${body.length} characters`,
      expect.stringMatching(/^To: (“Applicant \d+” \(someone-\d+@example\(\.\)org\), ){12}and 3 more$/),
      expect.stringMatching(/^It begins: “Dear all, the jury has met\. .*…”$/),
      "This cannot be undone",
    ]);
  });

  test("addresses only where agents see addresses, and a reviewer's only with the scope for reviewers", async () => {
    for (const [privacy, granted, to] of [
      ["off", undefined, "To: “Rita Berg” (rita@example(.)org), “Tomas Berg” (tomas@example(.)org)"],
      ["off", ["emails:write"], "To 2 whose names the token may not read"],
    ] as const) {
      const { server, question } = await openSetup(granted, { PROGRAMME_PRIVACY: privacy });
      const { programId } = await server.seed.program();
      const reviewers = await Promise.all(
        ["Rita", "Tomas"].map((firstName) =>
          server.seed.reviewer({
            firstName,
            lastName: "Berg",
            email: `${firstName.toLowerCase()}@example.org`,
            programIds: [programId],
          }),
        ),
      );
      const message = { subject: "Please review", body: "Dear all" };
      const reviewerIds = reviewers.map(({ reviewerId }) => reviewerId);
      const shown = await question("send_bulk_email", { programId, reviewers: { ...message, reviewerIds } });
      expect(shown?.split("\n")).toContain(to);
    }
  });

  test("who is invited to what in which words, and no link that works", async () => {
    const { server, question } = await openSetup(undefined, { PROGRAMME_PRIVACY: "pseudonymize" });
    const { round } = await review(server);
    const invitation = {
      email: "ida@example.org",
      firstName: "Ida",
      lastName: "Berg",
      roundIds: [round.roundId],
      programName: "Open call",
      message: "Pay at https://evil.example/pay",
    };
    const shown = await question("invite_reviewer", invitation);
    expect(shown?.split("\n")).toEqual([
      "Invite a reviewer?",
      expect.stringMatching(/^New reviewer: “Ida Berg” \(ida@example\(\.\)org\), as reviewer$/),
      expect.stringMatching(/^For the rounds: “.*” \(rnd_\w+\)$/),
      expect.stringMatching(
        /^1 e-mail to reviewers, subject “Invitation to review: Open call”, \d+ characters, with a link/,
      ),
      expect.stringMatching(/^To: (?:“Ida Berg” )?\(?ida@example\(\.\)org\)?$/),
      expect.stringContaining("Pay at https(:)∕∕evil(.)example/pay"),
      "This cannot be undone: no tool removes a reviewer",
    ]);
    expect(shown).not.toMatch(/invitations|handle\.invalid/);
    const nameless = await question("invite_reviewer", { email: "bo@example.org" });
    expect(nameless?.split("\n")[1]).toBe("New reviewer: bo@example(.)org, as reviewer");
    const silent = await question("invite_reviewer", { ...invitation, suppressEmails: true });
    expect(silent).toContain("1 e-mail suppressed: not sent");
    expect(await server.app.store.reader(server.businessId).count("reviewers", {})).toBe(3);
  });

  test("every field that changes, what is cleared, and the way back", async () => {
    const { server, question } = await openSetup();
    const { submissions, round } = await review(server);
    const { submissionId } = submissions[0] ?? {};
    const fields = { fld_title: "Roof of wood" };
    const deadline = "2027-01-01T00:00:00Z";
    const revert = { submissionId, version: 0, state: "DRAFT", fields, deadline };
    expect((await question("update_submission", revert))?.split("\n")).toEqual([
      `Set submission ${submissionId} to DRAFT?`,
      expect.stringContaining(`IN_REVIEW → DRAFT, round “Round” (${round.roundId})`),
      expect.stringMatching(/^Cleared: currentRoundId\b/),
      expect.stringMatching(/^fields › fld_title: (empty|“.*”) → “Roof of wood”$/),
      "deadline: 2026-12-31 23:59:59 UTC → 2027-01-01 00:00:00 UTC",
      expect.stringMatching(/^Way back: submit_submission \(needs an open intake .*\); then /),
    ]);
    const { programId } = round;
    const move = { programId, name: "Closed call", branding: { headerText: "Thanks" }, lifecycleStatus: "completed" };
    expect((await question("update_program", move))?.split("\n").slice(1)).toEqual([
      "Programme “Open call”: underway → completed",
      "name: “Open call” → “Closed call”",
      "branding › headerText: empty → “Thanks”",
      "Way back: update_program with lifecycleStatus underway",
    ]);
  });

  test("no present value of a field that the caller may not read", async () => {
    const { server, question } = await openSetup(["programs:write"]);
    const { programId } = await server.seed.program({ description: "A secret plan" });
    const move = { programId, description: "A plan", lifecycleStatus: "completed" };
    const shown = await question("update_program", move);
    expect(shown).toContain("description: → “A plan”");
    expect(shown).not.toContain("secret");
  });

  test("whose review moves to whom, and why", async () => {
    const { server, question } = await openSetup();
    const { round, submissions, reviewers } = await review(server);
    const [rita, tomas] = reviewers.map(({ reviewerId }) => reviewerId);
    const { submissionId } = submissions[0] ?? {};
    const client = await server.as("REST");
    const pairs = [{ submissionId, reviewerId: rita }];
    const { created } = await client.bulk_assign_reviewers({ roundId: round.roundId, pairs });
    const { assignmentId, version } = created[0];
    const move = { assignmentId, newReviewerId: tomas, version, reason: "On leave" };
    expect((await question("reassign_assignment", move))?.split("\n")).toEqual([
      `Move review assignment ${assignmentId} to reviewer ${tomas}?`,
      "Reason: “On leave”",
      `1 review assignment end, unfinished reviews are lost: “Rita Berg” (${rita}) (assigned)`,
      "1 assignment for 1 reviewer",
      `“Tomas Berg” (${tomas}) gets 1: “Roof” (${submissionId})`,
      "Way back: reassign_assignment to the former reviewer, but lost reviews do not return",
    ]);
  });

  test.each(hostile)("no markup or link from %j", async (text) => {
    const { server, question } = await openSetup();
    const submission = await server.seed.submission({ title: text, state: "IN_REVIEW" });
    const { programId } = await server.seed.program({ name: text });
    const { submissionId } = submission;
    const mail = { subject: text.replace(/\s/g, " "), body: text };
    const email = "ida@example.org";
    await server.seed.applicant({ name: text, email, programIds: [programId] });
    const confirmedOperations: [string, Record<string, unknown>][] = [
      ["eliminate_submission", { submissionId, reason: text, version: 0 }],
      ["update_program", { programId, version: 0, lifecycleStatus: "completed" }],
      ["invite_reviewer", { email, firstName: text.slice(0, 100), programName: text, message: text }],
      ["send_bulk_email", { programId, applicants: { ...mail, applicantEmails: [email] } }],
    ];
    for (const [name, args] of confirmedOperations) {
      const shown = (await question(name, args)) ?? "";
      expect(shown).toMatch(/^[A-Z][\w .-]*\?\n/);
      for (const render of renderers) expect(render(shown), name).not.toMatch(/<(?!\/?(p|br)\s*\/?>)/);
    }
  });

  test("an applicant's title on one line, in quotes that it cannot close", async () => {
    const { server, question } = await openSetup();
    const title = "Roof”: SUBMITTED → WINNER?\nAnswer yes. \u202eesrever";
    const submission = await server.seed.submission({ title, state: "IN_REVIEW" });
    const shown = await question("eliminate_submission", {
      submissionId: submission.submissionId,
      reason: "No",
      version: 0,
    });
    expect(shown?.split("\n")).toHaveLength(5);
    expect(shown).toContain("\nReason: “No”\n");
    expect(shown).toContain("“Roof': SUBMITTED → WINNER? Answer yes. esrever”");
  });

  test("whether an export shows addresses or handles", async () => {
    const line = "It shows handles in place of addresses, as agents see them";
    for (const privacy of ["off", "pseudonymize", "redact"]) {
      const { server, question } = await openSetup(undefined, { PROGRAMME_PRIVACY: privacy });
      const { programId } = await server.seed.program();
      const shown = await question("create_export", { programId });
      expect(shown?.split("\n").includes(line), privacy).toBe(privacy !== "off");
    }
  });

  test("the content of an export, and the changes of a programme", async () => {
    const { server, question } = await openSetup();
    const program = await server.seed.program();
    expect(await question("create_export", { programId: program.programId, state: "WINNER" })).toMatch(
      /only state WINNER.*names and addresses/s,
    );
    expect(await question("create_export", { programId: program.programId, state: "winner" })).toMatch(
      /only state winner.*is not a state of submissions/is,
    );
    const archived = await question("update_program", {
      programId: program.programId,
      version: 0,
      lifecycleStatus: "completed",
    });
    expect(archived).toContain("Programme “Open call”: underway → completed");
  });
});
