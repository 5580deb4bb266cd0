import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { openHome } from "../support/processes/program.ts";

const hook = pathToFileURL(join(import.meta.dirname, "loaded.mjs")).href;
const dist = join(import.meta.dirname, "../../dist");
const product = { PROGRAMME_BASE_URL: "http://127.0.0.1:9", PROGRAMME_TOKEN: "0123456789abcdef".repeat(4) };
const clientInfo = { name: "test", version: "1.0.0" };
const opening = [
  { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
];

/** Lists the files that a start over stdio has loaded when it answers the last of these messages. */
async function loadedFor(messages: readonly object[], environment: Record<string, string>): Promise<string[]> {
  const home = await openHome();
  const { command, args, env } = home.command([], { ...environment, PROGRAMME_DATABASE: home.database });
  const child = spawn(command, ["--import", hook, ...args], { env, cwd: home.path });
  let loaded = "";
  child.stderr.on("data", (chunk) => (loaded += chunk));
  for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const last = (messages.at(-1) as { id: number }).id;
  for await (const line of createInterface({ input: child.stdout })) if (JSON.parse(line).id === last) break;
  const soFar = loaded;
  child.kill();
  await once(child, "close");
  return [...soFar.matchAll(/^loaded (\S+)$/gm)].map((match) => match[1] as string);
}

describe("a start over stdio", () => {
  test.each([
    ["of the product's service", product],
    ["of the embedded service", {}],
  ])("%s lists its tools with only the modules of the startup handshake", async (_, environment) => {
    const loaded = await loadedFor(opening, environment);
    const files = loaded.filter((name) => name.endsWith(".js"));
    expect(files.toSorted()).toEqual(["cli.js", "main.js", "rolldown-runtime.js", "start.js"]);
    // `fs` or `util` of Node would take a tenth of the start.
    const modules = new Set(loaded.filter((name) => name.startsWith("node:")));
    const handshake = ["node:events", "node:net", "node:os", "node:path", "node:process", "node:url"];
    expect([...modules].toSorted()).toEqual(handshake);
  });

  test("loads the schemas of results for a host that generates code", async () => {
    const loaded = await loadedFor(opening, { ...product, PROGRAMME_RESULTS: "structured" });
    expect(loaded).toContain("data-schemas.js");
    expect(loaded).not.toContain("service.js");
  });

  test("does not create the contract's schemas before it lists its tools", async () => {
    const start = await readFile(join(dist, "start.js"), "utf8");
    const modules = [...start.matchAll(/^\/\/ ((?:src|node_modules)\/\S+)$/gm)].map((match) => match[1] as string);
    expect(modules).toContain("src/tools/catalog/tool-catalog.ts");
    expect(modules).not.toContain("src/tools/catalog/data-schemas.ts");
    expect(modules).not.toContain("src/contract/submissions.ts");
    expect(modules).not.toContain("src/contract/definition/workflow.ts");
    expect(modules).not.toContain("src/tools/catalog/schema.ts");
    expect(modules.filter((path) => path.includes("ajv"))).toEqual([]);
    expect(start.length).toBeLessThan(720_000);
  });

  test("loads only the modules that a call needs", async () => {
    const call = { id: 3, method: "tools/call", params: { name: "list_programs", arguments: {} } };
    const loaded = await loadedFor([...opening, call], { PROGRAMME_DEMO: "true" });
    expect(loaded).toContain("service.js");
    expect(loaded).toContain("embedded.js");
    // The rest are the log, the launcher and demonstration data. Each file costs time before the first answer.
    expect(loaded.filter((name) => name.endsWith(".js")).length).toBeLessThan(20);
    const others = [
      "undici.js",
      "accounts.js",
      "http-wiring.js",
      "remote-wiring.js",
      "smtp-connection.js",
      "dist-cjs.js",
      "program.js",
    ];
    const built = await readdir(dist);
    for (const file of others) {
      expect(built).toContain(file);
      expect(loaded).not.toContain(file);
    }
  });
});
