import type {
  Host,
  HostLocation,
  HttpServerEntry,
  Json,
  JsonObject,
  Secret,
  ServerEntry,
  Settings,
  StdioServerEntry,
} from "./host.ts";
import { launchByNpx } from "./launch.ts";
import { createWorkflow } from "./n8n.ts";
import { resolveInAppData, resolveInConfig, resolveInHome, resolveInNamed } from "./paths.ts";

/** Placeholder for an unknown secret, if the host cannot refer to one. */
export const blank = "<access token>";

const toBraces = (variable: string) => `\${${variable}}`;
const toEnvBraces = (variable: string) => `\${env:${variable}}`;

/** Formats a secret for settings: its value, a reference to it, or a placeholder. */
function formatSecret(secret: Secret, reference: Host["reference"]): string {
  return secret.value ?? reference?.(secret.variable) ?? blank;
}

function createStartedEntry(
  { command, args, env, secret }: StdioServerEntry,
  reference: Host["reference"],
): JsonObject {
  return createLaunchedEntry(command, args, {
    ...env,
    ...(secret && { PROGRAMME_TOKEN: formatSecret(secret, reference) }),
  });
}

function createLaunchedEntry(command: string, args: readonly string[], env: JsonObject): JsonObject {
  return Object.keys(env).length === 0 ? { command, args } : { command, args, env };
}

function createBearerHeaders({ secret }: HttpServerEntry, reference: Host["reference"]): JsonObject {
  return { Authorization: `Bearer ${formatSecret(secret, reference)}` };
}

/** Returns the settings of most hosts: a command with arguments and environment, or an address with headers. */
function createUsualSettings(
  reference: Host["reference"],
  { stdio = {}, http = (url) => ({ url }) }: { stdio?: JsonObject; http?: (url: string) => JsonObject } = {},
) {
  return (server: ServerEntry): Settings => ({
    entry:
      server.kind === "stdio"
        ? { ...stdio, ...createStartedEntry(server, reference) }
        : { ...http(server.url), headers: createBearerHeaders(server, reference) },
  });
}

const typed = { stdio: { type: "stdio" }, http: (url: string) => ({ type: "http", url }) };

const noteExport = (label: string) => (variable: string) =>
  `Set ${variable} in the environment that ${label} starts in, or write the token into the file with --inline-token.`;

function noteBlank(label: string) {
  return () => `${label} cannot refer to an environment variable: the token itself stands in its settings.`;
}

/** Returns the settings of Claude Desktop, which only starts servers. It starts a bridge to reach others. */
function createBridgedSettings(server: ServerEntry): Settings {
  if (server.kind === "stdio") return { entry: createStartedEntry(server, undefined) };
  // On Windows a space in an argument would be lost, so the header's value is in the environment.
  const bridge = ["mcp-remote@0.15", server.url, "--header", `Authorization:${toBraces("AUTHORIZATION")}`];
  const { command, args } = launchByNpx(server.platform, bridge);
  return {
    entry: createLaunchedEntry(command, args, { AUTHORIZATION: `Bearer ${formatSecret(server.secret, undefined)}` }),
  };
}

const createInputId = (name: string) => `${name}-token`;

/** Returns the settings of VS Code, which asks for the secret once and stores it. */
function createPromptedSettings(server: ServerEntry, name: string): Settings {
  const createReference = () => `\${input:${createInputId(name)}}`;
  const { entry } = createUsualSettings(createReference, typed)(server);
  if (server.secret === undefined || server.secret.value !== undefined) return { entry };
  const description = "Access token of the programme service";
  return { entry, inputs: [{ type: "promptString", id: createInputId(name), description, password: true }] };
}

/** Returns the settings of Codex, which take the name of a variable and never `${…}`. */
function createCodexSettings(server: ServerEntry): Settings {
  const { secret } = server;
  if (server.kind === "http") {
    const { url } = server;
    if (server.secret.value !== undefined)
      return { entry: { url, http_headers: createBearerHeaders(server, undefined) } };
    return { entry: { url, bearer_token_env_var: server.secret.variable } };
  }
  if (secret === undefined || secret.value !== undefined) return { entry: createStartedEntry(server, undefined) };
  return { entry: { ...createLaunchedEntry(server.command, server.args, server.env), env_vars: [secret.variable] } };
}

