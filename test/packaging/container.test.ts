import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { loadConfig } from "../../src/config/load.ts";
import { settings } from "../../src/config/table.ts";
import { root } from "./folder.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const dockerfile = read("Dockerfile").replaceAll("\\\n", " ");
const lines = dockerfile.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
const compose = read("compose.yaml");

describe("the image", () => {
  test("sets only existing settings, and no allowed host", () => {
    const env = lines.find((line) => line.startsWith("ENV ")) ?? "";
    const given = Object.fromEntries(
      [...env.matchAll(/(PROGRAMME_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    );
    expect(given["PROGRAMME_DATA_DIR"]).toBe("/data");
    expect(() => loadConfig(given)).toThrow(/PROGRAMME_ALLOWED_HOSTS is needed/);
    expect(loadConfig({ ...given, PROGRAMME_PUBLIC_URL: "http://localhost:3000" }).allowedHosts).toEqual(["localhost"]);
  });

  test("is built from files that .dockerignore includes", () => {
    const seen = [...read(".dockerignore").matchAll(/^!(.+)$/gm)].map((match) => match[1]);
    const copied = lines
      .filter((line) => /^COPY (?!--from)/.test(line))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect([...copied].sort()).toEqual([...seen].sort());
  });

  test("runs as an unprivileged user, without a shell", () => {
    const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
    expect(last.filter((line) => /^(RUN|ADD) /.test(line))).toEqual([]);
    expect(last).toContain("USER 1000:1000");
    for (const name of ["ENTRYPOINT", "CMD"]) {
      const words = JSON.parse(last.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? "");
      expect(words.length).toBeGreaterThan(0);
    }
    expect(JSON.parse(/^HEALTHCHECK .* CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? "")).toEqual([
      "node",
      "-e",
      expect.stringContaining("/healthz"),
    ]);
  });

  test("has the label with the server's name that the registry needs", () => {
    expect(dockerfile).toContain(`io.modelcontextprotocol.server.name="${packageJson.mcpName}"`);
  });

  test("has a Node that runs the program", () => {
    const [, version] = /^ARG NODE_VERSION=(\d+)$/m.exec(dockerfile) ?? [];
    expect(Number(version)).toBeGreaterThan(Number(/>=(\d+)/.exec(packageJson.engines.node)?.[1]));
  });
});

describe("the composition", () => {
  test("uses existing settings, and secrets only by reference", () => {
    const variables = settings.map(([, { variable }]) => variable as string);
    const named = [...compose.matchAll(/^ {6}(PROGRAMME_\w+): (.*)$/gm)];
    expect(named.map(([, name]) => name)).toEqual(
      expect.arrayContaining(["PROGRAMME_DATABASE", "PROGRAMME_SECRET_KEY"]),
    );
    for (const [, name = "", value = ""] of named) {
      expect(variables).toContain(name);
      const secret = /PASSWORD|KEY|TOKEN|DATABASE/.test(name);
      if (secret) expect(value).toMatch(/\$\{\w+:\?/);
    }
    expect(compose).toMatch(/^ {4}read_only: true$/m);
  });
});
