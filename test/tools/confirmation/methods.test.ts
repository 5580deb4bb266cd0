import { describe, expect, test } from "vitest";
import { clients, type HumanReply, readConfirmation, readError } from "../../support/clients/clients.ts";
import { expectUntouched, openConfirmationSetup } from "./confirmation-fixture.ts";

describe.each(Object.entries(clients))("a human who is asked for confirmation by a client of %s", (_, connect) => {
  test("sees what would happen, and agrees", async () => {
    const { server, args, token } = await openConfirmationSetup();
    const questions: string[] = [];
    const client = await connect(server, token, async (question) => {
      questions.push(question);
      await expectUntouched(server, args.submissionId);
      return { action: "accept", content: { confirm: true } };
    });
    const result = await client.call("eliminate_submission", args);
    expect(result.structuredContent?.data).toMatchObject({ state: "ELIMINATED", version: 1 });
    expect(questions).toEqual([
      expect.stringMatching(/^Eliminate submission sub_.*“A light roof”.*IN_REVIEW → ELIMINATED/s),
    ]);
    expect((await server.outbox()).map(({ eventType }) => eventType)).toEqual(["submission.state_changed"]);
  });

  test.each([
    { action: "decline" } as const,
    { action: "cancel" } as const,
    { action: "accept", content: { confirm: false } } as const,
  ])("answers %j, and nothing is changed", async (reply) => {
    const { server, args, token } = await openConfirmationSetup();
    const client = await connect(server, token, () => reply);
    const result = await client.call("eliminate_submission", args);
    expect(result.isError).toBe(true);
    expect(readError(result).code).toBe("confirmation_declined");
    await expectUntouched(server, args.submissionId);
  });

  test("declines with a reason, which the agent is told", async () => {
    const { server, args, token } = await openConfirmationSetup();
    const content = { confirm: false, reason: "Wait for the\u200b board" };
    const client = await connect(server, token, () => ({ action: "accept", content }));
    const result = await client.call("eliminate_submission", args);
    expect(readError(result)).toMatchObject({
      code: "confirmation_declined",
      details: { reason: "Wait for the board" },
    });
    await expectUntouched(server, args.submissionId);
  });

  test("is asked again when the records change before the answer", async () => {
    const { server, args, token } = await openConfirmationSetup();
    const questions: string[] = [];
    const client = await connect(server, token, async (question) => {
      questions.push(question);
      if (questions.length === 1) {
        await server.write(async (tx) => {
          for await (const row of tx.scan("submissions", {}))
            await tx.update("submissions", row, { title: "Another roof" });
        });
      }
      return questions.length === 1 ? { action: "accept", content: { confirm: true } } : { action: "decline" };
    });
    const result = await client.call("eliminate_submission", args);
    expect(result.isError).toBe(true);
    // The version given is no longer the record's: that comes before any further question.
    expect(readError(result).code).toBe("version_conflict");
    expect(await server.outbox()).toEqual([]);
  });

  test("is not asked about a call that would be refused anyway", async () => {
    const { server, args, token } = await openConfirmationSetup();
    const client = await connect(server, token, () => expect.unreachable());
    const result = await client.call("eliminate_submission", { ...args, version: 7 });
    expect(readError(result).code).toBe("version_conflict");
    await expectUntouched(server, args.submissionId);
  });
});

