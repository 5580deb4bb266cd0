import { createRequire } from "node:module";
import {
  accessToken,
  confirmBySecondCall,
  expectSubmission,
  expectTools,
  report,
  scriptOf,
  submission,
  url,
} from "../driving.mjs";

const require = createRequire(import.meta.url);
const { McpClient } = require(scriptOf(import.meta.dirname, "package/dist/nodes/mcp/McpClient/McpClient.node.js"));
const { passthroughEgressFilter } = require("@n8n/backend-network/egress");

const node = new McpClient();

/** The values that n8n hands a node which it runs: its parameters, credentials and items. */
function context(parameters = {}) {
  const given = { serverTransport: "httpStreamable", authentication: "bearerAuth", endpointUrl: url, ...parameters };
  return {
    getNodeParameter: (name, _item, fallback) => given[name] ?? fallback,
    getNode: () => ({ name: "MCP Client", type: "mcpClient", typeVersion: node.description.defaultVersion }),
    getInputData: () => [{ json: {} }],
    getCredentials: async () => ({ token: accessToken }),
    getExecutionCancelSignal: () => undefined,
    continueOnFail: () => false,
    helpers: { getSecureEgressFilter: () => passthroughEgressFilter },
  };
}

async function call(name, input) {
  const parameters = { inputMode: "json", "tool.value": name, jsonInput: input, options: {} };
  const [[item]] = await node.execute.call(context(parameters));
  return item.json;
}

const { results } = await node.methods.listSearch.getTools.call(context());
expectTools(results.map(({ value }) => value));
const { submissionId } = submission;
expectSubmission(await call("get_submission", { submissionId }));
const write = await confirmBySecondCall((input) => call("withdraw_submission", input));
const none = "no: the node calls tools only";
report({ list: "yes", read: "yes", write, resource: none, prompt: none, subscription: none });
