import { expect, onTestFinished } from "vitest";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { type OperationName, operations, type WorkflowName } from "../../src/contract/index.ts";
import { clients, readData, type ToolClient } from "../support/clients/clients.ts";
import { readPages } from "../support/data/lists.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of an answer
type Data = any;

/** The same service behind tools twice: in their process, and over HTTP as a product's own. */
export interface WorkflowFixture {
  readonly server: TestServer;
  readonly agents: Readonly<Record<"embedded" | "remote", ToolClient>>;
  /** Calls a workflow by both ways, and expects the same data. */
  ask(name: WorkflowName, args: Record<string, unknown>): Promise<Data>;
  /** Every row of a list, over REST. */
  list(name: OperationName, query?: object): Promise<Data[]>;
  /** A record, over REST. */
  read(name: OperationName, input: Record<string, unknown>): Promise<Data>;
}

export async function openWorkflowFixture(
  environment: Readonly<Record<string, string>> = {},
  scopes?: readonly Scope[],
): Promise<WorkflowFixture> {
  const { server, close } = await openTestServer(environment);
  onTestFinished(close);
  const token = await server.token(scopes);
  const remote = await openRemote(
    server.origin,
    { ...environment, ...(scopes ? { PROGRAMME_SCOPES: scopes.join() } : {}) },
    { clock: server.clock },
  );
  onTestFinished(() => remote.close());
  const connect = clients["2026-07-28 over stdio"] as (server: TestServer, token: string) => Promise<ToolClient>;
  const agents = {
    embedded: await connect(server, token),
    remote: await connect({ ...server, app: remote }, token),
  };
  const rest = await server.as("REST");
  return {
    server,
    agents,
    async ask(name, args) {
      const data = readData(await agents.embedded.call(name, args));
      expect(readData(await agents.remote.call(name, args))).toEqual(data);
      return data;
    },
    read: async (name, input) => (await rest.call(name, input)).data,
    list: async (name, query = {}) =>
      operations[name].paginated
        ? (await readPages<Data>(rest, name, query)).flat()
        : (await rest.call(name, { ...query })).data,
  };
}

const statuses = ["assigned", "accepted", "declined", "conflict", "completed", "cancelled"] as const;

/** A programme with two tracks, three rounds, and assignments and reviews of every status. */
export async function seedReviewing({ seed, clock }: TestServer, submissionsPerTrack = 8) {
  const { programId } = await seed.program();
  const deadlines = [-1, 1].map((days) => new Date(clock.now().getTime() + days * 86_400_000).toISOString());
  const reviewers = [];
  for (const lastName of ["Okafor", "Marsh", "Lindqvist"]) {
    reviewers.push(await seed.reviewer({ lastName, programIds: [programId] }));
  }
  let count = 0;
  const rounds = [];
  for (const trackNumber of [1, 2]) {
    const track = await seed.track({ programId });
    const own = [await seed.round({ ...track, sequence: 1, name: `First ${trackNumber}` })];
    if (trackNumber === 1) own.push(await seed.round({ ...track, sequence: 2, name: "Second" }));
    rounds.push(...own);
    for (let index = 0; index < submissionsPerTrack; index += 1) {
      const current = own[index % own.length];
      const state = index % 4 === 3 ? "ELIMINATED" : "IN_REVIEW";
      const submission = await seed.submission({
        trackId: track.trackId,
        title: `Project ${trackNumber}.${index}`,
        state,
        currentRoundId: current?.roundId ?? null,
      });
      for (const { reviewerId } of reviewers.slice(index % 3)) {
        for (const { roundId } of own) {
          count += 1;
          const status = statuses[count % 7] ?? "completed";
          const home = { programId, roundId, reviewerId, submissionId: submission.submissionId };
          const active = status !== "cancelled" && count % 11 !== 0;
          const assignment = await seed.assignment({
            ...home,
            trackId: track.trackId,
            status,
            active,
            dueAt: deadlines[count % 2] ?? null,
          });
          if (status === "assigned" && count % 3 !== 0) continue;
          const submitted = status === "completed";
          const values = [count % 11, (count * 3) % 11];
          await seed.review({
            ...home,
            assignmentId: assignment.assignmentId,
            status: submitted ? "submitted" : "draft",
            rubricId: own.find((round) => round.roundId === roundId)?.rubricId ?? "",
            scores: values.map((value, at) => ({ criterionId: at === 0 ? "crt_a" : "crt_b", value, comment: null })),
            totalScore: (values[0] ?? 0) + (values[1] ?? 0),
            weightedScore: (2 * (values[0] ?? 0) + (values[1] ?? 0)) / 3,
          });
        }
      }
    }
  }
  return { programId, rounds, reviewers };
}
