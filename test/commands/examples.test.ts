import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse as parseToml } from "@decimalturn/toml-patch";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { parse as parseJsonc } from "jsonc-parser";
import { describe, expect, onTestFinished, test } from "vitest";
import { examplePath, exampleServers } from "../../scripts/host-examples.ts";
import { type HostName, hosts, listedHosts } from "../../src/commands/hosts/hosts.ts";
import { version } from "../../src/lib/version.ts";
import { type Home, openHome } from "../support/processes/program.ts";

interface Entry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly env_vars?: readonly string[];
  readonly url?: string;
  readonly serverUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bearer_token_env_var?: string;
}

async function exampleOf(name: HostName): Promise<Record<string, Entry>> {
  const text = await readFile(join(import.meta.dirname, "../..", examplePath(name)), "utf8");
  const content = hosts[name].format === "toml" ? parseToml(text) : parseJsonc(text);
  return content[hosts[name].section];
}

/** Returns a value as a host resolves it: variables and answers in place of references. */
function resolved(text: string, answers: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(?:env:|input:)?([\w-]+)\}/g, (_, name: string) => answers[name] ?? "");
}

/** Starts the example as its host would, but this build instead of the published package. */
function start(home: Home, { command, args = [], env = {}, env_vars = [] }: Entry, answers: Record<string, string>) {
  expect([command, ...args]).toEqual(["npx", "-y", `programme-mcp@${version}`]);
  const own = Object.entries(env).map(([name, value]) => [name, resolved(value, answers)]);
  const handedOn = env_vars.map((name) => [name, answers[name] ?? ""]);
  return new StdioClientTransport({ ...home.command([], Object.fromEntries([...own, ...handedOn])), stderr: "ignore" });
}

async function toolNames(transport: ConstructorParameters<typeof Object>[0]): Promise<string[]> {
  const client = new Client({ name: "host", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return (await client.listTools()).tools.map(({ name }) => name);
}

const startable = listedHosts.filter((name) => hosts[name].starts);

describe("the example of a host", () => {
  test("starts the demonstration", async () => {
    const home = await openHome();
    for (const name of startable) {
      const { programme = {} } = await exampleOf(name);
      expect(await toolNames(start(home, programme, {})), name).toContain("list_open_work");
    }
  });

  test.each(startable)("%s names the remote service and passes the token", async (name) => {
    const entry = (await exampleOf(name))["programme-product"] ?? {};
    expect(entry.env).toMatchObject({ PROGRAMME_BASE_URL: "https://programmes.example.org" });
    if (hosts[name].reference === undefined) expect(entry.env?.["PROGRAMME_TOKEN"]).toBe("<access token>");
    else
      expect(entry.env?.["PROGRAMME_TOKEN"] ?? entry.env_vars?.[0]).toContain(
        name === "vscode" ? "input:" : "PROGRAMME_TOKEN",
      );
  });

  test("each over HTTP connects with the token where that host puts it", async () => {
    const home = await openHome();
    const server = home.start(["http", "--port", "0"]);
    const [, token = ""] = await server.printed(/Token ([0-9a-f]{64})\n/);
    const [, origin = ""] = await server.printed(/MCP +(http:\/\/\S+)\/mcp\n/);
    for (const name of startable) {
      const entry = (await exampleOf(name))["programme-team"] ?? {};
      const answers = {
        PROGRAMME_TOKEN: token,
        "programme-team-token": token,
        AUTHORIZATION: entry.env?.["AUTHORIZATION"] ?? "",
      };
      const header = headerOf(entry).replace("<access token>", token);
      const authorization = resolved(resolved(header, answers).replace("<access token>", token), answers);
      expect([name, authorization]).toEqual([name, `Bearer ${token}`]);
      expect([entry.url, entry.serverUrl, ...(entry.args ?? [])]).toContain("https://mcp.example.org/mcp");
      const requestInit = { headers: { authorization } };
      expect(await toolNames(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }))).toContain(
        "list_programs",
      );
    }
    await server.stop();
  });

  test("is what `config` prints", async () => {
    const home = await openHome();
    for (const name of startable) {
      const example = await exampleOf(name);
      const product = ["--name", "programme-product", "--base-url", "https://programmes.example.org"];
      const { stdout } = await home.run(["config", name, "--json", "--launch", "npx", ...product]);
      const { settings } = JSON.parse(stdout);
      expect([name, settings[hosts[name].section]]).toEqual([
        name,
        { "programme-product": example["programme-product"] },
      ]);
    }
    const { stdout } = await home.run([
      "config",
      "n8n",
      "--name",
      "programme-team",
      "--http",
      "https://mcp.example.org",
    ]);
    expect(stdout).toBe(await readFile(join(import.meta.dirname, "../..", examplePath("n8n")), "utf8"));
    expect(Object.keys(exampleServers)).toHaveLength(3);
  });
});

function headerOf({ headers, bearer_token_env_var: variable, args = [] }: Entry): string {
  if (variable !== undefined) return `Bearer \${${variable}}`;
  return headers?.["Authorization"] ?? args.at(-1)?.replace(/^Authorization:/, "") ?? "";
}
