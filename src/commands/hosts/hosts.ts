import type { Host, HttpServer, Json, JsonObject, Place, Secret, Server, Settings, StdioServer } from "./host.ts";
import { byNpx } from "./launch.ts";
import { workflowOf } from "./n8n.ts";
import { inAppData, inConfig, inHome, inNamed } from "./paths.ts";

/** What stands for a secret that is not known, where the host has no way to refer to one. */
export const blank = "<access token>";

const braces = (variable: string) => `\${${variable}}`;
const envBraces = (variable: string) => `\${env:${variable}}`;

/** A secret as it stands in settings: itself, a reference to it, or a blank to fill in. */
function written(secret: Secret, reference: Host["reference"]): string {
  return secret.value ?? reference?.(secret.variable) ?? blank;
}

function started({ command, args, env, secret }: StdioServer, reference: Host["reference"]): JsonObject {
  return launched(command, args, { ...env, ...(secret && { PROGRAMME_TOKEN: written(secret, reference) }) });
}

function launched(command: string, args: readonly string[], env: JsonObject): JsonObject {
  return Object.keys(env).length === 0 ? { command, args } : { command, args, env };
}

function bearer({ secret }: HttpServer, reference: Host["reference"]): JsonObject {
  return { Authorization: `Bearer ${written(secret, reference)}` };
}

/** Most hosts: a command with arguments and environment, or an address with headers. */
function usual(
  reference: Host["reference"],
  { stdio = {}, http = (url) => ({ url }) }: { stdio?: JsonObject; http?: (url: string) => JsonObject } = {},
) {
  return (server: Server): Settings => ({
    entry:
      server.kind === "stdio"
        ? { ...stdio, ...started(server, reference) }
        : { ...http(server.url), headers: bearer(server, reference) },
  });
}

const typed = { stdio: { type: "stdio" }, http: (url: string) => ({ type: "http", url }) };

const exported = (label: string) => (variable: string) =>
  `Set ${variable} in the environment that ${label} starts in, or write the token into the file with --inline-token.`;

function blanked(label: string) {
  return () => `${label} cannot refer to an environment variable: the token itself stands in its settings.`;
}

/** Claude Desktop starts servers only; a bridge that it starts reaches the others. */
function bridged(server: Server): Settings {
  if (server.kind === "stdio") return { entry: started(server, undefined) };
  // A space in an argument would be lost on Windows: the header's value is in the environment.
  const bridge = ["mcp-remote@0.15", server.url, "--header", `Authorization:${braces("AUTHORIZATION")}`];
  const { command, args } = byNpx(server.platform, bridge);
  return { entry: launched(command, args, { AUTHORIZATION: `Bearer ${written(server.secret, undefined)}` }) };
}

const inputId = (name: string) => `${name}-token`;

/** VS Code asks once and keeps the answer among the user's secrets. */
function asked(server: Server, name: string): Settings {
  const reference = () => `\${input:${inputId(name)}}`;
  const { entry } = usual(reference, typed)(server);
  if (server.secret === undefined || server.secret.value !== undefined) return { entry };
  const description = "Access token of the programme service";
  return { entry, inputs: [{ type: "promptString", id: inputId(name), description, password: true }] };
}

/** Codex takes the name of a variable, never `${…}`. */
function codex(server: Server): Settings {
  const { secret } = server;
  if (server.kind === "http") {
    const { url } = server;
    if (server.secret.value !== undefined) return { entry: { url, http_headers: bearer(server, undefined) } };
    return { entry: { url, bearer_token_env_var: server.secret.variable } };
  }
  if (secret === undefined || secret.value !== undefined) return { entry: started(server, undefined) };
  return { entry: { ...launched(server.command, server.args, server.env), env_vars: [secret.variable] } };
}

