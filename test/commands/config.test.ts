import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type HostName, hosts, listedHosts } from "../../src/commands/hosts/hosts.ts";
import { replaceSettings } from "../../src/commands/hosts/write.ts";
import { version } from "../../src/lib/version.ts";
import { type Home, openHome } from "../support/processes/program.ts";

const token = "a".repeat(64);
const productUrl = "https://programmes.example.org";

/** The host's settings file in a home, wherever the tests run. */
function fileOf(home: Home, host: HostName): string {
  return hosts[host].file({ platform: process.platform, env: {}, home: home.path }) ?? "";
}

async function written(file: string, text: string, mode?: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode: mode ?? 0o600 });
  if (mode !== undefined) await chmod(file, mode);
}

const backups = async (file: string) => (await readdir(dirname(file))).filter((name) => name.endsWith(".bak"));

/** Written for clients that limit the number of tools. */
const jobs = { PROGRAMME_TOOL_MODE: "jobs" };

describe("config", () => {
  test.each([
    ["cursor", [], jobs],
    ["cursor", ["--tool-mode", "search"], { PROGRAMME_TOOL_MODE: "search" }],
    ["windsurf", ["--toolsets", "programs"], { PROGRAMME_TOOLSETS: "programs" }],
    ["claude-code", [], undefined],
  ] as const)("writes the tool mode that suits %s with the options %j", async (name, options, env) => {
    const home = await openHome();
    const { stdout } = await home.run(["config", name, ...options]);
    expect(JSON.parse(stdout).mcpServers.programme.env).toEqual(env);
  });

  test("prints settings that start this program, and the path of the settings file", async () => {
    const home = await openHome();
    const { code, stdout, stderr } = await home.run(["config", "cursor"]);
    const { command, args } = home.command([]);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { mcpServers: { programme: { type: "stdio", command: expect.any(String), args, env: jobs } } },
    ]);
    expect(JSON.parse(stdout).mcpServers.programme.command).toMatch(/^\/.*node$/);
    expect(command).toMatch(/node$/);
    expect(stderr).toContain(`${fileOf(home, "cursor")}; --write merges it in.`);
    expect(await readdir(home.path)).toEqual([]);
  });

  test("includes the given settings, with absolute paths and without secrets", async () => {
    const home = await openHome();
    const { stdout, stderr } = await home.run(
      ["config", "claude-code", "--read-only", "--database", "mine.db", "--toolsets", "programs", "--launch", "npx"],
      { PROGRAMME_CONFIRM: "human", PROGRAMME_SECRET_KEY: token, PROGRAMME_LOG_LEVEL: "" },
    );
    expect(JSON.parse(stdout).mcpServers.programme).toEqual({
      type: "stdio",
      command: "npx",
      args: ["-y", `programme-mcp@${version}`],
      env: {
        PROGRAMME_CONFIRM: "human",
        PROGRAMME_DATABASE: join(home.path, "mine.db"),
        PROGRAMME_READ_ONLY: "true",
        PROGRAMME_TOOLSETS: "programs",
      },
    });
    expect(stderr).toMatch(/PROGRAMME_SECRET_KEY is a secret and was left out/);
    expect(stdout + stderr).not.toContain(token);
  });

  test.each(
    listedHosts.filter((name) => hosts[name].starts),
  )("%s: refers to the token without a copy of it", async (host) => {
    const home = await openHome();
    const environment = { PROGRAMME_BASE_URL: productUrl, PROGRAMME_TOKEN: token };
    const { code, stdout, stderr } = await home.run(["config", host, "--json"], environment);
    expect(code).toBe(0);
    const { settings, notes, file } = JSON.parse(stdout);
    expect(file).toBe(fileOf(home, host));
    expect(notes.length).toBeGreaterThan(1);
    expect(stderr).toBe("");
    const isCopied = hosts[host].reference === undefined;
    expect(JSON.stringify(settings).includes(token)).toBe(isCopied);
    const inlined = await home.run(["config", host, "--inline-token", "--json"], environment);
    expect(JSON.stringify(JSON.parse(inlined.stdout).settings)).toContain(token);
  });

  test("for a server over HTTP adds the MCP path, and accepts another variable for the key", async () => {
    const home = await openHome();
    const args = ["config", "cursor", "--http", "https://mcp.example.org", "--token-variable", "TEAM_KEY"];
    const { stdout, stderr } = await home.run(args, { TEAM_KEY: "gwk_secret" });
    expect(JSON.parse(stdout).mcpServers.programme).toEqual({
      url: "https://mcp.example.org/mcp",
      headers: { Authorization: `Bearer \${env:TEAM_KEY}` },
    });
    expect(stdout + stderr).not.toContain("gwk_secret");
  });

  test("prints nodes for n8n, which stores the token itself", async () => {
    const home = await openHome();
    const { stdout, stderr } = await home.run(["config", "n8n", "--http", "http://127.0.0.1:3000/mcp"]);
    const { nodes } = JSON.parse(stdout);
    const server = {
      endpointUrl: "http://127.0.0.1:3000/mcp",
      serverTransport: "httpStreamable",
      authentication: "bearerAuth",
    };
    // As a step of a workflow, and as a tool of an agent.
    expect(nodes).toEqual(
      ["mcpClient", "mcpClientTool"].map((name) =>
        expect.objectContaining({
          type: `@n8n/n8n-nodes-langchain.${name}`,
          parameters: expect.objectContaining(server),
        }),
      ),
    );
    expect(stderr).toMatch(/Bearer Auth/);
  });

  test.each<[string[], RegExp]>([
    [[], /missing required argument 'client'/],
    [["emacs"], /claude-desktop, claude-code/],
    [["n8n"], /--http/],
    [["n8n", "--http", "https://x.example", "--write"], /no file of settings/],
    [["cursor", "--http", "http://mcp.example.org"], /--http must be/],
    [["cursor", "--http", "https://user:pass@mcp.example.org"], /--http must be/],
    [["cursor", "--http", "https://x.example", "--read-only"], /--read-only does not go with --http/],
    [["cursor", "--token-variable", "X"], /--token-variable needs --http/],
    [["cursor", "--http", "https://x.example", "--token-variable", "a b"], /--token-variable must name/],
    [["cursor", "--launch", "docker"], /--launch/],
    [["cursor", "--name", "a b"], /--name must be/],
    [["cursor", "--inline-token"], /PROGRAMME_TOKEN is needed/],
    [["cursor", "--tools", "get_progam"], /--tools must be/],
    [["claude-desktop", "--base-url", productUrl, "--write"], /PROGRAMME_TOKEN is needed/],
  ])("refuses %j in one line, and writes nothing", async (args, message) => {
    const home = await openHome();
    const { code, stdout, stderr } = await home.run(["config", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
    expect(await readdir(home.path)).toEqual([]);
  });
});

