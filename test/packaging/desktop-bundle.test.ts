import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { getMcpConfigForManifest, type McpbManifestAny, unpackExtension, validateManifest } from "@anthropic-ai/mcpb";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { callNames, operations } from "../../src/contract/index.ts";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { toolNames } from "../../src/tools/catalog/definitions.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { bareEnvironment, connect, filesIn, root } from "./folder.ts";

const manifest = JSON.parse(readFileSync(join(root, "manifest.json"), "utf8")) as McpbManifestAny;
const settings = manifest.user_config ?? {};
/** Beside them there is only `get_connection`. */
const reads = callNames.filter((name) => operations[name].effect === "read");

describe("the manifest", () => {
  test("is valid by the strict schema, with an icon of 512 pixels", () => {
    const logged = vi.spyOn(console, "log").mockImplementation(() => undefined);
    expect(validateManifest(join(root, "manifest.json")), logged.mock.calls.join("\n")).toBe(true);
    const icon = readFileSync(join(root, "icon.png"));
    expect([icon.readUInt32BE(16), icon.readUInt32BE(20)]).toEqual([512, 512]);
    expect(icon.length).toBeLessThan(32_768);
  });

  test("passes every setting as a variable, and marks the token as sensitive", () => {
    const { args, env = {} } = manifest.server.mcp_config;
    expect(JSON.stringify(args)).not.toContain("user_config");
    const used = Object.values(env).map((value) => /^\$\{user_config\.(\w+)\}$/.exec(value)?.[1]);
    expect(used).toEqual(Object.keys(settings));
    expect(env["PROGRAMME_TOKEN"]).toMatch(/^\$\{user_config\.token\}$/);
    expect(Object.keys(settings).filter((key) => settings[key]?.sensitive)).toEqual(["token"]);
  });

  test("has a default for every field, and is read-only by default", () => {
    for (const setting of Object.values(settings)) {
      expect(setting).toMatchObject({ required: false, default: expect.anything() });
    }
    expect(settings["read_only"]).toMatchObject({ type: "boolean", default: true });
  });

  test("lists the existing tools and prompts, and declares them as dynamic", () => {
    expect(manifest).toMatchObject({ tools_generated: true, prompts_generated: true });
    expect(manifest.tools?.map(({ name }) => name)).toEqual(toolNames);
    expect(manifest.prompts?.length).toBeGreaterThan(5);
    for (const { text = "", arguments: args = [] } of manifest.prompts ?? []) {
      const referred = [...text.matchAll(/\$\{arguments\.(\w+)\}/g)].map((match) => match[1]);
      expect(args).toEqual(expect.arrayContaining(referred));
      expect(text).not.toContain("undefined");
    }
  });
});

describe("the desktop bundle", () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let installed: string;

  beforeAll(async () => {
    folder = await temporaryDirectory();
    installed = join(folder.path, "installed");
    execFileSync(process.execPath, [join(root, "scripts/bundle.ts"), folder.path], { stdio: "pipe" });
    await unpackExtension({ mcpbPath: archive(), outputDir: installed, silent: true });
  });

  afterAll(() => folder.remove());

  const archive = () => join(folder.path, `${manifest.name}-${manifest.version}.mcpb`);

  /** Starts it as a host does that follows the manifest, with these settings beside the defaults. */
  async function start(userConfig: Record<string, string | boolean> = {}) {
    const config = await getMcpConfigForManifest({
      manifest: JSON.parse(readFileSync(join(installed, "manifest.json"), "utf8")) as McpbManifestAny,
      extensionPath: installed,
      systemDirs: {},
      userConfig,
      pathSeparator: sep,
    });
    if (!config) throw new Error("The manifest does not say how to start");
    expect(JSON.stringify(config)).not.toContain("${");
    const home = join(folder.path, "home");
    mkdirSync(home, { recursive: true });
    return connect(config.command, config.args ?? [], { cwd: home, env: bareEnvironment(home, config.env) });
  }

  test("contains only the files needed at run time", () => {
    const files = filesIn(installed);
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "icon.png", "manifest.json", "package.json"]));
    const beside = files.filter(
      (file) =>
        !/^dist\/(assets\/[a-z]+\.(js|css)|views\/[a-z-]+\.html|[\w-]+\.js|THIRD_PARTY_LICENSES\.txt|sbom\.cdx\.json)$/.test(
          file,
        ),
    );
    expect(beside).toEqual(["LICENSE", "icon.png", "manifest.json", "package.json"]);
  });

  test("starts with the default fields, and offers only reads", async () => {
    const client = await start();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([...reads, "run_batch", "get_connection"].sort());
    const result = await client.callTool({ name: "list_programs", arguments: { limit: 1 } });
    expect(result.isError).not.toBe(true);
    expect(result.structuredContent).toMatchObject({ data: [{ programId: expect.any(String) }] });
  });

  test("offers all tools when writing is allowed", async () => {
    const { tools } = await (await start({ read_only: false })).listTools();
    expect(tools.map(({ name }) => name)).toEqual(toolNames);
  });

  test("offers the toolsets that are named", async () => {
    const { tools } = await (await start({ toolsets: "feedback" })).listTools();
    expect(tools.map(({ name }) => name)).toEqual(["list_released_feedback", "get_connection"]);
  });

  test("is listed for the registry with its hash", () => {
    const serverJson = JSON.parse(readFileSync(join(folder.path, "server.json"), "utf8"));
    const bundle = serverJson.packages.find((each: { registryType: string }) => each.registryType === "mcpb");
    expect(bundle.fileSha256).toBe(hashSha256Hex(readFileSync(archive())));
    expect(bundle.identifier.endsWith(`/${manifest.name}-${manifest.version}.mcpb`)).toBe(true);
  });
});
