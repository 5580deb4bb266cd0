import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { parsePositions } from "../../../src/tools/batch/batch-arguments.ts";
import {
  clients,
  type HumanReply,
  readConfirmation,
  readError,
  type ToolResult,
} from "../../support/clients/clients.ts";
import { ownDatabase } from "../../support/database/database.ts";
import { openTestServer } from "../../support/servers/test-server.ts";

interface Row {
  readonly call: number;
  readonly tool: string;
  readonly status: string;
  readonly data?: Record<string, unknown>;
  readonly error?: { readonly code: string; readonly details?: { readonly issues?: { readonly path: string }[] } };
}

const readRows = (result: ToolResult) => result.structuredContent?.data as unknown as Row[];

/** A server with submissions in review, and the calls that eliminate them. */
async function openBatch(count: number, environment: Record<string, string> = {}) {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: "ask", ...environment });
  onTestFinished(close);
  const place = await server.seed.round();
  const { roundId: currentRoundId, programId, trackId } = place;
  const at = { programId, trackId, currentRoundId, state: "IN_REVIEW" } as const;
  const submissions = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      server.seed.submission({ ...at, title: `Project number ${index + 1}` }),
    ),
  );
  const calls = submissions.map(({ submissionId, version }) => ({
    tool: "eliminate_submission",
    arguments: { submissionId, reason: "Out of scope", version },
  }));
  const readStates = async () => {
    const reader = server.app.store.reader(server.businessId);
    const rows = await Promise.all(submissions.map(({ submissionId }) => reader.get("submissions", submissionId)));
    return rows.map((row) => row?.state);
  };
  const countAudit = async () => {
    const { rows } = await server.app.store.reader(server.businessId).pageAudit({}, { limit: 200 });
    return rows.length;
  };
  return { server, calls, submissions, readStates, countAudit, token: await server.token() };
}

describe.each(Object.entries(clients))("a batch called by a client of %s", (_, connect) => {
  test("asks one question that lists every change, and makes all calls after one yes", async () => {
    const { server, calls, token, readStates } = await openBatch(4);
    const questions: string[] = [];
    const client = await connect(server, token, async (question) => {
      questions.push(question);
      expect(await readStates()).toEqual(Array(4).fill("IN_REVIEW"));
      return { action: "accept", content: { confirm: true } };
    });
    const result = await client.call("run_batch", { calls });
    expect(questions).toHaveLength(1);
    expect(questions[0]).toMatch(/^Make 4 changes \(4 × eliminate_submission\)\?\n1\. Eliminate submission /);
    for (const number of [1, 2, 3, 4]) expect(questions[0]).toContain(`“Project number ${number}”`);
    expect(readRows(result).map(({ status }) => status)).toEqual(Array(4).fill("done"));
    expect(result.content[0]?.text).toMatch(/^4 calls: 4 done\n/);
    expect(await readStates()).toEqual(Array(4).fill("ELIMINATED"));
    expect(await server.outbox()).toHaveLength(4);
  });

  test("leaves out the calls that the human names", async () => {
    const { server, calls, token, readStates } = await openBatch(4);
    const replies: HumanReply[] = [
      { action: "accept", content: { confirm: true, except: "the third" } },
      { action: "accept", content: { confirm: true, except: "3" } },
    ];
    const questions: string[] = [];
    const client = await connect(server, token, (question) => {
      questions.push(question);
      return replies.shift() ?? { action: "cancel" };
    });
    let result = await client.call("run_batch", { calls });
    // A stateless client gets the second question only when it calls again.
    if (result.isError) result = await client.call("run_batch", { calls });
    expect(questions.at(-1)).toMatch(/^What to leave out could not be read/);
    expect(readRows(result).map(({ status }) => status)).toEqual(["done", "done", "left_out", "done"]);
    expect(await readStates()).toEqual(["ELIMINATED", "ELIMINATED", "IN_REVIEW", "ELIMINATED"]);
  });

  test("does nothing when the human declines, and tells the reason", async () => {
    const { server, calls, token, readStates } = await openBatch(2);
    const content = { confirm: false, reason: "After the board" };
    const client = await connect(server, token, () => ({ action: "accept", content }));
    const result = await client.call("run_batch", { calls });
    expect(readError(result)).toMatchObject({ code: "confirmation_declined", details: { reason: "After the board" } });
    expect(await readStates()).toEqual(["IN_REVIEW", "IN_REVIEW"]);
    expect(await server.outbox()).toEqual([]);
  });

  test("is confirmed by a second call where the client cannot ask, once and for these calls alone", async () => {
    const { server, calls, token, readStates } = await openBatch(3);
    const client = await connect(server, token);
    const { question, token: confirmation } = readConfirmation(await client.call("run_batch", { calls }));
    expect(question).toContain("3 × eliminate_submission");
    expect(await readStates()).toEqual(Array(3).fill("IN_REVIEW"));
    const fewer = await client.call("run_batch", { calls: calls.slice(1), confirmation });
    expect(readError(fewer).code).toBe("confirmation_invalid");
    const result = await client.call("run_batch", { calls, confirmation, except: [2] });
    expect(readRows(result).map(({ status }) => status)).toEqual(["done", "left_out", "done"]);
    const again = await client.call("run_batch", { calls, confirmation });
    expect(readRows(again).map(({ status, error }) => error?.code ?? status)).toEqual([
      "version_conflict",
      "done",
      "version_conflict",
    ]);
    const third = await client.call("run_batch", { calls, confirmation });
    expect(readRows(third).every(({ status }) => status === "failed")).toBe(true);
    expect(await server.outbox()).toHaveLength(3);
  });
});

