import { describe, expect } from "vitest";
import type { PaymentStatus } from "../../src/contract/payments.ts";
import { type TestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";
import { actAt, lastEntries, loadRow } from "./portal-actions.ts";

async function owing(server: TestServer, status: PaymentStatus = "pending") {
  const { programId } = await server.seed.program({ feeRequired: true, currency: "EUR" });
  const { trackId } = await server.seed.track({ programId, feeAmountMinor: 2500 });
  const submission = await server.seed.submission({ trackId, paymentStatus: status });
  const { submissionId } = submission;
  const unpaid = { method: null, provider: null, providerRef: null, paidAt: null, failureCode: null };
  const payment = await server.seed.payment({ ...unpaid, submissionId, programId, trackId, status });
  return { submission, payment };
}

const outcomes = [
  ["paid", "succeeded", "card"],
  ["offline", "succeeded", "offline"],
  ["failed", "failed", "card"],
  ["waived", "waived", "waiver"],
] as const;
const statuses = ["pending", "failed", "succeeded", "waived", "refunded"] as const;

describe.each(outcomes)("a fee recorded as %s", (outcome, status, method) => {
  test("shows on the payment and the submission, in the events and by whom", async ({ server }) => {
    const act = actAt(server);
    const { submission, payment } = await owing(server);
    const { submissionId, programId, trackId, applicantId } = submission;
    const { paymentId } = payment;
    const given = { submissionId, outcome, provider: "cardgate", providerRef: "ch_secret" };
    const trace = await recordTrace(server, () => act("record_payment", given));
    const now = server.clock.now().toISOString();
    const byApplicant = method === "card";
    const actor = byApplicant
      ? { actorType: "applicant", actorId: applicantId }
      : { actorType: "user", actorId: "command_line" };
    expect(trace.data).toMatchObject({
      ...{ paymentId, status, method, provider: "cardgate", updatedBy: actor.actorId },
      paidAt: status === "succeeded" ? now : null,
      waivedAt: status === "waived" ? now : null,
      waivedBy: status === "waived" ? "command_line" : null,
      failureCode: status === "failed" ? "card_declined" : null,
    });
    expect(trace.audit).toEqual([`payment.${status}`, "submission.updated"]);
    expect(trace.events).toEqual([
      expect.objectContaining({
        eventType: `payment.${status}`,
        data: {
          ...{ businessId: server.businessId, programId, trackId, submissionId, roundId: null, version: 1 },
          ...{ paymentId, amountMinor: 2500, currency: "EUR", status, method },
        },
      }),
    ]);
    expect(await loadRow(server, "submissions", submissionId)).toMatchObject({ paymentStatus: status, version: 1 });
    for (const entry of await lastEntries(server, 2)) {
      expect(entry).toMatchObject(actor);
      expect(JSON.stringify(entry)).not.toContain("ch_secret");
    }
  });

  const allowed: readonly PaymentStatus[] = outcome === "failed" ? ["pending"] : ["pending", "failed"];

  test.for(statuses)("from %s", async (from, { server }) => {
    const act = actAt(server);
    const { submission } = await owing(server, from);
    const { submissionId } = submission;
    const trace = await recordTrace(server, () => act("record_payment", { submissionId, outcome }));
    if (allowed.includes(from)) {
      expect(trace.data).toMatchObject({ status, failureCode: outcome === "failed" ? "card_declined" : null });
    } else {
      const details = { from, operation: outcome, allowedFrom: allowed };
      expect(trace).toMatchObject({ problem: { code: "invalid_state_transition", details }, ...nothing });
    }
  });
});

test("a failed payment names why, and one that follows clears that", async ({ server }) => {
  const act = actAt(server);
  const { submission } = await owing(server);
  const { submissionId } = submission;
  const failed = await act("record_payment", { submissionId, outcome: "failed", failureCode: "expired_card" });
  expect(failed).toMatchObject({ failureCode: "expired_card", paidAt: null });
  expect(await act("record_payment", { submissionId, outcome: "paid" })).toMatchObject({ failureCode: null });
  const chair = await server.as("REST");
  expect(await chair.get_submission_payment({ submissionId })).toMatchObject({ status: "succeeded", version: 2 });
});

describe("a fee recorded as refunded", () => {
  test("shows on the payment and the submission, by staff; how it was paid stays, and no event tells of it", async ({
    server,
  }) => {
    const act = actAt(server);
    const { submission } = await owing(server);
    const { submissionId } = submission;
    await act("record_payment", { submissionId, outcome: "paid", provider: "cardgate", providerRef: "ch_secret" });
    const paidAt = server.clock.now().toISOString();
    server.clock.advance(60_000);
    const trace = await recordTrace(server, () => act("record_payment", { submissionId, outcome: "refunded" }));
    const how = { method: "card", provider: "cardgate", providerRef: "ch_secret", paidAt, waivedAt: null };
    expect(trace.data).toMatchObject({ status: "refunded", ...how, updatedBy: "command_line" });
    expect(trace.audit).toEqual(["payment.refunded", "submission.updated"]);
    expect(trace.events).toEqual([]);
    expect(await loadRow(server, "submissions", submissionId)).toMatchObject({ paymentStatus: "refunded", version: 2 });
    for (const entry of await lastEntries(server, 2)) {
      expect(entry).toMatchObject({ actorType: "user", actorId: "command_line" });
    }
    const clerk = await server.as("REST", ["payments:read"]);
    expect(await clerk.list_payments({ status: "refunded" })).toMatchObject([{ submissionId }]);
    expect(await clerk.list_payments({ status: "succeeded" })).toEqual([]);
  });

  test.for(statuses)("from %s", async (from, { server }) => {
    const { submission } = await owing(server, from);
    const { submissionId } = submission;
    const trace = await recordTrace(server, () =>
      actAt(server)("record_payment", { submissionId, outcome: "refunded" }),
    );
    if (from === "succeeded") expect(trace.data).toMatchObject({ status: "refunded" });
    else {
      const details = { from, operation: "refunded", allowedFrom: ["succeeded"] };
      expect(trace).toMatchObject({ problem: { code: "invalid_state_transition", details }, ...nothing });
    }
  });
});

test("nothing is recorded without a fee or for an unknown submission", async ({ server }) => {
  const act = actAt(server);
  const free = await server.seed.submission();
  const { programId } = await server.seed.program({ lifecycleStatus: "archived" });
  const archived = await server.seed.submission({ trackId: (await server.seed.track({ programId })).trackId });
  const foreign = await (await server.other()).seed.submission();
  const cases = [
    [free.submissionId, "invalid_state_transition", { from: "not_required" }],
    [archived.submissionId, "program_archived", {}],
    [foreign.submissionId, "not_found", {}],
  ] as const;
  for (const [submissionId, code, details] of cases) {
    const trace = await recordTrace(server, () => act("record_payment", { submissionId, outcome: "offline" }));
    expect(trace).toMatchObject({ problem: { code, details }, ...nothing });
  }
  const unfit = act("record_payment", { submissionId: free.submissionId, outcome: "stolen" as "paid" });
  await expect(unfit).rejects.toMatchProblem("validation_failed");
});
