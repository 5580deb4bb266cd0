import { expect, onTestFinished } from "vitest";
import { openTestServer, type TestServer } from "../../support/servers/test-server.ts";

/** Opens a server that asks before it eliminates, with a submission in review and the arguments of such a call. */
export async function openConfirmationSetup(environment: Record<string, string> = {}) {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: "ask", ...environment });
  onTestFinished(close);
  const submission = await server.seed.submission({ state: "IN_REVIEW" });
  const args = { submissionId: submission.submissionId, reason: "Out of scope", version: submission.version };
  return { server, args, token: await server.token() };
}

/** Expects the submission as it was, without an event or audit entry. */
export async function expectUntouched(server: TestServer, submissionId: string): Promise<void> {
  const row = await server.app.store.reader(server.businessId).get("submissions", submissionId);
  expect(row).toMatchObject({ state: "IN_REVIEW", version: 0 });
  expect(await server.outbox()).toEqual([]);
  const { rows } = await server.app.store.reader(server.businessId).pageAudit({}, { limit: 10 });
  expect(rows).toEqual([]);
}

/** Inserts feedback on the first submission that has not been released. */
export function seedFeedback(server: TestServer) {
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
