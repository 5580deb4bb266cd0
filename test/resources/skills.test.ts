import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { describe, expect } from "vitest";
import { callNames } from "../../src/contract/index.ts";
import { openTestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { browsers, catchRefusal, connectBrowser } from "./resource-clients.ts";

const folder = join(import.meta.dirname, "../../skills");
const names = readdirSync(folder).toSorted();
const textOf = (name: string) => readFileSync(join(folder, name, "SKILL.md"), "utf8");
const { "first major over HTTP": _, ...secondMajors } = browsers;

describe.each(Object.entries(secondMajors))("%s", (_, connect) => {
  test("a host lists the skills, and reads and verifies each as it is in the package", async ({ server }) => {
    const { client } = await connect(server, await server.token());
    const skills = new SkillsClient(client);
    expect(skills.supported).toBe(true);
    const { skills: entries, ...hints } = await skills.list();
    expect(entries.map(({ frontmatter }) => frontmatter.name).toSorted()).toEqual(names);
    expect(hints).toMatchObject({ invalid: [] });
    for (const entry of entries) {
      const file = await skills.read(entry);
      expect(file).toMatchObject({ verified: true, mimeType: "text/markdown", text: textOf(entry.frontmatter.name) });
      expect((await skills.get(entry.uri)).skill).toEqual(entry);
    }
  });
});

test("there is a skill for every prompt, in the published format, and the page on skills lists it", async ({
  server,
}) => {
  const page = readFileSync(join(folder, "../docs/skills.md"), "utf8");
  const { client } = await connectBrowser(server, await server.token());
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }: { name: string }) => name.replaceAll("_", "-")).toSorted()).toEqual(names);
  for (const name of names) {
    expect(page).toContain(`(../skills/${name}/SKILL.md)`);
    expect(readdirSync(join(folder, name))).toEqual(["SKILL.md"]);
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
    const text = textOf(name);
    const fields = [...(/^---\n(.*?)\n---\n/s.exec(text)?.[1] ?? "").matchAll(/^([a-z-]+): (.*)$/gm)];
    expect(fields.map(([, key]) => key)).toEqual(["name", "description", "license", "compatibility"]);
    const [, description = "", , compatibility = ""] = fields.map(([, , value]) => value);
    expect(description.length).toBeLessThan(1_024);
    expect(compatibility.length).toBeLessThan(500);
    expect(callNames.filter((tool) => new RegExp(`\\b${tool}\\b`).test(text)).length).toBeGreaterThan(1);
    expect(text).toMatch(/agreement|agreed|asked|given to you/i);
    expect(text).not.toMatch(/undefined|\[object/);
  }
});

test("a skill whose tools the caller may not use is neither listed, described nor read", async ({ server }) => {
  const { client } = await connectBrowser(server, await server.token(["programs:read"]));
  const skills = new SkillsClient(client);
  expect((await skills.list()).skills).toEqual([]);
  for (const uri of ["skill://decision-brief/SKILL.md", "skill://none/SKILL.md", "skill://decision-brief/../x"]) {
    expect(await catchRefusal(skills.get(uri))).toMatchObject({ code: -32602 });
    expect(await catchRefusal(client.readResource({ uri }))).toMatchObject({ code: -32602 });
  }
});

test("skills whose tools are disabled by a setting are not offered", async () => {
  const { server, close } = await openTestServer({ PROGRAMME_READ_ONLY: "true" });
  try {
    const { client } = await connectBrowser(server, await server.token());
    const { skills } = await new SkillsClient(client).list();
    expect(skills.map(({ frontmatter }) => frontmatter.name)).toEqual(["round-progress", "decision-brief"]);
  } finally {
    await close();
  }
});
