import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exampleServers, hostExamples } from "../../scripts/host-examples.ts";
import type { Host, HostLocation } from "../../src/commands/hosts/host.ts";
import { blank, createSettingsFile, type HostName, hosts, listedHosts } from "../../src/commands/hosts/hosts.ts";
import { chooseLaunch } from "../../src/commands/hosts/launch.ts";
import { version } from "../../src/lib/version.ts";

const linux: HostLocation = { platform: "linux", env: {}, home: "/home/ana" };
const mac: HostLocation = { platform: "darwin", env: {}, home: "/Users/ana" };
const windows: HostLocation = {
  platform: "win32",
  env: { APPDATA: "C:\\Users\\ana\\AppData\\Roaming" },
  home: "C:\\Users\\ana",
};

describe("the settings file of a host", () => {
  test.each<[HostName, HostLocation, string | undefined]>([
    ["claude-desktop", linux, "/home/ana/.config/Claude/claude_desktop_config.json"],
    ["claude-desktop", mac, "/Users/ana/Library/Application Support/Claude/claude_desktop_config.json"],
    ["claude-desktop", windows, "C:\\Users\\ana\\AppData\\Roaming\\Claude\\claude_desktop_config.json"],
    ["claude-code", linux, "/home/ana/.claude.json"],
    ["claude-code", windows, "C:\\Users\\ana\\.claude.json"],
    ["cursor", mac, "/Users/ana/.cursor/mcp.json"],
    ["cursor", windows, "C:\\Users\\ana\\.cursor\\mcp.json"],
    ["vscode", linux, "/home/ana/.config/Code/User/mcp.json"],
    ["vscode", mac, "/Users/ana/Library/Application Support/Code/User/mcp.json"],
    ["vscode", windows, "C:\\Users\\ana\\AppData\\Roaming\\Code\\User\\mcp.json"],
    ["windsurf", linux, "/home/ana/.codeium/windsurf/mcp_config.json"],
    ["zed", linux, "/home/ana/.config/zed/settings.json"],
    ["zed", mac, "/Users/ana/.config/zed/settings.json"],
    ["zed", windows, "C:\\Users\\ana\\AppData\\Roaming\\Zed\\settings.json"],
    ["codex", linux, "/home/ana/.codex/config.toml"],
    ["codex", windows, "C:\\Users\\ana\\.codex\\config.toml"],
    ["gemini", mac, "/Users/ana/.gemini/settings.json"],
    ["n8n", linux, undefined],
  ])("of %s", (name, place, file) => {
    expect(hosts[name].file(place)).toBe(file);
  });

  test.each<[HostName, HostLocation, string]>([
    ["vscode", { ...linux, env: { XDG_CONFIG_HOME: "/cfg" } }, "/cfg/Code/User/mcp.json"],
    ["vscode", { ...linux, env: { XDG_CONFIG_HOME: "cfg" } }, "/home/ana/.config/Code/User/mcp.json"],
    ["zed", { ...mac, env: { XDG_CONFIG_HOME: "/cfg" } }, "/Users/ana/.config/zed/settings.json"],
    ["vscode", { ...windows, env: {} }, "C:\\Users\\ana\\AppData\\Roaming\\Code\\User\\mcp.json"],
    ["codex", { ...linux, env: { CODEX_HOME: "/codex" } }, "/codex/config.toml"],
    ["claude-code", { ...linux, env: { CLAUDE_CONFIG_DIR: "/claude" } }, "/claude/.claude.json"],
  ])("of %s depends on the environment, as for the host", (name, place, file) => {
    expect(hosts[name].file(place)).toBe(file);
  });
});

