import { describe, expect, onTestFinished, test } from "vitest";
import { clients, type HumanReply, readConfirmation, readError } from "../../support/clients/clients.ts";
import { sendToolCall } from "../../support/clients/raw-http.ts";
import { openTestServer, type TestServer } from "../../support/servers/test-server.ts";

async function openSetup(environment: Record<string, string> = {}) {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: "ask", ...environment });
  onTestFinished(close);
  const submission = await server.seed.submission({ state: "IN_REVIEW" });
  const args = { submissionId: submission.submissionId, reason: "Out of scope", version: submission.version };
  return { server, args, token: await server.token() };
}

async function expectUntouched(server: TestServer, submissionId: string): Promise<void> {
  const row = await server.app.store.reader(server.businessId).get("submissions", submissionId);
  expect(row).toMatchObject({ state: "IN_REVIEW", version: 0 });
  expect(await server.outbox()).toEqual([]);
  const { rows } = await server.app.store.reader(server.businessId).pageAudit({}, { limit: 10 });
  expect(rows).toEqual([]);
}

describe.each(Object.entries(clients))("a human who is asked for confirmation by a client of %s", (_, connect) => {
  test("sees what would happen, and agrees", async () => {
    const { server, args, token } = await openSetup();
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
    const { server, args, token } = await openSetup();
    const client = await connect(server, token, () => reply);
    const result = await client.call("eliminate_submission", args);
    expect(result.isError).toBe(true);
    expect(readError(result).code).toBe("confirmation_declined");
    await expectUntouched(server, args.submissionId);
  });

  test("declines with a reason, which the agent is told", async () => {
    const { server, args, token } = await openSetup();
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
    const { server, args, token } = await openSetup();
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
    const { server, args, token } = await openSetup();
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
    const { server, token } = await openSetup();
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
    const { server, args, token } = await openSetup();
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
    const { server, args, token } = await openSetup({ PROGRAMME_CONFIRM: "human" });
    const client = await connect(server, token);
    for (const more of [{}, { confirmation: "e30.e30" }]) {
      expect(readError(await client.call("eliminate_submission", { ...args, ...more })).code).toBe(
        "confirmation_unavailable",
      );
    }
    await expectUntouched(server, args.submissionId);
  });
});

