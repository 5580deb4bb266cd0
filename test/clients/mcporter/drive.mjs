import { writeFile } from "node:fs/promises";
import {
  args,
  authorization,
  command,
  confirmBySecondCall,
  env,
  expectSubmission,
  expectTools,
  over,
  report,
  run,
  scriptOf,
  submission,
  submissionUri,
  url,
} from "../driving.mjs";

const config = `${process.env.HOME}/mcporter.json`;
const server = over === "HTTP" ? { url, headers: { Authorization: authorization } } : { command, args, env };
await writeFile(config, JSON.stringify({ mcpServers: { programme: server } }));
const script = scriptOf(import.meta.dirname, "mcporter/dist/cli.js");
const mcporter = (...words) => run(process.execPath, [script, "--config", config, ...words]);
const call = async (name, input) =>
  JSON.parse(await mcporter("call", `programme.${name}`, "--args", JSON.stringify(input), "--output", "json"));

expectTools(JSON.parse(await mcporter("list", "programme", "--json")).tools.map(({ name }) => name));
const { submissionId } = submission;
expectSubmission(await call("get_submission", { submissionId }));
expectSubmission(await mcporter("resource", "programme", submissionUri, "--output", "text"));
const write = await confirmBySecondCall(async (input) => ({
  structuredContent: await call("withdraw_submission", input),
}));
report({
  ...{ list: "yes", read: "yes", write, resource: "yes" },
  ...{ prompt: "no: it has no such command", subscription: "no: it has no such command" },
});
