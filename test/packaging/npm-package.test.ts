import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { toolNames } from "../../src/tools/catalog/definitions.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { bareEnvironment, connect, filesIn, root } from "./folder.ts";

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

describe("the published package", () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let packed: Packed;

  /** Where nothing of this project is near, and npm cannot ask anybody. */
  const outside = () => ({ cwd: folder.path, env: bareEnvironment(folder.path, { npm_config_offline: "true" }) });
  /** The whole path: npx takes a relative one from the next folder above that has a package.json. */
  const npx = (...args: string[]) => [
    "--yes",
    `--package=${join(folder.path, packed.filename)}`,
    "programme-mcp",
    ...args,
  ];

  beforeAll(async () => {
    folder = await temporaryDirectory();
    const args = ["pack", "--json", "--ignore-scripts", `--pack-destination=${folder.path}`];
    // npm 10 and 11 print a list, npm 12 an object by name.
    const printed = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8" })) as Record<string, Packed>;
    packed = Object.values(printed)[0] as Packed;
  });

  afterAll(() => folder.remove());

  test("contains only the files needed at run time", () => {
    const paths = packed.files.map(({ path }) => path).sort();
    const built = filesIn(join(root, "dist")).map((file) => `dist/${file}`);
    const skills = filesIn(join(root, "skills")).map((file) => `skills/${file}`);
    expect(paths).toEqual(["LICENSE", "README.md", ...built, ...skills, "package.json"].sort());
    const strange = built.filter(
      (path) =>
        !/^dist\/(assets\/[a-z]+\.(js|css)|views\/[a-z-]+\.html|[\w-]+\.js|THIRD_PARTY_LICENSES\.txt|sbom\.cdx\.json)$/.test(
          path,
        ),
    );
    expect(strange).toEqual([]);
  });

  test("has no dependencies, and includes the licences of bundled packages", () => {
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(root, "package.json"), "utf8"),
    );
    expect({ dependencies, optionalDependencies, peerDependencies }).toEqual({});
    const licences = readFileSync(join(root, "dist/THIRD_PARTY_LICENSES.txt"), "utf8");
    for (const name of ["@modelcontextprotocol/server", "zod", "undici", "nodemailer", "@aws-sdk/client-s3"]) {
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)$`, "m"));
    }
  });

  test("runs in an empty folder by npx, over stdio", async () => {
    const client = await connect("npx", npx(), outside());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(toolNames);
    const result = await client.callTool({ name: "list_programs", arguments: { limit: 1 } });
    expect(result.structuredContent).toMatchObject({ data: [{ programId: expect.any(String) }] });
  });

  test("runs in an empty folder by npx, over HTTP", async () => {
    const child = spawn("npx", npx("http", "--port", "0"), { ...outside(), detached: true });
    const ended = once(child, "close");
    onTestFinished(async () => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      await ended;
    });
    const startBanner = { origin: "", token: "" };
    for await (const line of createInterface({ input: child.stdout })) {
      startBanner.origin = /REST\s+(http:\S+)\/integrations/.exec(line)?.[1] ?? startBanner.origin;
      startBanner.token = /Token\s+(\S+)/.exec(line)?.[1] ?? startBanner.token;
      if (startBanner.origin && startBanner.token) break;
    }
    const answer = await fetch(`${startBanner.origin}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${startBanner.token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    for (const name of toolNames) expect(text).toContain(`"name":"${name}"`);
  });
});