describe("a confirmation token", () => {
  const connect = clients["2026-07-28 over HTTP"] as (typeof clients)[string];

  async function requestConfirmation(environment: Record<string, string> = {}) {
    const { server, args, token } = await openSetup(environment);
    const client = await connect(server, token);
    const { token: confirmation } = readConfirmation(await client.call("eliminate_submission", args));
    return { server, args, client, confirmation };
  }

  test("is valid for its arguments only", async () => {
    const { server, args, client, confirmation } = await requestConfirmation();
    const result = await client.call("eliminate_submission", { ...args, reason: "Another reason", confirmation });
    expect(readError(result).code).toBe("confirmation_invalid");
    await expectUntouched(server, args.submissionId);
  });

  test("is valid for its tool only", async () => {
    const { server, args, client, confirmation } = await requestConfirmation();
    const result = await client.call("withdraw_submission", { ...args, confirmation });
    expect(readError(result).code).toBe("confirmation_invalid");
    await expectUntouched(server, args.submissionId);
  });

  test("is valid for its caller only", async () => {
    const { server, args, confirmation } = await requestConfirmation();
    const colleague = await connect(server, await server.token());
    const result = await colleague.call("eliminate_submission", { ...args, confirmation });
    expect(readError(result).code).toBe("confirmation_invalid");
    await expectUntouched(server, args.submissionId);
  });

  test("is valid for five minutes", async () => {
    const { server, args, client, confirmation } = await requestConfirmation();
    server.clock.advance(5 * 60_000);
    const result = await client.call("eliminate_submission", { ...args, confirmation });
    expect(readError(result).code).toBe("confirmation_invalid");
    await expectUntouched(server, args.submissionId);
  });

  test("cannot be altered", async () => {
    const { server, args, client, confirmation } = await requestConfirmation();
    for (const position of [0, 10, confirmation.indexOf(".") + 1, confirmation.length - 2]) {
      const swapped = confirmation[position] === "A" ? "B" : "A";
      const altered = confirmation.slice(0, position) + swapped + confirmation.slice(position + 1);
      const result = await client.call("eliminate_submission", { ...args, confirmation: altered });
      expect(readError(result).code).toBe("confirmation_invalid");
    }
    await expectUntouched(server, args.submissionId);
  });

  test("is valid once, even for a repeatable call", async () => {
    const { server } = await openSetup();
    const feedback = await feedbackOf(server);
    const client = await connect(server, await server.token());
    const args = { feedbackId: feedback.feedbackId };
    const { token: confirmation } = readConfirmation(await client.call("release_feedback", args));
    expect((await client.call("release_feedback", { ...args, confirmation })).isError).toBeFalsy();
    await server.write(async (tx) => {
      const row = await tx.get("feedbacks", feedback.feedbackId);
      if (row) await tx.update("feedbacks", row, { released: false, releasedAt: null });
    });
    const replayed = await client.call("release_feedback", { ...args, confirmation });
    expect(readConfirmation(replayed).token).not.toBe(confirmation);
    expect((await server.outbox()).filter(({ eventType }) => eventType === "feedback.released")).toHaveLength(1);
  });

  test("is not valid after the records changed", async () => {
    const { server } = await openSetup();
    const feedback = await feedbackOf(server);
    const client = await connect(server, await server.token());
    const args = { feedbackId: feedback.feedbackId };
    const { token: confirmation } = readConfirmation(await client.call("release_feedback", args));
    await server.write((tx) => tx.update("feedbacks", feedback, { body: "Rewritten after the preview" }));
    const result = await client.call("release_feedback", { ...args, confirmation });
    expect(readConfirmation(result).question).toMatch(/have changed since you were asked.*Rewritten after/s);
    expect(await server.outbox()).toEqual([]);
  });

  test("is not needed in the confirmation mode off, nor for approved tools", async () => {
    for (const environment of [{ PROGRAMME_CONFIRM: "off" }, { PROGRAMME_APPROVED_TOOLS: "eliminate_submission" }]) {
      const { server, args, token } = await openSetup(environment);
      const result = await (await connect(server, token)).call("eliminate_submission", args);
      expect(result.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
    }
  });

  test("contains nothing about the people concerned", async () => {
    const { server, args, confirmation } = await requestConfirmation();
    const client = await connect(server, await server.token());
    const { token } = readConfirmation(await client.call("eliminate_submission", args));
    const [nonce, expiresAtMs, digest, signature] = confirmation.split(".");
    expect([nonce?.length, digest?.length, signature?.length]).toEqual([22, 23, 43]);
    expect(Number(expiresAtMs)).toBeGreaterThan(0);
    // The same preview has another digest each time, so that nobody can compare it with the digest of a guess.
    expect(token.split(".")[2]).not.toBe(digest);
  });
});

test("a call that would change nothing needs no question", async () => {
  const { server, token } = await openSetup();
  const submission = await server.seed.submission({ state: "FINALIST" });
  const client = await (clients["2025-era over stdio"] as (typeof clients)[string])(server, token, () =>
    expect.unreachable(),
  );
  const args = { submissionId: submission.submissionId, state: "FINALIST", version: submission.version };
  expect((await client.call("set_submission_state", args)).structuredContent?.data).toMatchObject({ version: 0 });
});

test("an elicitation response without a signed question confirms nothing", async () => {
  const { server, args, token } = await openSetup();
  const answer = { arguments: args, inputResponses: { confirm: { action: "accept", content: { confirm: true } } } };
  const capabilities = { elicitation: {} };
  const call = { name: "eliminate_submission", ...answer };
  const { body } = await sendToolCall(server, token, call, { capabilities });
  expect(readError(body.result).code).toBe("confirmation_invalid");
  await expectUntouched(server, args.submissionId);
});

function feedbackOf(server: TestServer) {
  return server.write(async (tx) => {
    const [submission] = await tx.find("submissions", {}, { limit: 1 });
    return tx.insert("feedbacks", {
      feedbackId: "fbk_1",
      submissionId: submission?.submissionId ?? "",
      programId: submission?.programId ?? "",
      roundId: null,
      subject: "Your roof",
      body: "The jury liked the roof.",
      released: false,
      releasedAt: null,
      releasedBy: null,
    });
  });
}

describe("the signed state of a question in 2026-07-28", () => {
  const capabilities = { elicitation: {} };
  const agreed = { confirm: { action: "accept", content: { confirm: true } } };

  async function sendCall(...[server, token, params, options]: Parameters<typeof sendToolCall>) {
    const { body } = await sendToolCall(server, token, params, { capabilities, ...options });
    return body.result as Record<string, unknown>;
  }

  async function requestConfirmation() {
    const { server, args, token } = await openSetup();
    const send = (name: string, params: Record<string, unknown>, bearer = token) =>
      sendCall(server, bearer, { name, ...params });
    const question = await send("eliminate_submission", { arguments: args });
    expect(question).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
    return { server, args, send, requestState: question["requestState"] };
  }

  const refused = (result: Record<string, unknown>) =>
    readError(result as unknown as Parameters<typeof readError>[0]).code;

  test("is valid once, with the answer", async () => {
    const { server, args, send, requestState } = await requestConfirmation();
    const answer = { arguments: args, requestState, inputResponses: agreed };
    expect(await send("eliminate_submission", answer)).toMatchObject({
      structuredContent: { data: { state: "ELIMINATED" } },
    });
    expect(refused(await send("eliminate_submission", answer))).toBe("version_conflict");
    expect(await server.outbox()).toHaveLength(1);
  });

  test("is not asked for again by a repetition under the same idempotency key", async () => {
    const { server, args, token } = await openSetup();
    const send = (further: Record<string, unknown> = {}, key = "board-7") =>
      sendCall(
        server,
        token,
        { name: "eliminate_submission", arguments: args, ...further },
        { meta: { "programme-mcp/idempotencyKey": key } },
      );
    const { requestState } = await send();
    await expectUntouched(server, args.submissionId);
    const first = await send({ requestState, inputResponses: agreed });
    const again = await send();
    expect(again["structuredContent"]).toMatchObject({
      notes: expect.arrayContaining([expect.stringContaining("earlier identical call")]),
      data: (first["structuredContent"] as { data: unknown }).data,
    });
    expect(await send({ requestState, inputResponses: agreed })).toEqual(again);
    expect(refused(await send({}, "board-8"))).toBe("version_conflict");
    expect(await server.outbox()).toHaveLength(1);
  });

  test("is asked for by another call under the same idempotency key", async () => {
    const { server, args, token } = await openSetup();
    const other = await server.seed.submission({ state: "IN_REVIEW" });
    const meta = { "programme-mcp/idempotencyKey": "board-7" };
    const send = (params: Record<string, unknown>) =>
      sendCall(server, token, { name: "eliminate_submission", ...params }, { meta });
    const { requestState } = await send({ arguments: args });
    await send({ arguments: args, requestState, inputResponses: agreed });
    const question = await send({ arguments: { ...args, submissionId: other.submissionId } });
    expect(question).toMatchObject({ resultType: "input_required" });
    expect(await server.outbox()).toHaveLength(1);
  });

  test("is valid for its arguments, tool and caller, for five minutes", async () => {
    const { server, args, send, requestState } = await requestConfirmation();
    const answer = { requestState, inputResponses: agreed };
    const others = [
      await send("eliminate_submission", { ...answer, arguments: { ...args, reason: "Another" } }),
      await send("withdraw_submission", { ...answer, arguments: args }),
      await send("eliminate_submission", { ...answer, arguments: args }, await server.token()),
      await send("eliminate_submission", { ...answer, arguments: args, requestState: `${requestState}x` }),
    ];
    expect(others.map(refused)).toEqual(others.map(() => "confirmation_invalid"));
    server.clock.advance(5 * 60_000);
    expect(refused(await send("eliminate_submission", { ...answer, arguments: args }))).toBe("confirmation_invalid");
    await expectUntouched(server, args.submissionId);
  });

  test("leads to a new question when the records have changed", async () => {
    const { server, args, send } = await requestConfirmation();
    const feedback = await feedbackOf(server);
    const release = { arguments: { feedbackId: feedback.feedbackId } };
    const { requestState } = await send("release_feedback", release);
    await server.write((tx) => tx.update("feedbacks", feedback, { body: "Rewritten after the preview" }));
    const again = await send("release_feedback", { ...release, requestState, inputResponses: agreed });
    expect(again).toMatchObject({ resultType: "input_required" });
    expect(JSON.stringify(again["inputRequests"])).toMatch(/have changed since you were asked/);
    expect(await server.outbox()).toEqual([]);
    await expectUntouched(server, args.submissionId);
  });
});
