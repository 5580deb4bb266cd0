import { formatPrompt, type PromptDefinition, promptDefinitions } from "../src/resources/prompt-texts.ts";
import { getToolDefinition, toolNames } from "../src/tools/catalog/definitions.ts";
import { type HostSetting, hostSettings } from "./host-settings.ts";
import { displayName, packageFacts, site } from "./package-facts.ts";

const entryPoint = "dist/main.js";

/** Renders `manifest.json` of the desktop bundle (MCPB 0.4): the server's start, its settings and its tools. */
export function manifest(): string {
  const { name, version, description, keywords, license, engines } = packageFacts;
  const content = {
    manifest_version: "0.4",
    name,
    display_name: displayName,
    version,
    description,
    long_description: longDescription,
    author: { name: `The ${name} authors`, url: site },
    homepage: site,
    documentation: `${site}/docs`,
    support: `${site}/support`,
    icon: "icon.png",
    server: {
      type: "node",
      entry_point: entryPoint,
      mcp_config: {
        command: "node",
        args: [`\${__dirname}/${entryPoint}`, "stdio"],
        // Passed by environment, because other users can see a process's arguments.
        env: Object.fromEntries(hostSettings.map(({ key, setting }) => [setting.variable, `\${user_config.${key}}`])),
      },
    },
    tools: toolNames.map(getToolDefinition).map((tool) => ({ name: tool.name, description: tool.description })),
    // The actual tools depend on scopes and settings.
    tools_generated: true,
    prompts: promptDefinitions.map(promptOf),
    prompts_generated: true,
    keywords,
    license,
    privacy_policies: [`${site}/privacy`],
    compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: engines.node } },
    user_config: Object.fromEntries(hostSettings.map(userConfigOf)),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

const longDescription = [
  "Lets an assistant run calls for applications: programmes with tracks and review rounds, submissions, reviewers and their reviews, decisions, feedback, payments, e-mail and exports.",
  "With the address of a service and an access token, it works on that service within the token's scopes. Without an address, it uses an embedded service, which keeps everything on this computer and starts with demonstration data.",
  "Calls that destroy, send or cannot be undone show a preview and wait for your confirmation. The model sees handles instead of e-mail addresses and phone numbers. Until you change the settings, only tools that change nothing are offered.",
].join("\n\n");

function userConfigOf({ key, title, description, sensitive, initial }: HostSetting) {
  const type = typeof initial === "boolean" ? "boolean" : "string";
  const secret = sensitive ? { sensitive } : {};
  return [key, { type, title, description, ...secret, required: false, default: initial }];
}

/** Describes a prompt. Its text depends on records, so placeholders stand for its arguments. */
function promptOf(definition: PromptDefinition) {
  const names = definition.arguments.filter(({ required }) => required).map((argument) => argument.name);
  const given = Object.fromEntries(names.map((name) => [name, `\${arguments.${name}}`]));
  const text = formatPrompt(definition, { program: undefined, round: undefined, args: given, canUse: () => true });
  return { name: definition.name, description: definition.description, arguments: names, text };
}
