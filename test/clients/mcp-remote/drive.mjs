import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  agree,
  authorization,
  confirmByElicitation,
  expectPrompt,
  expectSubmission,
  expectTools,
  programId,
  report,
  scriptOf,
  submission,
  submissionUri,
  until,
  url,
} from "../driving.mjs";

// A host that starts mcp-remote, as `programme-mcp config claude-desktop --http` writes it down.
const client = new Client({ name: "host", version: "1.0.0" }, { capabilities: { elicitation: {} } });
const [questions, updated] = [[], []];
client.setRequestHandler(ElicitRequestSchema, ({ params }) => agree(params, questions));
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri));
const script = scriptOf(import.meta.dirname, "mcp-remote/dist/proxy.js");
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [script, url, "--header", `Authorization:\${AUTHORIZATION}`],
    env: { ...process.env, AUTHORIZATION: authorization },
    stderr: "ignore",
  }),
);
expectTools((await client.listTools()).tools.map(({ name }) => name));
const { submissionId } = submission;
expectSubmission(await client.callTool({ name: "get_submission", arguments: { submissionId } }));
expectSubmission((await client.readResource({ uri: submissionUri })).contents);
expectPrompt(await client.getPrompt({ name: "triage_new_submissions", arguments: { programId } }));
await client.subscribeResource({ uri: submissionUri });
const call = (args) => client.callTool({ name: "withdraw_submission", arguments: args });
const write = await confirmByElicitation(call, questions);
await until(() => updated.includes(submissionUri));
report({ list: "yes", read: "yes", write, resource: "yes", prompt: "yes", subscription: "yes" });
