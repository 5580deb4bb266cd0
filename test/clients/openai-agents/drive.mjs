import { MCPServerStdio, MCPServerStreamableHttp } from "@openai/agents";
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
  submission,
  submissionUri,
  url,
} from "../driving.mjs";

const server =
  over === "HTTP"
    ? new MCPServerStreamableHttp({ url, requestInit: { headers: { authorization } } })
    : new MCPServerStdio({ command, args, env });
await server.connect();
expectTools((await server.listTools()).map(({ name }) => name));
const { submissionId } = submission;
expectSubmission(await server.callTool("get_submission", { submissionId }));
expectSubmission((await server.readResource(submissionUri)).contents);
const write = await confirmBySecondCall((input) => server.callToolResult("withdraw_submission", input));
report({
  ...{ list: "yes", read: "yes", write, resource: "yes" },
  ...{ prompt: "no: its servers have no such call", subscription: "no: its servers have no such call" },
});