const connect = clients["2026-07-28 over HTTP"] as (typeof clients)[string];

describe("a batch", () => {
  test("refuses all calls that ask in mode human where the client cannot ask", async () => {
    const { server, calls, token, readStates } = await openBatch(2, { PROGRAMME_CONFIRM: "human" });
    const client = await connect(server, token);
    for (const more of [{}, { confirmation: "a.b.c.d" }])
      expect(readError(await client.call("run_batch", { calls, ...more })).code).toBe("confirmation_unavailable");
    expect(await readStates()).toEqual(["IN_REVIEW", "IN_REVIEW"]);
  });

  test("makes each call as it is made alone: same refusals, same hints, an audit entry each", async () => {
    const { server, calls, submissions, token, countAudit } = await openBatch(2, { PROGRAMME_CONFIRM: "off" });
    const client = await connect(server, token);
    const [first, second] = calls;
    const wrong = [
      { tool: "eliminate_submission", arguments: { ...second?.arguments, version: 7 } },
      { tool: "eliminate_submission", arguments: { ...second?.arguments, reason: undefined } },
      { tool: "get_submision" },
      { tool: "run_batch", arguments: { calls } },
      { tool: "get_submission", arguments: { submissionId: submissions[1]?.submissionId, select: ["title"] } },
    ];
    const result = await client.call("run_batch", { calls: [first, ...wrong] });
    const rows = readRows(result);
    expect(rows.map(({ status, error }) => error?.code ?? status)).toEqual([
      "done",
      "version_conflict",
      "validation_failed",
      "validation_failed",
      "validation_failed",
      "done",
    ]);
    expect(rows[2]?.error?.details?.issues?.[0]?.path).toBe("reason");
    expect(rows[3]?.error?.details?.issues?.[0]?.path).toBe("tool");
    expect(rows[5]?.data).toMatchObject({ title: "Project number 2" });
    const alone = await client.call("eliminate_submission", { ...second?.arguments, version: 7 });
    expect(rows[1]?.error).toEqual(readError(alone));
    expect(await countAudit()).toBe(1);
  });

  test("stops at the first refusal if the caller wants that", async () => {
    const { server, calls, token, readStates } = await openBatch(3, { PROGRAMME_CONFIRM: "off" });
    const client = await connect(server, token);
    const [first, second, third] = calls;
    const stale = { tool: "eliminate_submission", arguments: { ...second?.arguments, version: 9 } };
    const result = await client.call("run_batch", { calls: [first, stale, third], stopOnError: true });
    expect(readRows(result).map(({ status }) => status)).toEqual(["done", "failed", "not_run"]);
    expect(result.structuredContent?.notes).toContainEqual(expect.stringMatching(/^Call 2 failed/));
    expect(await readStates()).toEqual(["ELIMINATED", "IN_REVIEW", "IN_REVIEW"]);
  });

  test("asks only for what needs an agreement and names what would be refused", async () => {
    const { server, calls, submissions, token } = await openBatch(2);
    const client = await connect(server, token);
    const read = { tool: "get_submission", arguments: { submissionId: submissions[0]?.submissionId } };
    const stale = { tool: "eliminate_submission", arguments: { ...calls[1]?.arguments, version: 9 } };
    const { question } = readConfirmation(await client.call("run_batch", { calls: [read, calls[0], stale] }));
    expect(question).toMatch(/^Make 1 change /);
    expect(question).toContain("1 call without need of an agreement");
    expect(question).toContain("3 (version_conflict)");
    const reads = await client.call("run_batch", { calls: [read, read] });
    expect(readRows(reads).map(({ status }) => status)).toEqual(["done", "done"]);
  });

  test("does not make a call whose record changed after the yes", async () => {
    const { server, calls, submissions, token, readStates } = await openBatch(2);
    const client = await connect(server, token);
    const { token: confirmation } = readConfirmation(await client.call("run_batch", { calls }));
    const [changed] = submissions;
    if (changed) await server.write((tx) => tx.update("submissions", changed, { title: "Another" }));
    const result = await client.call("run_batch", { calls, confirmation });
    expect(readRows(result).map(({ error, status }) => error?.code ?? status)).toEqual(["version_conflict", "done"]);
    expect(await readStates()).toEqual(["IN_REVIEW", "ELIMINATED"]);
  });

  test("is applied once when it is repeated with its idempotency key", async () => {
    const { server, calls, token } = await openBatch(2, { PROGRAMME_CONFIRM: "off" });
    const client = await connect(server, token);
    const meta = { "programme-mcp/idempotencyKey": "batch-of-today" };
    const send = () => client.call("run_batch", { calls }, { meta });
    const [first, second] = [await send(), await send()];
    expect(readRows(second).map(({ data }) => data)).toEqual(readRows(first).map(({ data }) => data));
    expect(await server.outbox()).toHaveLength(2);
  });

  test("is applied once when two processes receive it at the same time with one idempotency key", async () => {
    const environment = { PROGRAMME_DATABASE: await ownDatabase(), PROGRAMME_CONFIRM: "off" };
    const { server, calls, token, readStates, countAudit } = await openBatch(4, environment);
    const second = await openTestServer(environment, { clock: server.clock });
    onTestFinished(second.close);
    const meta = { "programme-mcp/idempotencyKey": "batch-of-today" };
    const agents = await Promise.all([server, second.server].map((each) => connect(each, token)));
    const before = await countAudit();
    const results = await Promise.all(agents.map((agent) => agent.call("run_batch", { calls }, { meta })));
    for (const result of results) expect(readRows(result).map(({ status }) => status)).toEqual(Array(4).fill("done"));
    expect(new Set(await readStates())).toEqual(new Set(["ELIMINATED"]));
    expect(await server.outbox()).toHaveLength(4);
    expect((await countAudit()) - before).toBe(4);
  });

  test("stops where the token's rate is used up and says where", async () => {
    const { server, submissions, token } = await openBatch(1, { PROGRAMME_REQUESTS_PER_MINUTE: "5" });
    const client = await connect(server, token);
    const read = { tool: "get_submission", arguments: { submissionId: submissions[0]?.submissionId } };
    const result = await client.call("run_batch", { calls: Array(8).fill(read) });
    const statuses = readRows(result).map(({ status, error }) => error?.code ?? status);
    const limitedAt = statuses.indexOf("rate_limited");
    expect(limitedAt).toBeGreaterThan(0);
    expect(new Set(statuses.slice(limitedAt + 1))).toEqual(new Set(["not_run"]));
    expect(result.structuredContent?.notes?.[0]).toContain(`at call ${limitedAt + 1}`);
  });

  test("runs up to 100 calls and refuses more before any of them", async () => {
    const { server, calls, token, readStates } = await openBatch(1, { PROGRAMME_CONFIRM: "off" });
    const client = await connect(server, token);
    const result = await client.call("run_batch", { calls: Array(101).fill(calls[0]) });
    expect(readError(result).code).toBe("validation_failed");
    expect(await readStates()).toEqual(["IN_REVIEW"]);
  });

  test("of fifty screenings needs one yes", async () => {
    const { server, calls, token, readStates } = await openBatch(50);
    let questionCount = 0;
    const progress: number[] = [];
    const client = await connect(server, token, () => {
      questionCount += 1;
      return { action: "accept", content: { confirm: true } };
    });
    const result = await client.call(
      "run_batch",
      { calls },
      { onprogress: (each) => void progress.push(each.progress) },
    );
    expect(questionCount).toBe(1);
    expect(readRows(result)).toHaveLength(50);
    expect(new Set(await readStates())).toEqual(new Set(["ELIMINATED"]));
    expect(progress.at(-1)).toBe(50);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });
});

describe("the numbers that a human leaves out", () => {
  test("are read as they were written", () => {
    const position = fc.integer({ min: 1, max: 100 });
    const part = fc.oneof(
      position.map((at) => ({ text: `${at}`, positions: [at] })),
      fc
        .tuple(position, position)
        .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
        .map(([first, last]) => ({
          text: `${first}-${last}`,
          positions: Array.from({ length: last - first + 1 }, (_, index) => first + index),
        })),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.constantFrom(", ", " ", ";", ","), (parts, separator) => {
        const parsed = parsePositions(parts.map(({ text }) => text).join(separator));
        expect(parsed).toEqual(new Set(parts.flatMap(({ positions }) => positions)));
      }),
    );
  });

  test.each(["three", "0", "101", "7-3", "1.5", "-2", "1--3"])("%s is not a number of a call", (text) => {
    expect(parsePositions(text)).toBeUndefined();
  });
});
