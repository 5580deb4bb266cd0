import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** A server that is measured. All of them have one tool for each operation of the same service. */
export interface Candidate {
  readonly name: string;
  readonly isPeer: boolean;
  /** Arguments of Node that start it over stdio. */
  readonly stdio: readonly string[];
  /** Arguments of Node that start it over HTTP at a port. Undefined if it cannot serve a client. */
  readonly http: ((port: number) => readonly string[]) | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Its names of the two tools that are called. */
  readonly tools: { readonly read: string; readonly list: string };
}

export interface Service {
  readonly origin: string;
  readonly token: string;
  /** The database that the service uses, for the program with the embedded service. */
  readonly database: string;
}

const folder = fileURLToPath(new URL("../.peers", import.meta.url));
const bareServer = join(folder, "bare.mjs");
const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** Versions are pinned, so that results can be compared over time. */
const packages = ["openapi-mcp-generator@4.0.1", "@ivotoby/openapi-mcp-server@1.16.1", "fastmcp@4.20.16"];

const run = (command: string, args: readonly string[], cwd: string) =>
  execFileSync(command, args, { cwd, stdio: "ignore" });

/** Installs the peers into a folder that git ignores, and generates servers from the service's OpenAPI document. */
export async function preparePeers({ origin }: Service): Promise<void> {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "node_modules"))) {
    writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}\n');
    run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages], folder);
  }
  const document = await fetch(`${origin}/integrations/v1/openapi.json`);
  writeFileSync(join(folder, "openapi.json"), await document.text());
  copyFileSync(new URL("fastmcp-server.mjs", import.meta.url), join(folder, "fastmcp-server.mjs"));
  const generator = join(folder, "node_modules/.bin/openapi-mcp-generator");
  const base = `${origin}/integrations/v1`;
  run(generator, ["-i", "openapi.json", "-o", "generated", "-b", base, "-t", "stdio", "--force"], folder);
  const project = join(folder, "generated");
  if (!existsSync(join(project, "node_modules"))) {
    run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], project);
  }
  run("npx", ["tsc"], project);
}

/** Bundles the smallest server that the SDK allows, whose start is the least that a server can take. */
export async function prepareBareServer(): Promise<Pick<Candidate, "stdio" | "env">> {
  const bare = await rolldown({ input: fileURLToPath(new URL("../start/bare.ts", import.meta.url)), platform: "node" });
  await bare.write({ dir: folder, format: "esm", minify: true, entryFileNames: "bare.mjs" });
  return { stdio: [bareServer], env: {} };
}

/** Lists the program with its two kinds of service, and the peers. */
export function listCandidates({ origin, token, database }: Service): readonly Candidate[] {
  const base = `${origin}/integrations/v1`;
  const document = join(folder, "openapi.json");
  const fastmcp = join(folder, "fastmcp-server.mjs");
  const openapiServer = join(folder, "node_modules/@ivotoby/openapi-mcp-server/bin/mcp-server.js");
  const openapiArgs = ["-u", base, "-s", document, "-H", `Authorization:Bearer ${token}`];
  const tools = { read: "get_submission", list: "list_submissions" };
  const ours = { isPeer: false, tools, stdio: [program, "stdio"] } as const;
  const http = (port: number) => [program, "http", "--port", String(port)];
  const common = { PROGRAMME_TOKEN: token, PROGRAMME_REQUESTS_PER_MINUTE: "1000000" };
  return [
    { ...ours, http, name: "programme-mcp, remote", env: { ...common, PROGRAMME_BASE_URL: origin } },
    { ...ours, http, name: "programme-mcp, embedded", env: { ...common, PROGRAMME_DATABASE: database } },
    {
      name: "openapi-mcp-generator",
      isPeer: true,
      stdio: [join(folder, "generated/build/index.js")],
      // Its HTTP server ends with an error at the second request (fetch-to-node: "ReadableStream is locked").
      http: undefined,
      env: { BEARER_TOKEN_BEARER: token },
      tools,
    },
    {
      name: "@ivotoby/openapi-mcp-server",
      isPeer: true,
      stdio: [openapiServer, ...openapiArgs, "-t", "stdio"],
      // It answers requests with status 202, and sends results on the stream of a GET, which clients need not open.
      http: undefined,
      env: {},
      tools: { read: "get-submission", list: "lst-submissions" },
    },
    {
      name: "fastmcp",
      isPeer: true,
      stdio: [fastmcp, "stdio", document, base, token],
      http: (port) => [fastmcp, "http", document, base, token, String(port)],
      env: {},
      tools,
    },
  ];
}
