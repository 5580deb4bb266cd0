import { describe, expect } from "vitest";
import { listAudit } from "../support/data/state.ts";
import { openTestServer, type TestServer, test as withDesk } from "../support/servers/test-server.ts";

const requestsPerMinute = 100;

const test = withDesk.extend<{ server: TestServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixture's dependencies from the pattern
  server: async ({}, use) => {
    const { server, close } = await openTestServer({
      PROGRAMME_CONFIRM: "ask",
      PROGRAMME_READ_ONLY: "false",
      PROGRAMME_TOOLSETS: "programs,submissions,exports",
      PROGRAMME_REQUESTS_PER_MINUTE: String(requestsPerMinute),
    });
    await use(server);
    await close();
  },
});

const many = Object.fromEntries(Array.from({ length: 4_900 }, (_, index) => [`unknown${index}`, 1]));

describe("a tool call with invalid arguments", () => {
  test.for([
    ["get_program", many, "program.read", 400],
    ["get_program", { programId: "prg_x", select: [1] }, "program.read", 400],
    [
      "withdraw_submission",
      { submissionId: "sub_x", version: 0, confirmation: "bogus", fields: many },
      "submission.withdrawn",
      400,
    ],
    [
      "withdraw_submission",
      { submissionId: "sub_x", version: 0, reason: "Why", confirmation: "bogus" },
      "submission.withdrawn",
      409,
    ],
    ["withdraw_submission", { submissionId: { toString: 1 } }, "submission.withdrawn", 400],
    ["list_persons", {}, "person.listed", 403],
    ["create_export", { programId: "prg_x", wait: "perhaps" }, "export.created", 400],
  ] as const)("counts against the rate limit once and is recorded: %s %o", async ([name, input, action, status], {
    server,
  }) => {
    const agent = await server.as("MCP");
    await expect(agent.call(name, input)).rejects.toThrow();
    const { rate } = await server.app.pipeline.describe(await server.app.pipeline.identify(agent.token));
    expect(rate.remaining).toBe(requestsPerMinute - 1);
    await server.app.pipeline.flush();
    const { tokenId } = await server.app.pipeline.identify(agent.token);
    expect(await listAudit(server.app.store, server.businessId, action)).toMatchObject([
      { status, tokenId, changes: [] },
    ]);
  });

  test("is refused for the rate limit once that is used up", async ({ server }) => {
    const agent = await server.as("MCP");
    for (let sent = 0; sent < requestsPerMinute; sent += 1) {
      await expect(agent.call("get_program", { unknown: 1 })).rejects.toMatchProblem("validation_failed");
    }
    await expect(agent.call("get_program", many)).rejects.toMatchProblem("rate_limited");
  });

  test("reports a bounded number of issues", async ({ server }) => {
    const agent = await server.as("MCP");
    const refusal = await agent.call("get_program", many).catch((error) => error);
    expect(refusal.details.issues.length).toBeLessThanOrEqual(50);
  });
});

describe("a successful call", () => {
  test("counts against the rate limit once", async ({ server }) => {
    const { programId } = await server.seed.program();
    const agent = await server.as("MCP");
    await agent.get_program({ programId });
    expect((await server.app.pipeline.describe(await server.app.pipeline.identify(agent.token))).rate.remaining).toBe(
      requestsPerMinute - 1,
    );
  });
});

describe("a REST request beyond the rate limit", () => {
  test("is refused before its body is read", async ({ server }) => {
    const token = await server.token();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const at = `${server.origin}/integrations/v1/persons`;
    const post = (body: string) => fetch(at, { method: "POST", headers, body });
    const statuses = new Set<number>();
    for (let sent = 0; sent < requestsPerMinute; sent += 1) statuses.add((await post("{")).status);
    expect([...statuses]).toEqual([400]);
    // Of a body that is read, this would be said.
    expect((await post("{")).status).toBe(429);
  });
});
