import { readFileSync } from "node:fs";
import { operationNames, operations } from "../src/contract/index.ts";

const { name, version, description, license, engines } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { name: string; version: string; description: string; license: string; engines: { node: string } };

/** `manifest.json` of the desktop bundle: what starts the server, what its user is asked for, and its tools. */
export function manifest(): string {
  const content = {
    manifest_version: "0.4",
    name,
    display_name: "Programme",
    version,
    description,
    author: { name },
    license,
    server: {
      type: "node",
      entry_point: "dist/main.js",
      mcp_config: {
        command: "node",
        args: [`\${__dirname}/dist/main.js`],
        // By environment, never by argument: other users can see a process's arguments.
        env: { PROGRAMME_TOKEN: `\${user_config.token}`, PROGRAMME_BASE_URL: `\${user_config.base_url}` },
      },
    },
    user_config: {
      token: {
        type: "string",
        title: "Access token",
        description: "64 hexadecimal digits; without one, demonstration data is served.",
        sensitive: true,
        required: false,
        default: "",
      },
      base_url: {
        type: "string",
        title: "Base address",
        description: "Of the product's own service; empty for the embedded one.",
        required: false,
        default: "",
      },
    },
    compatibility: { runtimes: { node: engines.node } },
    tools: operationNames.map((tool) => ({ name: tool, description: operations[tool].summary })),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}
