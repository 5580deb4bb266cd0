import type { Host, ServerEntry } from "../src/commands/hosts/host.ts";
import { getHostEnvironment, type HostName, hosts, listedHosts } from "../src/commands/hosts/hosts.ts";
import { createNpxLaunch } from "../src/commands/hosts/launch.ts";
import { mergeSettings } from "../src/commands/hosts/merge.ts";

const secret = { variable: "PROGRAMME_TOKEN", value: undefined };
const platform = "linux";
const started = { kind: "stdio", ...createNpxLaunch(platform) } as const;

/** The servers of every example: the demonstration, the product's own service, and a team's shared server. */
export const exampleServers: Readonly<Record<string, ServerEntry>> = {
  programme: { ...started, env: {}, secret: undefined },
  "programme-product": { ...started, env: { PROGRAMME_BASE_URL: "https://programmes.example.org" }, secret },
  "programme-team": { kind: "http", url: "https://mcp.example.org/mcp", platform, secret },
};

/** Returns the path of a host's example, relative to the project's folder. */
export function examplePath(name: HostName): string {
  return `examples/${name}/${name === "n8n" ? "nodes.json" : fileName(name)}`;
}

/** Returns the name of a host's settings file, without its folders. */
function fileName(name: HostName): string {
  const file = hosts[name].file({ platform, env: {}, home: "/" }) ?? "";
  return file.slice(file.lastIndexOf("/") + 1).replace(/^\./, "");
}

/** Renders every example by its path: a settings file with those of the three servers that the host can use. */
export async function hostExamples(): Promise<Record<string, string>> {
  const texts = listedHosts.map(async (name) => [examplePath(name), await exampleOf(hosts[name])] as const);
  return Object.fromEntries(await Promise.all(texts));
}

/** Returns a server with the environment that `config` writes for a host. */
export function adaptServer(host: Host, server: ServerEntry): ServerEntry {
  return server.kind === "stdio" ? { ...server, env: { ...getHostEnvironment(host), ...server.env } } : server;
}

async function exampleOf(host: Host): Promise<string> {
  if (!host.starts) {
    const [name = "", server] = Object.entries(exampleServers).at(-1) ?? [];
    return server ? `${JSON.stringify(host.settings(server, name).entry, null, 2)}\n` : "";
  }
  let text = "";
  for (const [name, server] of Object.entries(exampleServers)) {
    text = await mergeSettings(host, text, name, host.settings(adaptServer(host, server), name));
  }
  return text;
}
