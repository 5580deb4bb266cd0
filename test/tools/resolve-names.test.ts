import { expect, onTestFinished, test } from "vitest";
import { clients, readError, type ToolClient } from "../support/clients/clients.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

async function openSetup(scopes?: Parameters<TestServer["token"]>[0]) {
  const { server, close } = await openTestServer();
  onTestFinished(close);
  const token = await server.token(scopes);
  const connect = clients["2026-07-28 over stdio"] as (server: TestServer, token: string) => Promise<ToolClient>;
  return { server, token, connect, agent: await connect(server, token) };
}

async function seedPlaces({ seed }: TestServer) {
  const { programId } = await seed.program({ name: "Harbour Fund 2026" });
  const film = await seed.track({ programId, name: "Film" });
  const music = await seed.track({ programId, name: "Music and  sound" });
  const rounds = [];
  for (const { trackId } of [film, music]) {
    rounds.push(await seed.round({ programId, trackId, sequence: 1, name: "First reading" }));
  }
  const jury = await seed.round({ programId, trackId: film.trackId, sequence: 2, name: "Jury" });
  return { programId, film, music, rounds, jury };
}

test("a workflow takes the names of a programme, a track and a round, embedded and remote", async () => {
  const { server, token, connect, agent } = await openSetup();
  const { programId, music, rounds, jury } = await seedPlaces(server);
  const remote = await openRemote(server.origin, {}, { clock: server.clock });
  onTestFinished(() => remote.close());
  for (const each of [agent, await connect({ ...server, app: remote }, token)]) {
    const ask = async (args: Record<string, unknown>) =>
      (await each.call("get_review_progress", args)).structuredContent;
    const whole = await ask({ programId: "harbour fund 2026" });
    expect(whole?.notes).toContain(`programId: “harbour fund 2026” was read as ${programId}.`);
    expect(whole?.data).toMatchObject({ programId });
    const named = { programId: "Harbour Fund 2026", trackId: "music and sound", roundId: "First reading" };
    const ids = { programId, trackId: music.trackId, roundId: rounds[1]?.roundId };
    const answer = await ask(named);
    expect(answer?.data).toEqual((await ask(ids))?.data);
    expect(answer?.data).toMatchObject({ rounds: [{ roundId: ids.roundId, track: "Music and  sound" }] });
    expect((await ask({ programId, roundId: "Jury" }))?.data).toMatchObject({ rounds: [{ roundId: jury.roundId }] });
  }
});

test("every read takes names, also within a batch, and the audit has the id", async () => {
  const { server, agent } = await openSetup();
  const { programId, film } = await seedPlaces(server);
  const { submissionId } = await server.seed.submission({ trackId: film.trackId });
  const args = { programId: "Harbour Fund 2026", trackId: "Film", select: "title" };
  const alone = await agent.call("list_submissions", args);
  expect(alone.structuredContent?.data).toMatchObject([{ submissionId }]);
  const batch = await agent.call("run_batch", {
    calls: [
      { tool: "list_submissions", arguments: args },
      { tool: "get_program", arguments: { programId: "Harbour Fund 2026", select: "name" } },
    ],
  });
  expect(batch.structuredContent?.data).toMatchObject([
    { status: "done", data: [{ submissionId }] },
    { status: "done", data: { programId } },
  ]);
  await agent.call("get_review_progress", { programId: "Harbour Fund 2026" });
  await server.app.pipeline.flush();
  const rest = await server.as("REST");
  const entries = (await rest.call("list_audit_entries", { action: "program.review_progress_read" })).data;
  expect(entries).toMatchObject([{ entityId: programId, programId }]);
});

test("a name that no record has is refused with those that there are", async () => {
  const { server, agent } = await openSetup();
  const { programId, film, music } = await seedPlaces(server);
  const refuse = async (args: Record<string, unknown>) => {
    const result = await agent.call("get_review_progress", args);
    const { code, message, details } = readError(result) as ReturnType<typeof readError> & { details: unknown };
    expect(code).toBe("validation_failed");
    return message + JSON.stringify(details);
  };
  expect(await refuse({ programId: "Harbour Fund" })).toContain(
    `No programme is named “Harbour Fund”. There are “Harbour Fund 2026” (${programId})`,
  );
  const unknown = await refuse({ programId, trackId: "Dance" });
  expect(unknown).toContain("No track is named “Dance”. There are “");
  expect(unknown).toContain(`“Film” (${film.trackId})`);
  expect(unknown).toContain(`“Music and sound” (${music.trackId})`);
});

test("a name that several rounds have is refused with each and its track", async () => {
  const { server, agent } = await openSetup();
  const { programId, rounds } = await seedPlaces(server);
  const result = await agent.call("get_score_table", { programId, roundId: "First reading" });
  const [first, second] = rounds.map(({ roundId, trackId }) => `“First reading” (${roundId} of track ${trackId})`);
  expect(result.content[0]?.text).toContain(`Several rounds are named “First reading”. There are ${first}, ${second}`);
});

test("a track's name without its programme is refused with what to give", async () => {
  const { server, agent } = await openSetup();
  await seedPlaces(server);
  const result = await agent.call("list_submissions", { trackId: "Film" });
  expect(result.content[0]?.text).toContain("A track's name is not enough. Give programId too, or the track's id");
});

test("a token that may not list programmes cannot name one", async () => {
  const { server, agent } = await openSetup(["submissions:read"]);
  await seedPlaces(server);
  const result = await agent.call("list_submissions", { programId: "Harbour Fund 2026" });
  expect(readError(result).code).toBe("insufficient_scope");
  expect(result.content[0]?.text).not.toContain("prg_");
});

test("a write takes ids alone", async () => {
  const { server, agent } = await openSetup();
  await seedPlaces(server);
  const result = await agent.call("update_program", { programId: "Harbour Fund 2026", description: "New" });
  expect(readError(result).code).toBe("not_found");
  expect(await server.outbox()).toEqual([]);
});
