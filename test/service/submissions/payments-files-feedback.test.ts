import { describe, expect } from "vitest";
import { PaymentStatus } from "../../../src/contract/payments.ts";
import type { Row } from "../../../src/store/tables.ts";
import { surfaces, type TestCaller, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const now = "2026-11-20T09:00:00.000Z";
const minutes = 60_000;

function create(chair: TestCaller, trackId: string) {
  return chair.create_submission({ trackId, fields: {}, deadline: now, innovatorEmail: "ada@example.org" });
}

describe.each(surfaces)("payments over %s", (surface) => {
  const fees: readonly [Partial<Row<"programs">>, Partial<Row<"tracks">>, object | undefined][] = [
    [{ feeRequired: true, currency: "EUR" }, { feeAmountMinor: 2500 }, { amountMinor: 2500, currency: "EUR" }],
    [
      { feeRequired: true, currency: "EUR" },
      { feeAmountMinor: 1, currency: "CZK" },
      { amountMinor: 1, currency: "CZK" },
    ],
    [{ feeRequired: true }, { feeAmountMinor: 1, currency: "CZK" }, { amountMinor: 1, currency: "CZK" }],
    [{ feeRequired: true, currency: "EUR" }, { feeAmountMinor: 0 }, undefined],
    [{ feeRequired: true, currency: "EUR" }, { feeAmountMinor: null }, undefined],
    [{ feeRequired: false, currency: "EUR" }, { feeAmountMinor: 2500 }, undefined],
  ];

  test("a new submission owes the track's fee if the programme charges one", async ({ server }) => {
    const chair = await server.as(surface);
    await create(chair, (await server.seed.track()).trackId);
    for (const [program, track, due] of fees) {
      const { programId } = await server.seed.program(program);
      const { trackId } = await server.seed.track({ programId, ...track });
      const trace = await recordTrace(server, () => create(chair, trackId));
      const { submissionId } = trace.data;
      const payment = await chair.get_submission_payment({ submissionId });
      const inserted = [...(due ? ["payments inserted"] : []), "submissions inserted"];
      expect(trace).toMatchObject({
        data: { paymentStatus: due ? "pending" : null },
        rows: ["applicants updated: programIds trackIds", ...inserted],
        events: [{ eventType: "submission.draft_created" }],
      });
      const owed = { submissionId, programId, trackId, status: "pending", method: null, paidAt: null };
      if (due) expect(payment).toMatchObject({ ...owed, ...due, paymentId: expect.stringMatching(/^pay_/) });
      else expect(payment).toEqual({ submissionId, required: false, status: "not_required" });
    }
  });

  test("a submission shows its own latest payment", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId, programId, trackId } = await server.seed.submission();
    const failed = await server.seed.payment({ submissionId, programId, trackId, status: "failed" });
    server.clock.advance(minutes);
    const paid = await server.seed.payment({ submissionId, programId, trackId });
    server.clock.advance(minutes);
    const other = await server.seed.submission();
    await server.seed.payment({ ...idsOf(other), status: "waived" });
    expect(await chair.get_submission_payment({ submissionId })).toEqual(paid);
    expect(await chair.list_payments({ status: "failed" })).toEqual([failed]);
    const foreign = await (await server.other()).seed.submission();
    for (const unknown of ["sub_none", foreign.submissionId]) {
      await expect(chair.get_submission_payment({ submissionId: unknown })).rejects.toMatchProblem("not_found");
    }
  });

  test("payments are listed by status, newest first, page by page", async ({ server }) => {
    const chair = await server.as(surface);
    const ids = idsOf(await server.seed.submission());
    const other = await server.other();
    await other.seed.payment(idsOf(await other.seed.submission()));
    const rows: Row<"payments">[] = [];
    for (const status of [...PaymentStatus.options, ...PaymentStatus.options]) {
      rows.unshift(await server.seed.payment({ ...ids, status }));
    }
    for (const status of PaymentStatus.options) {
      const first = await chair.call("list_payments", { status, limit: 1 });
      const lastEvaluatedKey = first.page?.lastEvaluatedKey;
      const second = await chair.call("list_payments", { status, limit: 1, lastEvaluatedKey });
      expect([...first.data, ...second.data]).toEqual(rows.filter((row) => row.status === status));
      expect(second.page).toEqual({ hasMore: false });
      const next = PaymentStatus.options.find((each) => each !== status);
      const elsewhere = chair.list_payments({ status: next, lastEvaluatedKey });
      await expect(elsewhere).rejects.toMatchProblem("invalid_cursor");
    }
    // Tools understand a choice in any case.
    const otherCase = surface === "MCP" ? [] : [{ status: "SUCCEEDED" }];
    for (const query of [{}, { status: "not_required" }, ...otherCase]) {
      const issues = [expect.objectContaining({ path: "status" })];
      await expect(chair.list_payments(query)).rejects.toMatchProblem("validation_failed", { issues });
    }
  });
});

