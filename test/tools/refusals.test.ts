import { describe, expect, onTestFinished, test } from "vitest";
import { type Scope, scopes } from "../../src/contract/access/scopes.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { type Agent, openAgent } from "../upstream/agent.ts";
import { openRemoteSetup } from "../upstream/remote-setup.ts";

const reason = "For the test";

/** Agents of the embedded service and of a remote one, with the server that holds the records. */
const setups = {
  async embedded(environment: Record<string, string> = {}) {
    const { server, close } = await openTestServer(environment);
    onTestFinished(close);
    return {
      server,
      connect: async (granted?: readonly Scope[]) => openAgent(server.app, await server.token(granted)),
    };
  },
  async remote(environment: Record<string, string> = {}) {
    const { server, app } = await openRemoteSetup({ service: environment, environment: { PROGRAMME_SCOPES: "" } });
    return { server, connect: async (granted?: readonly Scope[]) => openAgent(app, await server.token(granted)) };
  },
};

async function readNext(agent: Agent, ...call: Parameters<Agent["call"]>): Promise<string | undefined> {
  return (await agent.call(...call)).error?.next;
}

describe.each(Object.entries(setups))("a refused call to the %s service", (service, open) => {
  test("names the tools that lead to the wanted state, and what they clear", async () => {
    const { server, connect } = await open();
    const agent = await connect();
    const inState = (state: "DRAFT" | "IN_REVIEW" | "WITHDRAWN" | "SUBMITTED") => server.seed.submission({ state });
    const [draft, inReview, withdrawn, submitted] = await Promise.all(
      (["DRAFT", "IN_REVIEW", "WITHDRAWN", "SUBMITTED"] as const).map(inState),
    );
    const edit = { fields: {}, version: 0 };
    const toDraft =
      "update_submission with state DRAFT (clears currentRoundId, eligible, submittedAt, screenedAt, withdrawnAt, decidedAt; ends open review assignments)";
    const expected: [Parameters<Agent["call"]>[0], Record<string, unknown>, string][] = [
      [
        "reopen_submission",
        { submissionId: inReview?.submissionId, reason, version: 0 },
        `It is IN_REVIEW. To make it DRAFT: ${toDraft}. `,
      ],
      [
        "eliminate_submission",
        { submissionId: draft?.submissionId, reason, version: 0 },
        "It is DRAFT. To make it ELIMINATED: submit_submission (needs an open intake and a complete application); then eliminate_submission (clears withdrawnAt; ends open review assignments). ",
      ],
      [
        "update_submission_fields",
        { submissionId: withdrawn?.submissionId, ...edit },
        `It is WITHDRAWN. To make it DRAFT: ${toDraft}; then this call again. `,
      ],
      [
        "advance_submission",
        { submissionId: submitted?.submissionId, toRoundId: "rnd_none", version: 0 },
        "It is SUBMITTED. To make it IN_REVIEW: screen_submission with eligible true; then advance_submission (needs an active round later than its present one; clears decidedAt). ",
      ],
      [
        "withdraw_submission",
        { submissionId: withdrawn?.submissionId, reason, version: 0 },
        "It is WITHDRAWN already.",
      ],
    ];
    for (const [name, args, text] of expected) expect(await readNext(agent, name, args), name).toContain(text);
    const { programId } = await server.seed.program({ lifecycleStatus: "archived" });
    expect(await readNext(agent, "update_program", { programId, version: 0, lifecycleStatus: "underway" })).toContain(
      "It is archived. To make it underway: update_program with lifecycleStatus completed; then update_program with lifecycleStatus underway. ",
    );
    expect(await server.outbox()).toEqual([]);
  });

  test("names what changed since the caller's version, by whom, and whether its own fields did", async () => {
    const { server, connect } = await open();
    const [agent, other] = [await connect(), await connect()];
    const { submissionId } = await server.seed.submission({ state: "DRAFT" });
    await agent.call("update_submission_fields", { submissionId, fields: { fld_title: "Wood" }, version: 0 });
    await other.call("update_submission", { submissionId, deadline: "2027-01-01T00:00:00Z", version: 1 });
    const own = service === "embedded" ? "this token itself" : "token “test” \\(tok_\\w+\\)";
    const since = `^Since version 0, deadline changed by token “test” \\(tok_\\w+\\) at 2026-11-20T09:00:00\\.000Z; title, fields\\.fld_title changed by ${own} at .*\\. `;
    const later = { deadline: "2027-02-01T00:00:00Z" };
    expect(await readNext(agent, "update_submission", { submissionId, ...later, version: 0 })).toMatch(
      new RegExp(`${since}Your call changes deadline too\\. Read the record again \\(its version is now 2\\)`),
    );
    expect(await readNext(agent, "withdraw_submission", { submissionId, reason, version: "0" })).toMatch(
      new RegExp(`${since}Your call changes none of these\\. If it is still wanted, call with version 2\\.$`),
    );
    const unaudited = await connect(scopes.filter((scope) => scope !== "audit:read"));
    const next = await readNext(unaudited, "update_submission", { submissionId, ...later, version: 0 });
    expect(next).toContain("its version is now 2");
    expect(next).not.toMatch(/tok_|deadline|fld_title/);
  });

  test("names the token that lacks a scope, never itself, and where its scopes are edited", async () => {
    const { server, connect } = await open();
    const token = await server.token(["programs:read"]);
    const { submissionId } = await server.seed.submission();
    const agent = service === "embedded" ? await openAgent(server.app, token) : await connect(["programs:read"]);
    const next = await readNext(agent, "get_submission", { submissionId });
    expect(next).toMatch(
      service === "embedded"
        ? /^The token “test” \(tok_\w+, begins with \w+\) lacks submissions:read\. .*: programme-mcp token update tok_\w+ --scopes <its present scopes>,submissions:read\./
        : /^The token that begins with \w{6} lacks submissions:read\. Ask your human to add this in the product's settings/,
    );
    expect(next).not.toContain(token);
  });

  test("names arguments that hold a name, or the id of another kind of record", async () => {
    const { server, connect } = await open();
    const agent = await connect();
    const { programId } = await server.seed.program();
    expect(await readNext(agent, "get_submission", { submissionId: programId })).toBe(
      "submissionId takes an id sub_…, not prg_…. List or search the records to find the right one.",
    );
    expect(await readNext(agent, "update_program", { programId: "Open call", version: 0, name: "New" })).toBe(
      "programId takes an id (prg_…) here, not a name. List or search the records to find the right one.",
    );
    expect(await readNext(agent, "get_submission", { submissionId: "sub_none" })).toMatch(/^Check the id/);
  });

  test("says when a wait ends", async () => {
    const { connect } = await open({ PROGRAMME_REQUESTS_PER_MINUTE: "2" });
    const agent = await connect();
    let next: string | undefined;
    for (let calls = 0; calls < 5 && next === undefined; calls += 1) next = await readNext(agent, "list_programs");
    expect(next).toMatch(/^Wait \d+ seconds, .* The wait ends at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\.$/);
  });
});
