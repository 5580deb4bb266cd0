import { expect } from "vitest";
import { tenantTest as test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";
import { actAt, lastEntries } from "./portal-actions.ts";

test("feedback is prepared by staff, hidden until it is released by a token", async ({ server }) => {
  const act = actAt(server);
  const track = await server.seed.track();
  const { programId, trackId } = track;
  const { roundId } = await server.seed.round({ programId, trackId });
  const { submissionId } = await server.seed.submission({ trackId });
  const given = { submissionId, roundId, subject: "Remarks", body: "The panel liked the roof." };
  const trace = await recordTrace(server, () => act("prepare_feedback", given));
  expect(trace).toMatchObject({
    data: { ...given, programId, released: false, releasedAt: null, createdBy: "command_line" },
    rows: ["feedbacks inserted"],
    audit: ["feedback.prepared"],
    events: [],
  });
  const [entry] = await lastEntries(server, 1);
  expect(entry).toMatchObject({ actorType: "user", actorId: "command_line" });
  expect(JSON.stringify(entry)).not.toMatch(/roof/);
  const chair = await server.as("REST");
  expect(await chair.list_released_feedback({ submissionId })).toEqual([]);
  const { feedbackId } = trace.data;
  const released = await recordTrace(server, () => chair.release_feedback({ feedbackId }));
  expect(released.events).toMatchObject([{ eventType: "feedback.released", data: { feedbackId, roundId } }]);
});

test("feedback is refused for an unknown submission or an archived programme", async ({ server }) => {
  const act = actAt(server);
  const { submissionId } = await server.seed.submission();
  const elsewhere = await server.seed.round();
  const { programId } = await server.seed.program({ lifecycleStatus: "archived" });
  const archived = await server.seed.submission({ trackId: (await server.seed.track({ programId })).trackId });
  const body = "The panel liked the roof.";
  const cases = [
    [{ submissionId, body, roundId: elsewhere.roundId }, "validation_failed"],
    [{ submissionId, body, roundId: "rnd_none" }, "not_found"],
    [{ submissionId: archived.submissionId, body }, "program_archived"],
    [{ submissionId: "sub_none", body }, "not_found"],
    [{ submissionId, body: "" }, "validation_failed"],
    [{ submissionId, body, subject: "a\nb" }, "validation_failed"],
    [{ submissionId, body: "x\0" }, "validation_failed"],
  ] as const;
  for (const [given, code] of cases) {
    const trace = await recordTrace(server, () => act("prepare_feedback", given));
    expect([given, trace]).toMatchObject([given, { problem: { code }, ...nothing }]);
  }
});
