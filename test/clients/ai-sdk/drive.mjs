import { createMCPClient, ElicitationRequestSchema } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import {
  agree,
  args,
  authorization,
  command,
  confirmByElicitation,
  env,
  expectPrompt,
  expectSubmission,
  expectTools,
  over,
  programId,
  report,
  submission,
  submissionUri,
  url,
} from "../driving.mjs";

const transport =
  over === "HTTP" ? { type: "http", url, headers: { authorization } } : new StdioTransport({ command, args, env });
const client = await createMCPClient({ transport, capabilities: { elicitation: {} } });
const questions = [];
client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => agree(params, questions));
const tools = await client.tools();
expectTools(Object.keys(tools));
const options = { toolCallId: "call", messages: [] };
const { submissionId } = submission;
expectSubmission(await tools.get_submission.execute({ submissionId }, options));
expectSubmission((await client.readResource({ uri: submissionUri })).contents);
expectPrompt(await client.getPrompt({ name: "triage_new_submissions", arguments: { programId } }));
const write = await confirmByElicitation((input) => tools.withdraw_submission.execute(input, options), questions);
const subscription = "no: its client has no such call";
report({ list: "yes", read: "yes", write, resource: "yes", prompt: "yes", subscription });
