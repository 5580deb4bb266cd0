import { parse as parseToml } from "@decimalturn/toml-patch";
import fc from "fast-check";
import { parse as parseJsonc } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import type { ServerEntry } from "../../src/commands/hosts/host.ts";
import { type HostName, hosts } from "../../src/commands/hosts/hosts.ts";
import { mergeSettings } from "../../src/commands/hosts/merge.ts";

const secret = { variable: "PROGRAMME_TOKEN", value: undefined };
const started: ServerEntry = {
  kind: "stdio",
  command: "node",
  args: ["main.js"],
  env: { PROGRAMME_READ_ONLY: "true" },
  secret,
};
const reached: ServerEntry = { kind: "http", url: "https://mcp.example.org/mcp", platform: "linux", secret };

function merge(host: HostName, text: string | undefined, server: ServerEntry = started, name = "programme") {
  return mergeSettings(hosts[host], text, name, hosts[host].settings(server, name));
}

const zed = `// Ana's settings
{
  "theme": "One Dark", // not too bright
  "context_servers": {
    /* the one for tickets */
    "tickets": { "command": "tickets", "args": [], },
  },
  "vim_mode": true,
}
`;

describe("a JSON settings file", () => {
  test("keeps its comments, its order, its other servers and its trailing commas", async () => {
    const merged = await merge("zed", zed);
    for (const kept of [
      "// Ana's settings",
      "// not too bright",
      "/* the one for tickets */",
      '"vim_mode": true,\n}\n',
    ]) {
      expect(merged).toContain(kept);
    }
    expect(merged.indexOf("theme")).toBeLessThan(merged.indexOf("context_servers"));
    expect(parseJsonc(merged).context_servers).toEqual({
      tickets: { command: "tickets", args: [] },
      programme: { command: "node", args: ["main.js"], env: expect.objectContaining({ PROGRAMME_READ_ONLY: "true" }) },
    });
  });

  test.each<[string, string]>([
    ["tabs", '{\n\t"mcpServers": {\n\t\t"other": { "url": "x" }\n\t}\n}\n'],
    ["four spaces", '{\n    "mcpServers": {\n        "other": { "url": "x" }\n    }\n}\n'],
    ["line ends of Windows", '{\r\n  "mcpServers": {\r\n    "other": { "url": "x" }\r\n  }\r\n}\r\n'],
  ])("keeps its %s", async (_, text) => {
    const merged = await merge("cursor", text);
    const indent = /^[\t ]+/m.exec(text)?.[0] ?? "";
    expect(merged).toMatch(new RegExp(`^${indent}${indent}"programme"`, "m"));
    expect(merged.includes("\r\n")).toBe(text.includes("\r\n"));
    if (text.includes("\r\n")) expect(merged.replaceAll("\r\n", "")).not.toContain("\n");
  });

  test.each([undefined, "", "  \n"])("is created if it is missing: %j", async (text) => {
    const merged = await merge("claude-code", text);
    expect(JSON.parse(merged)).toEqual({
      mcpServers: {
        programme: {
          type: "stdio",
          command: "node",
          args: ["main.js"],
          env: { PROGRAMME_READ_ONLY: "true", PROGRAMME_TOKEN: `\${PROGRAMME_TOKEN}` },
        },
      },
    });
    expect(merged).toMatch(/\}\n$/);
  });

  test("is unchanged if it has the settings already", async () => {
    const merged = await merge("zed", zed);
    expect(await merge("zed", merged)).toBe(merged);
  });

  test("keeps additions to the entry, and replaces how the server is reached", async () => {
    const before = {
      mcpServers: {
        programme: {
          command: "old",
          args: ["old.js"],
          env: { PROGRAMME_CONFIRM: "off", HTTPS_PROXY: "http://proxy:3128" },
          disabled: true,
          autoApprove: ["get_program"],
        },
      },
    };
    const stdio = JSON.parse(await merge("windsurf", JSON.stringify(before)));
    expect(stdio.mcpServers.programme).toEqual({
      command: "node",
      args: ["main.js"],
      env: {
        HTTPS_PROXY: "http://proxy:3128",
        PROGRAMME_READ_ONLY: "true",
        PROGRAMME_TOKEN: `\${env:PROGRAMME_TOKEN}`,
      },
      disabled: true,
      autoApprove: ["get_program"],
    });
    const http = JSON.parse(await merge("windsurf", JSON.stringify(stdio), reached));
    expect(http.mcpServers.programme).toEqual({
      disabled: true,
      autoApprove: ["get_program"],
      serverUrl: reached.kind === "http" && reached.url,
      headers: { Authorization: `Bearer \${env:PROGRAMME_TOKEN}` },
    });
  });

  test("keeps other headers", async () => {
    const before = { mcpServers: { programme: { url: "x", headers: { "X-Team": "a", authorization: "Bearer old" } } } };
    const { mcpServers } = JSON.parse(await merge("cursor", JSON.stringify(before), reached));
    expect(mcpServers.programme.headers).toEqual({
      "X-Team": "a",
      Authorization: `Bearer \${env:PROGRAMME_TOKEN}`,
    });
  });

  test("of VS Code gets its input once, beside existing ones", async () => {
    const before = '{\n  "inputs": [{ "type": "promptString", "id": "other", "description": "x" }]\n}\n';
    const once = await merge("vscode", before, reached);
    const { inputs } = JSON.parse(once);
    expect(inputs.map(({ id }: { id: string }) => id)).toEqual(["other", "programme-token"]);
    expect(await merge("vscode", once, reached)).toBe(once);
    const twice = JSON.parse(await merge("vscode", once, reached, "second"));
    expect(twice.inputs).toHaveLength(3);
  });

  test.each<[string, string, RegExp]>([
    ["a missing bracket", '{\n  "mcpServers": {\n', /line 3 is not valid JSON/],
    ["no object", "[]", /the file is not what it should be/],
    ["a section that is no object", '{"mcpServers": []}', /mcpServers is not what it should be/],
    ["an entry that is no object", '{"mcpServers": {"programme": 1}}', /mcpServers\.programme is not/],
  ])("with another structure is refused: %s", async (_, text, message) => {
    await expect(merge("cursor", text)).rejects.toThrow(message);
  });

  test("loses nothing, whatever it contains", async () => {
    const key = fc.string({ minLength: 1, maxLength: 8 });
    const other = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }));
    await fc.assert(
      fc.asyncProperty(other, other, fc.constantFrom(0, 2, 4, "\t"), async (root, servers, indent) => {
        const before = { ...root, mcpServers: { ...servers, programme: { note: "mine" } } };
        // As a file would have it: no -0, and no key that only an object in memory can have.
        const text = JSON.stringify(before, null, indent);
        const kept = JSON.parse(text);
        const { programme, ...rest } = JSON.parse(await merge("cursor", text)).mcpServers;
        expect(programme).toMatchObject({ note: "mine", command: "node" });
        delete kept.mcpServers.programme;
        expect(rest).toEqual(kept.mcpServers);
        expect({ ...JSON.parse(await merge("cursor", text)), mcpServers: 0 }).toEqual({ ...kept, mcpServers: 0 });
      }),
      { numRuns: 200 },
    );
  });
});