/** Every host that the settings are known of, by the name that the command line has for it. */
export const hosts = {
  "claude-desktop": {
    label: "Claude Desktop",
    format: "json",
    section: "mcpServers",
    file: (place) => inAppData(place, "Claude", "claude_desktop_config.json"),
    reference: undefined,
    provide: blanked("Claude Desktop"),
    settings: bridged,
    after: "Quit Claude Desktop and start it again.",
    starts: true,
  },
  "claude-code": {
    label: "Claude Code",
    format: "json",
    section: "mcpServers",
    file: (place) => inNamed(place, "CLAUDE_CONFIG_DIR", [], ".claude.json"),
    reference: braces,
    provide: exported("claude"),
    settings: usual(braces, typed),
    after: "Start claude again; /mcp shows the server.",
    starts: true,
  },
  cursor: {
    label: "Cursor",
    format: "json",
    section: "mcpServers",
    file: (place) => inHome(place, ".cursor", "mcp.json"),
    reference: envBraces,
    provide: exported("Cursor"),
    settings: usual(envBraces, { stdio: { type: "stdio" } }),
    after: "Cursor notices by itself; its settings for tools and MCP show the server.",
    starts: true,
  },
  vscode: {
    label: "VS Code",
    format: "json",
    section: "servers",
    file: (place) => inAppData(place, "Code", "User", "mcp.json"),
    reference: (variable) => `\${input:${variable}}`,
    provide: () => "VS Code asks for the token when it first starts the server, and keeps it safe.",
    settings: asked,
    after: "Run MCP: List Servers in VS Code and start the server.",
    starts: true,
  },
  windsurf: {
    label: "Windsurf",
    format: "json",
    section: "mcpServers",
    file: (place) => inHome(place, ".codeium", "windsurf", "mcp_config.json"),
    reference: envBraces,
    provide: exported("Windsurf"),
    settings: usual(envBraces, { http: (serverUrl) => ({ serverUrl }) }),
    after: "Press Refresh in Windsurf's MCP settings.",
    starts: true,
  },
  zed: {
    label: "Zed",
    format: "json",
    section: "context_servers",
    file: (place) =>
      place.platform === "win32"
        ? inAppData(place, "Zed", "settings.json")
        : place.platform === "darwin"
          ? inHome(place, ".config", "zed", "settings.json")
          : inConfig(place, "zed", "settings.json"),
    reference: undefined,
    provide: blanked("Zed"),
    settings: usual(undefined),
    after: "Zed notices by itself; the agent panel's settings show the server.",
    starts: true,
  },
  codex: {
    label: "Codex",
    format: "toml",
    section: "mcp_servers",
    file: (place) => inNamed(place, "CODEX_HOME", [".codex"], "config.toml"),
    reference: (variable) => variable,
    provide: exported("codex"),
    settings: codex,
    after: "Start codex again; codex mcp list shows the server.",
    starts: true,
  },
  gemini: {
    label: "Gemini CLI",
    format: "json",
    section: "mcpServers",
    file: (place) => inHome(place, ".gemini", "settings.json"),
    reference: braces,
    provide: exported("gemini"),
    settings: usual(braces, { http: (url) => ({ type: "http", url }) }),
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
    settings: (server, name) => ({ entry: server.kind === "http" ? workflowOf(server, name) : {} }),
    after: "Copy it and paste it onto a workflow's canvas, then connect it to an AI agent.",
    starts: false,
  },
} as const satisfies Record<string, Host>;

export type HostName = keyof typeof hosts;
export const hostNames = Object.keys(hosts) as readonly HostName[];

/** A settings file with this server alone, as data. */
export function settingsFile(host: Host, server: Server, name: string): JsonObject {
  const { entry, inputs } = host.settings(server, name);
  if (!host.starts) return entry;
  return { ...(inputs && { inputs: inputs as unknown as Json }), [host.section]: { [name]: entry } };
}

/** Where a host's settings are on this machine. */
export function placeOf(env: Place["env"], home: string): Place {
  return { platform: process.platform, env, home };
}
