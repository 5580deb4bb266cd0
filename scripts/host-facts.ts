import type { HostName } from "../src/commands/hosts/hosts.ts";

type Support = "yes" | "no";

/** The facts in a host's own documentation, directly or as {@link comparison} reports it, in the month of {@link checked}. */
export interface HostFacts {
  readonly file: string;
  readonly label: string;
  /** Its name for `programme-mcp config`. Hosts on the web have none. */
  readonly config?: HostName;
  /** Features of the protocol. Undefined where nothing says. */
  readonly resources?: Support;
  readonly prompts?: Support;
  readonly elicitation?: Support;
  readonly roots?: Support;
  readonly apps?: Support;
  /** The way in which a person connects it by signing in: a block of settings, or steps. */
  readonly signIn: { readonly language?: "json" | "toml" | "text"; readonly text: string };
  readonly limits: readonly string[];
  readonly source: string;
  /** The name of its row in the table of clients that the tests drive. */
  readonly driven?: string;
}

export const checked = "November 2026";

/** Compares what the clients' documentation says about each feature. */
export const comparison = "https://dev.to/serverdex/which-mcp-clients-support-which-features-i-read-the-docs-59kb";

const address = "https://mcp.example.org/mcp";
const json = (value: object) => ({ language: "json", text: JSON.stringify(value, null, 2) }) as const;

export const hostFacts: readonly HostFacts[] = [
  {
    file: "claude-ai",
    label: "claude.ai",
    resources: "yes",
    prompts: "yes",
    apps: "yes",
    signIn: {
      text: `1. Open *Settings → Connectors*, and choose *Add custom connector*.\n2. Enter the address, \`${address}\`.\n3. Choose *Connect*, sign in, and choose what Claude may do.`,
    },
    limits: [
      "It calls from the internet: the server needs a public `https` address.",
      "In a Team or Enterprise plan, an owner adds the connector before others connect.",
      "It does not subscribe to resources.",
    ],
    source: "https://support.claude.com/en/articles/11503834-building-custom-connectors-via-remote-mcp-servers",
  },
  {
    file: "chatgpt",
    label: "ChatGPT",
    resources: "no",
    elicitation: "yes",
    apps: "yes",
    signIn: {
      text: `1. In ChatGPT on the web, open *Plugins*, and choose *Add custom MCP server*.\n2. Enter a name and the address, \`${address}\`. Choose *OAuth*.\n3. Choose *Create as a plugin*, sign in, and choose what ChatGPT may do.`,
    },
    limits: [
      "It calls from the internet: the server needs a public `https` address, or a tunnel.",
      "It reads resources only as the views of MCP Apps.",
      "It asks its user before calls that the tool's hints mark as writes.",
    ],
    source: "https://developers.openai.com/api/docs/guides/custom-mcp-server",
  },
  {
    file: "claude-desktop",
    label: "Claude Desktop",
    config: "claude-desktop",
    resources: "yes",
    prompts: "yes",
    apps: "yes",
    signIn: {
      text: "Add the server as a connector of your account, as for [claude.ai](claude-ai.md). It then works in Claude Desktop too.",
    },
    limits: [
      "Its settings file only starts local servers. For HTTP with a token, `config` starts `mcp-remote`.",
      "It starts from a menu, where the shell's variables are not set: the token is in the file.",
    ],
    source: "https://support.claude.com/en/articles/11503834-building-custom-connectors-via-remote-mcp-servers",
    driven: "mcp-remote, as Claude Desktop starts it",
  },
  {
    file: "claude-code",
    label: "Claude Code",
    config: "claude-code",
    resources: "yes",
    prompts: "yes",
    elicitation: "yes",
    roots: "yes",
    signIn: {
      text: `Add the server without a token, and sign in with \`/mcp\` in a session:\n\n\`\`\`text\nclaude mcp add --transport http programme ${address}\n\`\`\``,
    },
    limits: ["Its model has no tool to subscribe to resources."],
    source: "https://code.claude.com/docs/en/mcp",
    driven: "Claude Code",
  },
  {
    file: "vscode",
    label: "VS Code",
    config: "vscode",
    resources: "yes",
    prompts: "yes",
    elicitation: "yes",
    roots: "yes",
    apps: "yes",
    signIn: json({ servers: { programme: { type: "http", url: address } } }),
    limits: ["A chat request has at most 128 tools of all servers together. Choose fewer, or use `--tool-mode jobs`."],
    source: "https://code.visualstudio.com/docs/agent-customization/mcp-servers",
  },
  {
    file: "cursor",
    label: "Cursor",
    config: "cursor",
    resources: "yes",
    prompts: "yes",
    elicitation: "yes",
    roots: "yes",
    signIn: json({ mcpServers: { programme: { url: address } } }),
    limits: [
      "It warns of many tools of all servers together. `config` writes the mode `jobs`.",
      "If the server offers sign-in, Cursor is reported to ignore a configured header. Connect by signing in then.",
    ],
    source: "https://cursor.com/docs/mcp",
  },
  {
    file: "zed",
    label: "Zed",
    config: "zed",
    prompts: "yes",
    elicitation: "no",
    signIn: json({ context_servers: { programme: { url: address } } }),
    limits: ["It cannot refer to an environment variable: a token is in the settings file."],
    source: "https://zed.dev/docs/ai/mcp",
  },
  {
    file: "windsurf",
    label: "Windsurf",
    config: "windsurf",
    resources: "yes",
    prompts: "yes",
    signIn: json({ mcpServers: { programme: { serverUrl: address } } }),
    limits: ["Cascade uses at most 100 tools of all servers together. `config` writes the mode `jobs`."],
    source: "https://docs.windsurf.com/windsurf/cascade/mcp",
  },
  {
    file: "codex",
    label: "Codex",
    config: "codex",
    prompts: "no",
    elicitation: "yes",
    signIn: {
      text: `Add the server without a token, and sign in:\n\n\`\`\`text\ncodex mcp add programme --url ${address}\ncodex mcp login programme\n\`\`\``,
    },
    limits: ["It has no prompts: copy the [skills](../skills.md#by-hand)."],
    source: "https://learn.chatgpt.com/docs/extend/mcp",
  },
  {
    file: "gemini-cli",
    label: "Gemini CLI",
    config: "gemini",
    resources: "yes",
    prompts: "yes",
    signIn: json({ mcpServers: { programme: { httpUrl: address } } }),
    limits: ["After the settings of signing in, run `/mcp auth programme` in a session."],
    source: "https://geminicli.com/docs/tools/mcp-server",
  },
  {
    file: "n8n",
    label: "n8n",
    config: "n8n",
    resources: "no",
    prompts: "no",
    elicitation: "no",
    roots: "no",
    apps: "no",
    signIn: {
      text: "Choose *MCP OAuth2* as the authentication of the node *MCP Client* or *MCP Client Tool*, and create a credential for it.",
    },
    limits: [
      "It starts no servers: connect over HTTP.",
      "Its nodes call tools only, and show a person no question: [a confirmed call](../tutorials/n8n.md#8-confirm-a-call) takes two nodes. Use `PROGRAMME_APPROVED_TOOLS` for what a workflow may do alone, or REST.",
      "Workflows without a model are in the [cookbook](../cookbook.md); the [tutorial](../tutorials/n8n.md) builds one.",
    ],
    source: "https://docs.n8n.io/integrations/builtin/cluster-nodes/sub-nodes/n8n-nodes-langchain.toolmcp/",
    driven: "n8n's MCP Client node",
  },
];