const codex = `# Ana's settings
model = "gpt-5" # the usual one

[mcp_servers.tickets]
command = "tickets"
startup_timeout_sec = 20

# not in the office
[mcp_servers.tickets.env]
PLACE = "home"

[tui]
share = 1.0
since = 2026-01-31
`;

describe("a TOML settings file", () => {
  test("keeps its content, and gets a table at its end", async () => {
    const merged = await merge("codex", codex);
    expect(merged.startsWith(codex)).toBe(true);
    expect(merged.slice(codex.length)).toBe(
      '\n[mcp_servers.programme]\ncommand = "node"\nargs = ["main.js"]\nenv = {PROGRAMME_READ_ONLY = "true"}\nenv_vars = ["PROGRAMME_TOKEN"]\n',
    );
    expect(await merge("codex", merged)).toBe(merged);
  });

  test("keeps its line ends", async () => {
    const merged = await merge("codex", codex.replaceAll("\n", "\r\n"));
    expect(merged.replaceAll("\r\n", "")).not.toContain("\n");
  });

  test("keeps what its owner added to the entry, and the comments around it", async () => {
    const merged = await merge("codex", codex, reached, "tickets");
    for (const kept of ["# Ana's settings", "# the usual one", "share = 1.0", "since = 2026-01-31"]) {
      expect(merged).toContain(kept);
    }
    expect(JSON.parse(JSON.stringify(parseToml(merged))).mcp_servers).toEqual({
      tickets: { startup_timeout_sec: 20, url: "https://mcp.example.org/mcp", bearer_token_env_var: "PROGRAMME_TOKEN" },
    });
  });

  test.each<[string, string]>([
    ["an inline table", 'mcp_servers = { tickets = { command = "tickets" } }\n'],
    ["dotted keys", 'mcp_servers.tickets.command = "tickets"\n'],
    ["an empty table", "[mcp_servers]\n"],
  ])("gets the server in any notation of the others: %s", async (_, text) => {
    const before = JSON.parse(JSON.stringify(parseToml(text)));
    const after = JSON.parse(JSON.stringify(parseToml(await merge("codex", text))));
    expect(after.mcp_servers).toEqual({
      ...before.mcp_servers,
      programme: expect.objectContaining({ command: "node" }),
    });
  });

  test("that is not valid is refused", async () => {
    await expect(merge("codex", "model = \n")).rejects.toThrow(/not valid TOML/);
    await expect(merge("codex", 'mcp_servers = "none"\n')).rejects.toThrow(/mcp_servers is not what it should be/);
  });
});
