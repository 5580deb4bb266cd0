import { describe, expect, test } from "vitest";
import { readError } from "../../support/clients/clients.ts";
import { sendToolCall } from "../../support/clients/raw-http.ts";
import { expectUntouched, openConfirmationSetup, seedFeedback } from "./confirmation-fixture.ts";

test("an elicitation response without a signed question confirms nothing", async () => {
  const { server, args, token } = await openConfirmationSetup();
  const answer = { arguments: args, inputResponses: { confirm: { action: "accept", content: { confirm: true } } } };
  const capabilities = { elicitation: {} };
  const call = { name: "eliminate_submission", ...answer };
  const { body } = await sendToolCall(server, token, call, { capabilities });
  expect(readError(body.result).code).toBe("confirmation_invalid");
  await expectUntouched(server, args.submissionId);
});

describe("the signed state of a question in 2026-07-28", () => {
  const capabilities = { elicitation: {} };
  const agreed = { confirm: { action: "accept", content: { confirm: true } } };

  async function sendCall(...[server, token, params, options]: Parameters<typeof sendToolCall>) {
    const { body } = await sendToolCall(server, token, params, { capabilities, ...options });
    return body.result as Record<string, unknown>;
  }

  async function requestConfirmation() {
    const { server, args, token } = await openConfirmationSetup();
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
    const { server, args, token } = await openConfirmationSetup();
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
    const { server, args, token } = await openConfirmationSetup();
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
    const feedback = await seedFeedback(server);
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
