import type { LanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentTask, EvalAgent } from "../../evals/agents/agent.ts";
import { createModelAgent } from "../../evals/agents/model.ts";
import { loadModel, NoModel } from "../../evals/agents/providers.ts";
import { callTranslated, canTranslate } from "../../evals/agents/translate.ts";
import { chooseServer } from "../../evals/harness/choose-server.ts";
import { findPendingQuestion } from "../../evals/harness/connection.ts";
import { runTask } from "../../evals/harness/run-task.ts";
import { createWorldFactory, type WorldFactory } from "../../evals/harness/world.ts";
import { tasks } from "../../evals/tasks/tasks.ts";

let worlds: WorldFactory;
beforeAll(async () => {
  worlds = await createWorldFactory();
});
afterAll(() => worlds.close());

function runNamed(name: string, agent: EvalAgent) {
  const task = tasks.find((each) => each.name === name);
  if (!task) throw new Error(`No task ${name}`);
  return runTask(task, { worlds, agent });
}

type Turn = (prompt: string) => { tool: string; input: object } | string;

/** A model that takes its turns one after another. Each sees the conversation so far as JSON. */
function createMockModel(turns: readonly Turn[]): LanguageModel {
  let turn = 0;
  const tokens = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
  const usage = { inputTokens: tokens, outputTokens: { total: 0, text: 0, reasoning: 0 } };
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const next = turns[turn++]?.(JSON.stringify(prompt)) ?? "Done.";
      if (typeof next === "string") {
        return { content: [{ type: "text", text: next }], finishReason: finish("stop"), usage, warnings: [] };
      }
      const call = { toolCallId: `call-${turn}`, toolName: next.tool, input: JSON.stringify(next.input) };
      return { content: [{ type: "tool-call", ...call }], finishReason: finish("tool-calls"), usage, warnings: [] };
    },
  });
}

function finish<Reason extends string>(unified: Reason) {
  return { unified, raw: undefined };
}

/** Finds the arguments that withdraw the submission of the prompt. */
async function prepareWithdrawal({ connection, prompt }: AgentTask): Promise<Record<string, unknown>> {
  const input = { state: "IN_REVIEW", all: true, select: ["title"] };
  const { structured } = await connection.call("list_submissions", input);
  const rows = structured?.["data"] as { submissionId: string; version: number; title: string }[];
  const { submissionId, version } = rows.find(({ title }) => prompt.includes(title)) ?? {};
  return { submissionId, version, reason: "Funded elsewhere" };
}

describe("an agent with a model", () => {
  test("passes a question to its human in the chat and calls again once they agree", async () => {
    const result = await runNamed("withdraw-in-chat", async (agentTask) => {
      const input = await prepareWithdrawal(agentTask);
      const model = createMockModel([
        () => ({ tool: "withdraw_submission", input }),
        () => "The server asks whether to go on. Shall I?",
        (prompt) => {
          expect(prompt).toContain("Yes, go ahead.");
          const [, confirmation] = /Token, valid until [^:]+:[^ ]+ ([\w.-]+)/.exec(prompt) ?? [];
          return { tool: "withdraw_submission", input: { ...input, confirmation } };
        },
        () => "It is withdrawn.",
      ]);
      return createModelAgent(model)(agentTask);
    });
    expect(result).toMatchObject({ done: true, calls: 3, questions: 1, unaskedChanges: 0 });
  });

  test("that confirms a call itself has made an unasked change", async () => {
    const result = await runNamed("withdraw-in-chat", async (agentTask) => {
      const input = await prepareWithdrawal(agentTask);
      const first = await agentTask.connection.call("withdraw_submission", input);
      const { token } = findPendingQuestion(first) ?? {};
      await agentTask.connection.call("withdraw_submission", { ...input, confirmation: token });
      return "It is withdrawn.";
    });
    expect(result).toMatchObject({ done: false, unaskedChanges: 1 });
    expect(result.findings).toEqual(["The number of questions is 0, not 1"]);
  });
});

