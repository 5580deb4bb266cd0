import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import {
  args,
  authorization,
  command,
  env,
  expectPrompt,
  expectQuestion,
  expectSubmission,
  expectTools,
  over,
  programId,
  report,
  run,
  scriptOf,
  submission,
  submissionUri,
  url,
  withdrawal,
} from "../driving.mjs";
import { openModel } from "./model.mjs";

const script = scriptOf(import.meta.dirname, "@anthropic-ai/claude-code/cli-wrapper.cjs");
const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" };
const claude = (words, environment) => run(process.execPath, [script, ...words], { ...quiet, ...environment });

const server =
  over === "HTTP"
    ? { type: "http", url, headers: { Authorization: authorization } }
    : { type: "stdio", command, args, env };
await claude(["mcp", "add-json", "--scope", "user", "programme", JSON.stringify(server)]);
assert.match(await claude(["mcp", "list"]), /programme: .*Connected/);
assert.match(await claude(["mcp", "get", "programme"]), /Connected/);

// Without a terminal Claude Code has nobody to ask: a hook of its own answers what would be shown there.
const asked = `${process.env.HOME}/question.json`;
const yes = { hookSpecificOutput: { hookEventName: "Elicitation", action: "accept", content: { confirm: true } } };
const hook = { type: "command", command: `cat > '${asked}'; echo '${JSON.stringify(yes)}'` };
const settings = JSON.stringify({ hooks: { Elicitation: [{ hooks: [hook] }] } });

/** Has Claude Code work for a model that makes these calls; gives what the model was offered, shown and answered. */
async function work(prompt, calls = []) {
  const model = await openModel(calls);
  const environment = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "none", ENABLE_TOOL_SEARCH: "false" };
  const allowed = ["--allowedTools", "mcp__programme", "ReadMcpResourceTool"];
  await claude(["-p", prompt, "--settings", settings, ...allowed], environment);
  assert.equal(model.results.length, calls.length);
  return model;
}

const tool = (name, input) => ({ name: `mcp__programme__${name}`, input });
const { offered, results } = await work("Look", [
  tool("get_submission", { submissionId: submission.submissionId }),
  { name: "ReadMcpResourceTool", input: { server: "programme", uri: submissionUri } },
]);
expectTools(offered.flatMap((name) => name.split("mcp__programme__").slice(1)));
for (const result of results) expectSubmission(result);
expectPrompt((await work(`/mcp__programme__triage_new_submissions ${programId}`)).shown);
const {
  results: [withdrawn],
} = await work("Withdraw", [tool("withdraw_submission", withdrawal)]);
expectQuestion(JSON.parse(await readFile(asked, "utf8")).message);
assert.match(withdrawn, /WITHDRAWN/);
report({
  ...{ list: "yes", read: "yes", write: "asks its human", resource: "yes", prompt: "yes" },
  subscription: "no: its model has no tool for it",
});