describe("a server in the settings of a host", () => {
  const token = "a".repeat(64);
  const stdio = { kind: "stdio", command: "node", args: ["main.js"], env: { PROGRAMME_READ_ONLY: "true" } } as const;
  const http = { kind: "http", url: "https://mcp.example.org/mcp", platform: "linux" } as const;
  const unknown = { variable: "PROGRAMME_TOKEN", value: undefined };
  const known = { variable: "PROGRAMME_TOKEN", value: token };
  const startable = listedHosts.filter((name) => hosts[name].starts);

  test.each(startable)("%s: includes a token only if it is given", (name) => {
    const host: Host = hosts[name];
    for (const server of [stdio, http]) {
      expect(JSON.stringify(createSettingsFile(host, { ...server, secret: known }, "programme"))).toContain(token);
      const text = JSON.stringify(createSettingsFile(host, { ...server, secret: unknown }, "programme"));
      expect(text.includes(blank)).toBe(host.reference === undefined);
      expect(text.includes("PROGRAMME_TOKEN") || text.includes("programme-token") || text.includes(blank)).toBe(true);
    }
  });

  test.each(startable)("%s: has no secret without a token", (name) => {
    const text = JSON.stringify(createSettingsFile(hosts[name], { ...stdio, secret: undefined }, "programme"));
    expect(text).not.toMatch(/TOKEN|token|inputs/);
    expect(text).toContain('"PROGRAMME_READ_ONLY":"true"');
  });

  test("VS Code prompts for the token as a password", () => {
    const { inputs, servers } = createSettingsFile(hosts.vscode, { ...http, secret: unknown }, "work") as Record<
      string,
      unknown
    >;
    expect(inputs).toEqual([expect.objectContaining({ type: "promptString", id: "work-token", password: true })]);
    expect(servers).toEqual({
      work: { type: "http", url: http.url, headers: { Authorization: `Bearer \${input:work-token}` } },
    });
  });

  test("Codex reads the token from the variable", () => {
    expect(
      createSettingsFile(hosts.codex, { ...http, secret: { variable: "TEAM_KEY", value: undefined } }, "team"),
    ).toEqual({
      mcp_servers: { team: { url: http.url, bearer_token_env_var: "TEAM_KEY" } },
    });
    expect(createSettingsFile(hosts.codex, { ...stdio, secret: unknown }, "own")).toMatchObject({
      mcp_servers: { own: { env_vars: ["PROGRAMME_TOKEN"], env: { PROGRAMME_READ_ONLY: "true" } } },
    });
  });

  test("Windows starts npx through cmd", () => {
    const { mcpServers } = createSettingsFile(
      hosts["claude-desktop"],
      { ...http, platform: "win32", secret: known },
      "programme",
    ) as { mcpServers: Record<string, { command: string; args: string[]; env: object }> };
    expect(mcpServers["programme"]).toMatchObject({ command: "cmd", args: expect.arrayContaining(["/c", "npx"]) });
    expect(mcpServers["programme"]?.env).toEqual({ AUTHORIZATION: `Bearer ${token}` });
    expect(mcpServers["programme"]?.args.join(" ")).not.toContain(token);
  });
});

describe("the command that starts this program", () => {
  const running = {
    platform: "linux",
    env: {},
    execPath: "/opt/node/bin/node",
    script: "/opt/programme/dist/main.js",
  } as const;

  test("is Node and the script, by absolute paths", () => {
    expect(chooseLaunch(running, "auto")).toEqual({ command: running.execPath, args: [running.script] });
  });

  test("is npx when npx runs it, because npx's cache is temporary", () => {
    const script = "/home/ana/.npm/_npx/6a1/node_modules/programme-mcp/dist/main.js";
    const npx = { command: "npx", args: ["-y", `programme-mcp@${version}`] };
    expect(chooseLaunch({ ...running, script }, "auto")).toEqual(npx);
    expect(chooseLaunch({ ...running, script }, "node").args).toEqual([script]);
    expect(chooseLaunch(running, "npx")).toEqual(npx);
    expect(chooseLaunch({ ...running, platform: "win32" }, "npx")).toEqual({
      command: "cmd",
      args: ["/c", "npx", ...npx.args],
    });
  });

  test("is a stable path of Node that survives an update, if PATH has one", () => {
    const bin = join(import.meta.dirname, "../../node_modules/.bin");
    const env = { PATH: `relative:/nowhere:${bin}` };
    expect(chooseLaunch({ ...running, env, execPath: process.execPath }, "auto").command).toBe(join(bin, "node"));
    expect(chooseLaunch({ ...running, env, execPath: "/another/node" }, "auto").command).toBe("/another/node");
  });
});

describe("an example", () => {
  test("exists for each host, as `config` writes it", async () => {
    const examples = await hostExamples();
    expect(Object.keys(examples).map((path) => path.split("/")[1])).toEqual(listedHosts);
    for (const [path, text] of Object.entries(examples)) {
      expect(await readFile(join(import.meta.dirname, "../..", path), "utf8"), path).toBe(text);
      const used = path.includes("n8n") ? ["programme-team"] : Object.keys(exampleServers);
      for (const name of used) expect(text).toContain(name);
      expect(text).not.toMatch(/[0-9a-f]{64}/);
    }
  });
});