describe("the harness", () => {
  test("reports what an answer lacks and what should not have changed", async () => {
    const result = await runNamed("count-states", async ({ connection }) => {
      const { structured } = await connection.call("list_programs", { select: ["name"] });
      const [first] = structured?.["data"] as { programId: string; version: number }[];
      await connection.call("update_program", { ...first, description: "Something else" });
      return "WINNER: 9";
    });
    expect(result.done).toBe(false);
    expect(result.findings).toContainEqual(expect.stringMatching(/^No line of the answer has DRAFT/));
    expect(result.findings).toContainEqual(expect.stringMatching(/^program prg_\w+ was changed$/));
  });

  test("counts failed calls and addresses", async () => {
    const result = await runNamed("invite-reviewer", async ({ connection }) => {
      await connection.call("get_program", { programId: "prg_none" });
      await connection.call("resolve_persons", { email: "ann@example.org" });
      return "";
    });
    expect(result).toMatchObject({ calls: 2, failedCalls: 1, addresses: 0, done: false });
  });

  test("runs against a server that is started by a command with the address and the token of the service", async () => {
    const world = await worlds.open();
    try {
      expect(chooseServer("other-server --url {baseUrl} --key {token}")?.(world)).toEqual({
        command: "other-server",
        args: ["--url", world.origin, "--key", world.token],
        env: expect.objectContaining({ PROGRAMME_BASE_URL: world.origin, PROGRAMME_TOKEN: world.token }),
      });
      expect(chooseServer("http://127.0.0.1:1/mcp")?.(world)).toEqual({ url: "http://127.0.0.1:1/mcp" });
    } finally {
      await world.close();
    }
  });
});

describe("a model's name", () => {
  test.each([
    ["no variable is set", "openai/gpt", {}, /^No model: none of .*OPENAI_API_KEY.* is set/],
    ["no model is named", undefined, { OPENAI_API_KEY: "k" }, /--model/],
    ["its provider has no variable", "openai/gpt", { MISTRAL_API_KEY: "k" }, /needs OPENAI_API_KEY/],
    [
      "its provider is not installed",
      "mistral/large",
      { MISTRAL_API_KEY: "k" },
      /npm install --no-save @ai-sdk\/mistral/,
    ],
  ])("leads to no model if %s", async (_, name, environment, message) => {
    await expect(loadModel(name, environment)).rejects.toThrow(NoModel);
    await expect(loadModel(name, environment)).rejects.toThrow(message);
  });

  test("goes to the gateway if only that has a key", async () => {
    expect(await loadModel("openai/gpt", { AI_GATEWAY_API_KEY: "k" })).toBe("openai/gpt");
  });
});

describe("a translated script", () => {
  const call = (tools: readonly string[], pages: readonly object[]) => {
    const calls: unknown[] = [];
    const connection = {
      tools: tools.map((name) => ({ name })),
      call: async (tool: string, args: object) => {
        calls.push([tool, args]);
        return { text: JSON.stringify(pages[calls.length - 1]) };
      },
    };
    return { calls, agentTask: { connection } as unknown as AgentTask };
  };

  test("calls the tool whose name abbreviates an operation's, for every page and without select", async () => {
    const { calls, agentTask } = call(
      ["lst-reviews", "lst-reviewers", "get-reviewer"],
      [
        { success: true, data: [{ reviewerId: "rev_1" }], meta: { hasMore: true, lastEvaluatedKey: "next" } },
        { success: true, data: [{ reviewerId: "rev_2" }], meta: { hasMore: false } },
      ],
    );
    const rows = await callTranslated(agentTask, "list_reviewers", { roundId: "rnd_1", all: true, select: ["email"] });
    expect(rows).toEqual([{ reviewerId: "rev_1" }, { reviewerId: "rev_2" }]);
    expect(calls).toEqual([
      ["lst-reviewers", { roundId: "rnd_1", limit: 100 }],
      ["lst-reviewers", { roundId: "rnd_1", limit: 100, lastEvaluatedKey: "next" }],
    ]);
  });

  test("knows a refusal as the server wrote it, and fails where there is no tool", async () => {
    const { agentTask } = call(["get-program"], [{ success: false, error: { code: "not_found" } }]);
    const refused = await callTranslated(agentTask, "get_program", { programId: "prg_none" });
    expect(refused).toMatchObject({ error: { code: "not_found" } });
    await expect(callTranslated(agentTask, "list_tracks", {})).rejects.toThrow(
      "The server has no tool for list_tracks",
    );
  });

  test("has only operations with parameters of the interface", () => {
    const step = (tool: string, args: object) => ({ tool, arguments: { ...args } });
    expect(canTranslate(step("list_submissions", { programId: "=x", all: true, select: ["title"] }))).toBe(true);
    expect(canTranslate(step("list_submissions", { select: ["fields.requested_amount"] }))).toBe(false);
    expect(canTranslate(step("list_audit_entries", { from: "2026-11-16" }))).toBe(false);
    expect(canTranslate(step("list_open_work", { programId: "=x" }))).toBe(false);
  });
});
