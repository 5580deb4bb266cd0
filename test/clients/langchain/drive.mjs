import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import {
  args,
  authorization,
  command,
  confirmBySecondCall,
  env,
  expectPrompt,
  expectSubmission,
  expectTools,
  over,
  programId,
  report,
  submission,
  submissionUri,
  until,
  url,
} from "../driving.mjs";

const updated = [];
const connection =
  over === "HTTP" ? { transport: "http", url, headers: { authorization } } : { transport: "stdio", command, args, env };
const adapters = new MultiServerMCPClient({
  mcpServers: { programme: connection },
  onResourcesUpdated: ({ uri }) => void updated.push(uri),
});
const tools = await adapters.getTools();
expectTools(tools.map(({ name }) => name));
const { submissionId } = submission;
const tool = (name) => tools.find((each) => each.name === name);
expectSubmission(await tool("get_submission").invoke({ submissionId }));
expectSubmission(await adapters.readResource("programme", submissionUri));
const client = await adapters.getClient("programme");
expectPrompt(await client.getPrompt({ name: "triage_new_submissions", arguments: { programId } }));
await client.subscribeResource({ uri: submissionUri });
const write = await confirmBySecondCall((input) => tool("withdraw_submission").invoke(input));
await until(() => updated.includes(submissionUri));
report({ list: "yes", read: "yes", write, resource: "yes", prompt: "yes", subscription: "yes" });