describe("config --write", () => {
  test("creates a file that only its owner can read", async () => {
    const home = await openHome();
    const { code, stdout } = await home.run(["config", "vscode", "--base-url", productUrl, "--write"]);
    const file = fileOf(home, "vscode");
    expect([code, stdout]).toEqual([0, `Wrote ${file}.\n`]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8")).servers.programme.env.PROGRAMME_BASE_URL).toBe(productUrl);
    expect(await backups(file)).toEqual([]);
  });

  test("keeps other content and a backup, and changes nothing the second time", async () => {
    const home = await openHome();
    const file = fileOf(home, "codex");
    const before = '# mine\nmodel = "x"\n';
    await written(file, before, 0o640);
    const { stderr } = await home.run(["config", "codex", "--write"]);
    expect(await readFile(file, "utf8")).toMatch(/^# mine\nmodel = "x"\n\n\[mcp_servers\.programme\]\n/);
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    const [backup = "", ...others] = await backups(file);
    expect(others).toEqual([]);
    expect(stderr).toContain(backup);
    expect(await readFile(join(dirname(file), backup), "utf8")).toBe(before);
    const again = await home.run(["config", "codex", "--write", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ written: false, backup: null });
    expect(await readdir(dirname(file))).toHaveLength(2);
  });

  test("writes through a symbolic link", async () => {
    const home = await openHome();
    const file = fileOf(home, "gemini");
    const target = join(home.path, "dotfiles.json");
    await writeFile(target, '{"theme": "x"}');
    await mkdir(dirname(file), { recursive: true });
    await symlink(target, file);
    expect((await home.run(["config", "gemini", "--write"])).code).toBe(0);
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect(JSON.parse(await readFile(target, "utf8"))).toMatchObject({ theme: "x", mcpServers: { programme: {} } });
  });

  test("accepts another file, such as a project's", async () => {
    const home = await openHome();
    const { code } = await home.run(["config", "claude-code", "--file", ".mcp.json", "--write", "--launch", "npx"]);
    expect(code).toBe(0);
    expect(await readdir(home.path)).toEqual([".mcp.json"]);
  });

  test("does not change a file that it cannot parse", async () => {
    const home = await openHome();
    const file = fileOf(home, "cursor");
    await written(file, '{ "mcpServers": { ');
    const { code, stdout, stderr } = await home.run(["config", "cursor", "--write"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^error: [^\n]*mcp\.json: [^\n]*line 1 is not valid JSON[^\n]*\n$/);
    expect(await readFile(file, "utf8")).toBe('{ "mcpServers": { ');
    expect(await readdir(dirname(file))).toHaveLength(1);
  });

  test("reports who else can read a token that it writes", async () => {
    const home = await openHome();
    const file = fileOf(home, "zed");
    await written(file, "{}", 0o644);
    const environment = { PROGRAMME_TOKEN: token };
    const { stderr, stdout } = await home.run(["config", "zed", "--base-url", productUrl, "--write"], environment);
    expect(stderr).toContain(`chmod 600 ${file}`);
    expect(stdout + stderr).not.toContain(token);
    expect(await readFile(file, "utf8")).toContain(token);
  });

  test("does not overwrite concurrent changes", async () => {
    const home = await openHome();
    const file = join(home.path, "settings.json");
    await writeFile(file, '{"newer": true}');
    await expect(replaceSettings(file, "{}", '{"ours": true}')).rejects.toThrow(/changed meanwhile/);
    expect(await readFile(file, "utf8")).toBe('{"newer": true}');
    expect(await readdir(home.path)).toEqual(["settings.json"]);
  });
});