describe.each(surfaces)("files over %s", (surface) => {
  const bytes = new TextEncoder().encode("a drawing");

  async function kept(server: TestServer, given: Partial<Row<"files">> = {}) {
    const sha256 = await server.app.content.put(bytes);
    return server.seed.file({ sha256, sizeBytes: bytes.length, ...given });
  }

  test("a submission lists its own files, newest first", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId } = await server.seed.submission();
    await kept(server, { submissionId: (await server.seed.submission()).submissionId });
    const rows = [await kept(server, { submissionId }), await kept(server, { submissionId, scanStatus: "infected" })];
    expect(await chair.list_submission_files({ submissionId })).toEqual(rows.toReversed());
    const foreign = await (await server.other()).seed.submission();
    for (const unknown of ["sub_none", foreign.submissionId]) {
      await expect(chair.list_submission_files({ submissionId: unknown })).rejects.toMatchProblem("not_found");
    }
  });

  test("a link downloads the file without a token for 15 minutes", async ({ server }) => {
    const chair = await server.as(surface, ["files:read"]);
    const { fileId } = await kept(server, { fileName: 'Plán "1"\r\n.pdf', contentType: "text/html" });
    const link = await chair.get_file_download_url({ fileId });
    expect(link).toEqual({ fileId, downloadUrl: expect.any(String), expiresAt: "2026-11-20T09:15:00.000Z" });
    server.clock.advance(15 * minutes - 1);
    const response = await fetch(link.downloadUrl);
    expect([response.status, new Uint8Array(await response.arrayBuffer())]).toEqual([200, bytes]);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      "content-type": "text/html",
      "content-length": "9",
      "content-disposition": "attachment; filename=\"Pl_n__1___.pdf\"; filename*=UTF-8''Pl%C3%A1n%20%221%22%0D%0A.pdf",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
    });
    server.clock.advance(1);
    expect((await fetch(link.downloadUrl)).status).toBe(404);
  });

  test("a link that was changed in any part is refused", async ({ server }) => {
    const chair = await server.as(surface);
    const [{ fileId }, other] = [await kept(server), await kept(server)];
    const stranger = await server.other();
    await kept(stranger, { fileId });
    const { downloadUrl } = await chair.get_file_download_url({ fileId });
    const changes: readonly ((url: URL) => void)[] = [
      (url) => url.searchParams.set("expires", String(Number(url.searchParams.get("expires")) + 1)),
      (url) => url.searchParams.set("business", stranger.businessId),
      (url) => url.searchParams.set("signature", `${url.searchParams.get("signature")?.slice(0, -4)}AAAA`),
      (url) => url.searchParams.delete("signature"),
      (url) => url.searchParams.delete("expires"),
      (url) => {
        url.pathname = url.pathname.replace(fileId, other.fileId);
      },
    ];
    for (const change of changes) {
      const url = new URL(downloadUrl);
      change(url);
      const response = await fetch(url);
      expect([response.status, await response.text()]).toEqual([404, "This link is not valid, or no longer."]);
    }
    expect(await (await fetch(downloadUrl)).text()).toBe("a drawing");
  });

  test("only a file that a scan found clean has a link", async ({ server }) => {
    const chair = await server.as(surface);
    for (const scanStatus of ["pending", "infected"] as const) {
      const { fileId } = await kept(server, { scanStatus });
      const details = { from: scanStatus, operation: "download", allowedFrom: ["clean"] };
      expect(await recordTrace(server, () => chair.get_file_download_url({ fileId }))).toMatchObject({
        problem: { code: "invalid_state_transition", details },
        ...nothing,
      });
    }
    const { fileId } = await kept(await server.other());
    for (const unknown of [fileId, "fil_none"]) {
      await expect(chair.get_file_download_url({ fileId: unknown })).rejects.toMatchProblem("not_found");
    }
  });
});

