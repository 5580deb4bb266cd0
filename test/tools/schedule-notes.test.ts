import { describe, expect, onTestFinished, test } from "vitest";
import { type Scope, scopes } from "../../src/contract/access/scopes.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { openAgent } from "../upstream/agent.ts";
import { openRemoteSetup } from "../upstream/remote-setup.ts";

const services = {
  async embedded(granted?: readonly Scope[]) {
    const { server, close } = await openTestServer();
    onTestFinished(close);
    return { server, agent: await openAgent(server.app, await server.token(granted)) };
  },
  async remote(granted?: readonly Scope[]) {
    const { server, app } = await openRemoteSetup({ environment: { PROGRAMME_SCOPES: "" } });
    return { server, agent: await openAgent(app, await server.token(granted)) };
  },
};

const at = (day: string) => `2027-${day}T00:00:00.000Z`;

describe.each(Object.entries(services))("a change of dates in the %s service", (_, open) => {
  test("notes what does not fit to a round's new dates", async () => {
    const { server, agent } = await open();
    const { programId, trackId, roundId } = await server.seed.round({ sequence: 1, startDate: at("01-10") });
    const next = await server.seed.round({ programId, trackId, sequence: 2, startDate: at("03-01") });
    const { submissionId } = await server.seed.submission({ trackId, state: "IN_REVIEW", currentRoundId: roundId });
    const { reviewerId } = await server.seed.reviewer({ roundIds: [roundId] });
    const ids = { programId, trackId, roundId };
    await server.seed.assignment({ ...ids, submissionId, reviewerId, dueAt: at("02-01") });
    const dates = { endDate: at("03-05"), deadline: at("03-10") };
    const { notes } = await agent.call("update_round", { ...ids, ...dates, version: 0 });
    expect(notes).toEqual([
      `Does not fit: The deadline is at ${at("03-10")}, after the round's end at ${at("03-05")}.`,
      `Does not fit: The round ends at ${at("03-05")}, after the next round (${next.roundId}) starts at ${at("03-01")}.`,
      `Does not fit: 1 open assignment with a deadline of its own before ${at("03-10")}.`,
    ]);
    const fitting = { endDate: at("02-20"), deadline: at("02-01") };
    expect((await agent.call("update_round", { ...ids, ...fitting, version: 1 })).notes).toBeUndefined();
  });

  test("notes what does not fit to a track's new dates", async () => {
    const { server, agent } = await open();
    const { programId, trackId, roundId } = await server.seed.round({ startDate: at("02-01") });
    for (const state of ["DRAFT", "DRAFT", "SUBMITTED"] as const)
      await server.seed.submission({ trackId, state, deadline: at("01-05") });
    const change = { programId, trackId, version: 0, intakeCloseDate: at("02-10") };
    expect((await agent.call("update_track", change)).notes?.slice(0, 2)).toEqual([
      `Does not fit: The intake closes at ${at("02-10")}, after the first round (${roundId}) starts at ${at("02-01")}.`,
      `Does not fit: 2 drafts with a deadline of their own before ${at("02-10")}.`,
    ]);
  });

  test("notes nothing that the token may not read", async () => {
    const readable = scopes.filter((scope) => !["rounds:read", "submissions:read"].includes(scope));
    const { server, agent } = await open(readable);
    const { programId, trackId } = await server.seed.round({ startDate: at("02-01") });
    await server.seed.submission({ trackId, state: "DRAFT", deadline: at("01-05") });
    const change = { programId, trackId, version: 0, intakeCloseDate: at("02-10") };
    const answer = await agent.call("update_track", change);
    expect(answer.data).toMatchObject({ trackId, version: 1 });
    expect(JSON.stringify(answer)).not.toContain("Does not fit");
  });
});
