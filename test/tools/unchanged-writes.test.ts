import { describe, expect, onTestFinished, test } from "vitest";
import { openTestServer } from "../support/servers/test-server.ts";
import { openAgent } from "../upstream/agent.ts";
import { openRemoteSetup } from "../upstream/remote-setup.ts";

const services = {
  async embedded() {
    const { server, close } = await openTestServer();
    onTestFinished(close);
    return { server, agent: await openAgent(server.app, await server.token()) };
  },
  async remote() {
    const { server, app } = await openRemoteSetup({ environment: { PROGRAMME_SCOPES: "" } });
    return { server, agent: await openAgent(app, await server.token()) };
  },
};

describe.each(Object.entries(services))("a write in the %s service", (_, open) => {
  test("that changes nothing succeeds with a note, without event, version or reason", async () => {
    const { server, agent } = await open();
    const { submissionId } = await server.seed.submission({ state: "WINNER" });
    const rest = await server.as("REST");
    const head = { submissionId, version: 0, reason: "For the record" };
    expect(await rest.update_submission(head)).toMatchObject({ state: "WINNER", version: 0 });
    for (const [tool, args] of [
      ["update_submission", head],
      ["set_submission_state", { ...head, state: "WINNER" }],
    ] as const) {
      const { notes } = await agent.call(tool, args);
      expect(notes, tool).toContain(
        "Nothing changed: the record already was as requested. A reason is kept only with a change.",
      );
    }
    expect(await server.outbox()).toEqual([]);
    expect(await rest.list_audit_entries({ submissionId })).toEqual([]);
  });

  test("that changes something has no such note", async () => {
    const { server, agent } = await open();
    const { programId } = await server.seed.program();
    const name = { programId, name: "Another call" };
    expect((await agent.call("update_program", { ...name, version: 0 })).notes).toBeUndefined();
    expect((await agent.call("update_program", { ...name, version: 1 })).notes).toEqual([
      "Nothing changed: the record already was as requested.",
    ]);
    expect((await agent.call("update_program", { programId, year: 2031, version: 1 })).notes).toBeUndefined();
  });

  test("that returns a new record has no such note", async () => {
    const { server, agent } = await open();
    const { programId } = await server.seed.program();
    const { trackId, schemaId } = await server.seed.track({ programId });
    const { roundId } = await server.seed.round({ programId, trackId });
    const submission = { trackId, schemaId, currentRoundId: roundId, state: "IN_REVIEW" } as const;
    const { submissionId } = await server.seed.submission({ programId, ...submission });
    const [{ reviewerId }, other] = [await server.seed.reviewer(), await server.seed.reviewer()];
    const ids = { programId, trackId, roundId, submissionId, reviewerId };
    const { assignmentId, version } = await server.seed.assignment(ids);
    const move = { assignmentId, version, newReviewerId: other.reviewerId };
    const { data, notes } = await agent.call("reassign_assignment", move);
    expect(data).toMatchObject({ reassignedFromId: assignmentId, version });
    expect(notes ?? []).not.toContainEqual(expect.stringContaining("Nothing changed"));
  });
});