/** Supported hosts, by their name on the command line. */
export const hosts = {
  "claude-desktop": {
    label: "Claude Desktop",
    format: "json",
    section: "mcpServers",
    file: (place) => resolveInAppData(place, "Claude", "claude_desktop_config.json"),
    reference: undefined,
    provide: noteBlank("Claude Desktop"),
    settings: createBridgedSettings,
    after: "Quit Claude Desktop and start it again.",
    starts: true,
  },
  "claude-code": {
    label: "Claude Code",
    format: "json",
    section: "mcpServers",
    file: (place) => resolveInNamed(place, "CLAUDE_CONFIG_DIR", [], ".claude.json"),
    reference: toBraces,
    provide: noteExport("claude"),
    settings: createUsualSettings(toBraces, typed),
    after: "Start claude again; /mcp shows the server.",
    starts: true,
  },
  cursor: {
    label: "Cursor",
    format: "json",
    section: "mcpServers",
    file: (place) => resolveInHome(place, ".cursor", "mcp.json"),
    reference: toEnvBraces,
    provide: noteExport("Cursor"),
    settings: createUsualSettings(toEnvBraces, { stdio: { type: "stdio" } }),
    after: "Cursor notices by itself; its settings for tools and MCP show the server.",
    limitsTools: true,
    starts: true,
  },
  vscode: {
    label: "VS Code",
    format: "json",
    section: "servers",
    file: (place) => resolveInAppData(place, "Code", "User", "mcp.json"),
    reference: (variable) => `\${input:${variable}}`,
    provide: () => "VS Code asks for the token when it first starts the server, and keeps it safe.",
    settings: createPromptedSettings,
    after: "Run MCP: List Servers in VS Code and start the server.",
    starts: true,
  },
  windsurf: {
    label: "Windsurf",
    format: "json",
    section: "mcpServers",
    file: (place) => resolveInHome(place, ".codeium", "windsurf", "mcp_config.json"),
    reference: toEnvBraces,
    provide: noteExport("Windsurf"),
    settings: createUsualSettings(toEnvBraces, { http: (serverUrl) => ({ serverUrl }) }),
    after: "Press Refresh in Windsurf's MCP settings.",
    limitsTools: true,
    starts: true,
  },
  zed: {
    label: "Zed",
    format: "json",
    section: "context_servers",
    file: (place) =>
      place.platform === "win32"
        ? resolveInAppData(place, "Zed", "settings.json")
        : place.platform === "darwin"
          ? resolveInHome(place, ".config", "zed", "settings.json")
          : resolveInConfig(place, "zed", "settings.json"),
    reference: undefined,
    provide: noteBlank("Zed"),
    settings: createUsualSettings(undefined),
    after: "Zed notices by itself; the agent panel's settings show the server.",
    starts: true,
  },
  codex: {
    label: "Codex",
    format: "toml",
    section: "mcp_servers",
    file: (place) => resolveInNamed(place, "CODEX_HOME", [".codex"], "config.toml"),
    reference: (variable) => variable,
    provide: noteExport("codex"),
    settings: createCodexSettings,
    after: "Start codex again; codex mcp list shows the server.",
    starts: true,
  },
  gemini: {
    label: "Gemini CLI",
    format: "json",
    section: "mcpServers",
    file: (place) => resolveInHome(place, ".gemini", "settings.json"),
    reference: toBraces,
    provide: noteExport("gemini"),
    settings: createUsualSettings(toBraces, { http: (url) => ({ type: "http", url }) }),
    after: "Start gemini again; gemini mcp list shows the server.",
    starts: true,
  },
  n8n: {
    label: "n8n",
    format: "json",
    section: "nodes",
    file: () => undefined,
    reference: (variable) => variable,
    provide: () => "In n8n make a credential of the kind Bearer Auth with the token, and choose it in the node.",
    settings: (server, name) => ({ entry: server.kind === "http" ? createWorkflow(server, name) : {} }),
    after: "Copy it and paste it onto a workflow's canvas, then connect it to an AI agent.",
    starts: false,
  },
} as const satisfies Record<string, Host>;

export type HostName = keyof typeof hosts;
export const listedHosts = Object.keys(hosts) as readonly HostName[];

/** Returns the environment variables of a server that a host starts. */
export function getHostEnvironment({ limitsTools }: Host): Readonly<Record<string, string>> {
  return limitsTools ? { PROGRAMME_TOOL_MODE: "jobs" } : {};
}

/** Returns a settings file that contains only this server, as data. */
export function createSettingsFile(host: Host, server: ServerEntry, name: string): JsonObject {
  const { entry, inputs } = host.settings(server, name);
  if (!host.starts) return entry;
  return { ...(inputs && { inputs: inputs as unknown as Json }), [host.section]: { [name]: entry } };
}

/** Returns the location of a host's settings on this machine. */
export function resolvePlace(env: HostLocation["env"], home: string): HostLocation {
  return { platform: process.platform, env, home };
}
