import { describe, expect, onTestFinished, test } from "vitest";
import { clients, readConfirmation, readData, readError, type ToolResult } from "../../support/clients/clients.ts";
import { sendToolCall } from "../../support/clients/raw-http.ts";
import { openTestServer } from "../../support/servers/test-server.ts";

interface Sent {
  readonly inputResponses?: unknown;
  readonly requestState?: unknown;
}

/** A server with submissions in review, and a caller that keeps the state of questions of 2026-07-28 itself. */
async function openSetup() {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: "ask" });
  onTestFinished(close);
  const token = await server.token();
  const seeds = [1, 2, 3].map(() => server.seed.submission({ state: "IN_REVIEW" }));
  const calls = (await Promise.all(seeds)).map(({ submissionId, version }) => ({
    tool: "eliminate_submission",
    arguments: { submissionId, version, reason: "Out of scope" },
  }));
  const readStates = async () => {
    const reader = server.app.store.reader(server.businessId);
    const rows = calls.map((call) => reader.get("submissions", call.arguments.submissionId));
    return (await Promise.all(rows)).map((row) => row?.state);
  };
  const send = async (name: string, args: object, answer: Sent = {}): Promise<Record<string, unknown>> => {
    const params = { name, arguments: args, ...answer };
    return (await sendToolCall(server, token, params, { capabilities: { elicitation: { form: {} } } })).body.result;
  };
  return { server, token, calls, send, readStates };
}

const reply = (action: string, content?: object) => ({ inputResponses: { confirm: { action, content } } });
const yes = reply("accept", { confirm: true });
const codeOf = (result: object) => readError(result as ToolResult).code;

describe("a question of 2026-07-28 that a human answered", () => {
  test.each([
    ["no", reply("accept", { confirm: false, reason: "Wait" })],
    ["by declining it", reply("decline")],
    ["by closing it", reply("cancel")],
  ])("%s cannot be answered with yes afterwards", async (_, answer) => {
    const { server, calls, send, readStates } = await openSetup();
    const [{ tool, arguments: args }] = calls as [(typeof calls)[number]];
    const { requestState } = await send(tool, args);
    expect(codeOf(await send(tool, args, { ...answer, requestState }))).toBe("confirmation_declined");
    expect(codeOf(await send(tool, args, { ...yes, requestState }))).toBe("confirmation_invalid");
    expect(await readStates()).toEqual(Array(3).fill("IN_REVIEW"));
    expect(await server.outbox()).toEqual([]);
    // Another question can be.
    const { requestState: another } = await send(tool, args);
    expect(readData((await send(tool, args, { ...yes, requestState: another })) as never)).toMatchObject({
      state: "ELIMINATED",
    });
  });

  test("no stays open for the answer to another question", async () => {
    const { calls, send, readStates } = await openSetup();
    const [first, second] = calls as [(typeof calls)[number], (typeof calls)[number]];
    const { requestState } = await send(first.tool, first.arguments);
    const { requestState: other } = await send(second.tool, second.arguments);
    const no = { ...reply("decline"), requestState: other };
    expect(codeOf(await send(first.tool, first.arguments, no))).toBe("confirmation_declined");
    expect(await send(first.tool, first.arguments, { ...yes, requestState })).not.toHaveProperty("isError", true);
    expect(await send(second.tool, second.arguments, { ...yes, requestState: other })).not.toHaveProperty(
      "isError",
      true,
    );
    expect(await readStates()).toEqual(["ELIMINATED", "ELIMINATED", "IN_REVIEW"]);
  });

  test("no cannot be passed as a confirmation either", async () => {
    const { server, token, calls, send, readStates } = await openSetup();
    const [{ tool, arguments: args }] = calls as [(typeof calls)[number]];
    const { requestState: confirmation } = await send(tool, args);
    await send(tool, args, { ...reply("decline"), requestState: confirmation });
    const client = await (clients["2026-07-28 over HTTP"] as (typeof clients)[string])(server, token);
    expect(readError(await client.call(tool, { ...args, confirmation })).code).toBe("confirmation_invalid");
    expect(readConfirmation(await client.call(tool, args)).token).not.toBe(confirmation);
    expect(await readStates()).toEqual(Array(3).fill("IN_REVIEW"));
  });
});

describe("the question of a batch that a human answered", () => {
  test("no cannot be answered with yes afterwards", async () => {
    const { server, calls, send, readStates } = await openSetup();
    const { requestState } = await send("run_batch", { calls });
    expect(codeOf(await send("run_batch", { calls }, { ...reply("decline"), requestState }))).toBe(
      "confirmation_declined",
    );
    await send("run_batch", { calls }, { ...yes, requestState });
    expect(await readStates()).toEqual(Array(3).fill("IN_REVIEW"));
    expect(await server.outbox()).toEqual([]);
  });

  test("with yes but for one call leaves that call out for good", async () => {
    const { calls, send, readStates } = await openSetup();
    const { requestState } = await send("run_batch", { calls });
    const inReview = ["ELIMINATED", "IN_REVIEW", "ELIMINATED"];
    await send("run_batch", { calls }, { ...reply("accept", { confirm: true, except: "2" }), requestState });
    expect(await readStates()).toEqual(inReview);
    await send("run_batch", { calls }, { ...yes, requestState });
    expect(await readStates()).toEqual(inReview);
  });

  test("with words that could not be read is asked again, and then only the second answer counts", async () => {
    const { calls, send, readStates } = await openSetup();
    const { requestState } = await send("run_batch", { calls });
    const unreadable = reply("accept", { confirm: true, except: "the second" });
    const again = await send("run_batch", { calls }, { ...unreadable, requestState });
    expect(again).toMatchObject({ resultType: "input_required" });
    await send("run_batch", { calls }, { ...yes, requestState });
    expect(await readStates()).toEqual(Array(3).fill("IN_REVIEW"));
    const { requestState: second } = again;
    await send("run_batch", { calls }, { ...reply("accept", { confirm: true, except: "2" }), requestState: second });
    expect(await readStates()).toEqual(["ELIMINATED", "IN_REVIEW", "ELIMINATED"]);
  });
});