describe.each(surfaces)("feedback over %s", (surface) => {
  /** A submission in its second round, with feedback on the first. */
  async function seedStage({ seed }: TestServer, program: Partial<Row<"programs">> = {}) {
    const { programId } = await seed.program(program);
    const { trackId } = await seed.track({ programId });
    const first = await seed.round({ programId, trackId });
    const second = await seed.round({ programId, trackId, sequence: 2 });
    const submission = await seed.submission({ trackId, state: "IN_REVIEW", currentRoundId: second.roundId });
    const ids = { programId, submissionId: submission.submissionId };
    const feedback = (roundId: string | null = first.roundId) => seed.feedback({ ...ids, roundId });
    return { ids, trackId, first: first.roundId, second: second.roundId, feedback };
  }

  test("is released with its time, its token and one event of its round", async ({ server }) => {
    const chair = await server.as(surface);
    const { ids, trackId, first, second, feedback } = await seedStage(server);
    await feedback();
    for (const roundId of [first, null]) {
      const { feedbackId } = await feedback(roundId);
      const trace = await recordTrace(server, () => chair.release_feedback({ feedbackId }));
      expect(trace).toMatchObject({
        data: { ...ids, feedbackId, released: true, releasedAt: now, releasedBy: expect.stringMatching(/^tok_/) },
        rows: ["feedbacks updated: released releasedAt releasedBy"],
        audit: ["feedback.released"],
      });
      const data = {
        ...ids,
        businessId: server.businessId,
        trackId,
        roundId: roundId ?? second,
        version: 0,
        feedbackId,
      };
      expect(trace.events).toMatchObject([{ eventType: "feedback.released", data }]);
      expect(trace.events[0]?.data).toEqual(data);
      server.clock.advance(minutes);
      const again = await recordTrace(server, () => chair.release_feedback({ feedbackId }));
      expect(again).toMatchObject({ data: trace.data, ...nothing });
      server.clock.advance(-minutes);
    }
  });

  test("is released once by many concurrent requests", async ({ server }) => {
    const [chair, deputy] = [await server.as(surface), await server.as(surface)];
    const { feedbackId } = await (await seedStage(server)).feedback();
    const calls = [chair, deputy, chair, deputy].map((caller) => caller.release_feedback({ feedbackId }));
    const answers = await Promise.all(calls);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ released: true, version: 1 });
    expect(await server.outbox()).toHaveLength(1);
  });

  test("of an archived programme is not released, and another tenant's is not found", async ({ server }) => {
    const chair = await server.as(surface);
    const archived = await (await seedStage(server, { lifecycleStatus: "archived" })).feedback();
    const foreign = await (await seedStage(await server.other())).feedback();
    const refusals = [
      [archived.feedbackId, "program_archived"],
      [foreign.feedbackId, "not_found"],
      ["fbk_none", "not_found"],
    ] as const;
    for (const [feedbackId, code] of refusals) {
      expect(await recordTrace(server, () => chair.release_feedback({ feedbackId }))).toMatchObject({
        problem: { code },
        ...nothing,
      });
    }
  });

  test("is listed after its release, by programme and submission, newest first", async ({ server }) => {
    const chair = await server.as(surface);
    const [here, there] = [await seedStage(server), await seedStage(server)];
    const rows: Row<"feedbacks">[] = [];
    for (const { feedback } of [here, there, here]) {
      await feedback();
      rows.unshift(await chair.release_feedback({ feedbackId: (await feedback()).feedbackId }));
    }
    const other = await server.other();
    const { feedbackId } = await (await seedStage(other)).feedback();
    await (await other.as(surface)).release_feedback({ feedbackId });
    const { programId, submissionId } = here.ids;
    const own = rows.filter((row) => row.submissionId === submissionId);
    expect(await chair.list_released_feedback()).toEqual(rows);
    for (const query of [{ programId }, { submissionId }, here.ids]) {
      expect(await chair.list_released_feedback(query)).toEqual(own);
    }
    expect(await chair.list_released_feedback({ ...here.ids, programId: there.ids.programId })).toEqual([]);
    const { data, page } = await chair.call("list_released_feedback", { programId, limit: 1 });
    const rest = { programId, lastEvaluatedKey: page?.lastEvaluatedKey };
    expect([...data, ...(await chair.list_released_feedback(rest))]).toEqual(own);
    await expect(chair.list_released_feedback({ ...rest, submissionId })).rejects.toMatchProblem("invalid_cursor");
  });
});

function idsOf({ submissionId, programId, trackId }: Row<"submissions">) {
  return { submissionId, programId, trackId };
}