describe.each(
  Object.entries(clients),
)("before an invitation and a move of an assignment, by a client of %s,", (_, connect) => {
  async function reviewing() {
    const { server, token } = await openConfirmationSetup();
    const place = await server.seed.round();
    const { roundId, programId, trackId } = place;
    const at = { programId, trackId, currentRoundId: roundId, state: "IN_REVIEW" } as const;
    const { submissionId } = await server.seed.submission(at);
    const reviewer = () => server.seed.reviewer({ roundIds: [roundId], programIds: [programId] });
    const [{ reviewerId }, { reviewerId: newReviewerId }] = [await reviewer(), await reviewer()];
    const staff = await server.as("REST");
    const { created } = await staff.bulk_assign_reviewers({ roundId, pairs: [{ submissionId, reviewerId }] });
    const { assignmentId, version } = created[0];
    const calls = [
      ["invite_reviewer", { email: "ida@example.org", message: "Please join us" }, { status: "invited" }],
      ["reassign_assignment", { assignmentId, newReviewerId, version }, { reviewerId: newReviewerId }],
    ] as const;
    const count = (table: "emailSends" | "reviewers" | "assignments") =>
      server.app.store.reader(server.businessId).count(table, {});
    const counts = async () => [await count("emailSends"), await count("reviewers"), await count("assignments")];
    return { server, token, calls, counts };
  }

  test("a human is asked, and nothing is changed before they agree", async () => {
    const { server, token, calls, counts } = await reviewing();
    const before = await counts();
    const replies: HumanReply[] = [];
    const client = await connect(server, token, async () => {
      expect(await counts()).toEqual(before);
      return replies.shift() ?? { action: "cancel" };
    });
    for (const [name, args] of calls) {
      replies.push({ action: "decline" });
      expect(readError(await client.call(name, args)).code).toBe("confirmation_declined");
      expect(await counts()).toEqual(before);
    }
    replies.push({ action: "accept", content: { confirm: true } });
    const [name, args, expected] = calls[0];
    expect((await client.call(name, args)).structuredContent?.data).toMatchObject(expected);
    expect(await counts()).toEqual([1, 3, 1]);
  });

  test("a second call carries the yes", async () => {
    const { server, token, calls, counts } = await reviewing();
    const before = await counts();
    const client = await connect(server, token);
    for (const [name, args, expected] of calls.toReversed()) {
      const { token: confirmation } = readConfirmation(await client.call(name, args));
      if (name === "reassign_assignment") expect(await counts()).toEqual(before);
      expect((await client.call(name, { ...args, confirmation })).structuredContent?.data).toMatchObject(expected);
    }
    expect(await counts()).toEqual([1, 3, 2]);
  });
});

describe.each(Object.entries(clients))("where a client of %s cannot ask", (_, connect) => {
  test("the first call returns a question, and the second passes its confirmation token", async () => {
    const { server, args, token } = await openConfirmationSetup();
    const client = await connect(server, token);
    const first = await client.call("eliminate_submission", args);
    expect(first.isError).toBeFalsy();
    const { question, token: confirmation, expiresAt } = readConfirmation(first);
    expect(first.structuredContent?.notes).toEqual([expect.stringMatching(/^Nothing has been done yet\./)]);
    expect(first.content).toEqual([{ type: "text", text: expect.stringMatching(/^Nothing has been done yet\./) }]);
    for (const part of [question, confirmation, expiresAt]) expect(first.content[0]?.text).toContain(part);
    expect(question).toContain("IN_REVIEW → ELIMINATED");
    expect(expiresAt).toBe("2026-11-20T09:05:00.000Z");
    await expectUntouched(server, args.submissionId);
    const second = await client.call("eliminate_submission", { ...args, confirmation });
    expect(second.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
  });

  test("the confirmation mode human refuses, with or without a token", async () => {
    const { server, args, token } = await openConfirmationSetup({ PROGRAMME_CONFIRM: "human" });
    const client = await connect(server, token);
    for (const more of [{}, { confirmation: "e30.e30" }]) {
      expect(readError(await client.call("eliminate_submission", { ...args, ...more })).code).toBe(
        "confirmation_unavailable",
      );
    }
    await expectUntouched(server, args.submissionId);
  });
});

test("a call that would change nothing needs no question", async () => {
  const { server, token } = await openConfirmationSetup();
  const submission = await server.seed.submission({ state: "FINALIST" });
  const client = await (clients["2025-era over stdio"] as (typeof clients)[string])(server, token, () =>
    expect.unreachable(),
  );
  const args = { submissionId: submission.submissionId, state: "FINALIST", version: submission.version };
  expect((await client.call("set_submission_state", args)).structuredContent?.data).toMatchObject({ version: 0 });
});
