import { describe, expect, test } from "vitest";
import { clients, readConfirmation, readError } from "../../support/clients/clients.ts";
import { expectUntouched, openConfirmationSetup, seedFeedback } from "./confirmation-fixture.ts";

describe("a confirmation token", () => {
  const connect = clients["2026-07-28 over HTTP"] as (typeof clients)[string];

  async function requestConfirmation(environment: Record<string, string> = {}) {
    const { server, args, token } = await openConfirmationSetup(environment);
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
    const { server } = await openConfirmationSetup();
    const feedback = await seedFeedback(server);
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
    const { server } = await openConfirmationSetup();
    const feedback = await seedFeedback(server);
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
      const { server, args, token } = await openConfirmationSetup(environment);
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
