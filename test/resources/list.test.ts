import { describe, expect } from "vitest";
import { tenantTest as test } from "../support/servers/test-server.ts";
import { browsers, catchRefusal, connectBrowser } from "./resource-clients.ts";

interface Entry {
  readonly uri: string;
  readonly name: string;
  readonly annotations?: { readonly lastModified?: string };
}

describe.each(Object.entries(browsers))("%s", (_, connect) => {
  test("lists current programmes first, with their parts, and then what belongs to no programme", async ({
    server,
  }) => {
    for (const lifecycleStatus of ["archived", "completed", "draft", "configured", "underway"] as const) {
      await server.seed.program({
        programId: `prg_${lifecycleStatus}`,
        name: `The ${lifecycleStatus} call`,
        lifecycleStatus,
      });
    }
    await server.seed.program({ programId: "prg_newest", name: "The newest call", lifecycleStatus: "archived" });
    await server.seed.personSchema();
    const { client } = await connect(server, await server.token());
    const { resources, nextCursor } = (await client.listResources()) as { resources: Entry[]; nextCursor?: string };
    expect(nextCursor).toBeUndefined();
    const records = resources.filter(({ uri }) => /^programme:\/\/programs\/\w+$/.test(uri));
    expect(records.map(({ name }) => name)).toEqual(
      ["underway", "configured", "draft", "completed", "newest", "archived"].map((name) => `The ${name} call`),
    );
    expect(records.every(({ annotations }) => annotations?.lastModified)).toBe(true);
    const uris = resources.map(({ uri }) => uri);
    expect(uris[0]).toBe("programme://programs/prg_underway");
    expect(uris).toEqual(
      expect.arrayContaining([
        "programme://programs/prg_underway/tracks",
        "programme://programs/prg_underway/rounds",
        "programme://submissions?programId=prg_configured",
        "programme://person-fields/schema",
        "programme://submissions",
        "programme://programs",
      ]),
    );
    expect(uris.filter((uri) => uri.includes("prg_archived"))).toEqual(["programme://programs/prg_archived"]);
    expect(new Set(uris).size).toBe(uris.length);
    expect(uris.indexOf("programme://person-fields/schema")).toBeGreaterThan(
      uris.indexOf("programme://programs/prg_archived"),
    );
    // Everything listed can be read.
    for (const uri of uris) await expect(client.readResource({ uri }), uri).resolves.toBeDefined();
  });
});

test("templates, lists of the organisation and prompts have titles", async ({ server }) => {
  const { client } = await connectBrowser(server, await server.token());
  const [{ resourceTemplates }, { resources }, { prompts }] = await Promise.all([
    client.listResourceTemplates(),
    client.listResources(),
    client.listPrompts(),
  ]);
  const lists: readonly { name: string; title?: string }[][] = [resourceTemplates, resources, prompts];
  for (const entries of lists) {
    expect(entries.length).toBeGreaterThan(0);
    for (const { name, title } of entries) expect(title, name).toMatch(/^[A-Z][a-z-]+( [a-z][a-z-]*)*$/);
    expect(new Set(entries.map(({ title }) => title)).size).toBe(entries.length);
  }
});

test("continues from its cursor without losing or repeating a programme", async ({ server }) => {
  for (let count = 0; count < 120; count++) {
    await server.seed.program({ programId: `prg_${count}`, lifecycleStatus: "completed" });
  }
  const { client } = await connectBrowser(server, await server.token(["programs:read", "schemas:read"]));
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page: { resources: Entry[]; nextCursor?: string } = await client.listResources(cursor ? { cursor } : {});
    seen.push(...page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(seen.filter((uri) => uri.startsWith("programme://programs/"))).toHaveLength(120);
  expect(seen).toContain("programme://events");
  expect(new Set(seen).size).toBe(122);
});

test("refuses a foreign cursor", async ({ server }) => {
  const { client } = await connectBrowser(server, await server.token());
  expect(await catchRefusal(client.listResources({ cursor: "abc" }))).toMatchObject({ code: -32602 });
  expect(await catchRefusal(client.listResourceTemplates({ cursor: "abc" }))).toMatchObject({ code: -32602 });
  const without = await connectBrowser(server, await server.token(["schemas:read"]));
  expect(await catchRefusal(without.client.listResources({ cursor: "abc" }))).toMatchObject({ code: -32602 });
});
