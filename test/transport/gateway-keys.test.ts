import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRandomToken } from "../../src/lib/crypto/crypto.ts";
import { browsers } from "../resources/resource-clients.ts";
import { listTools, openGateway, postMcp, toolNames } from "../support/servers/gateway.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

describe("the gateway keys file", () => {
  test("is applied after it changes, without a restart, and so are the product token files", async () => {
    const { server, caller, file, directory, keep } = await openGateway("embedded");
    const [first, second] = [await server.token(["programs:read"]), await server.token(["rounds:read"])];
    const { key, entry } = await caller("crm", { token: first });
    const status = async () => (await postMcp(server, key, listTools)).status;
    expect(await status()).toBe(401);
    await writeFile(file, JSON.stringify([entry]));
    await waitFor(async () => expect(await status()).toBe(200));
    expect(await toolNames(server, key)).toContain("list_programs");

    const replacement = join(directory, await keep(second));
    await rename(replacement, join(directory, entry.tokenFile ?? ""));
    await waitFor(async () => expect(await toolNames(server, key)).not.toContain("list_programs"));
    expect(await toolNames(server, key)).toContain("list_rounds");

    await writeFile(file, "[]");
    await waitFor(async () => expect(await status()).toBe(401));
  });

  test("stays in force when its replacement is invalid, which is logged once", async () => {
    const { server, app, caller, admit, file, log } = await openGateway("embedded");
    const { key, entry } = await caller("crm");
    await admit(entry);
    const faults = () => log.map((line) => JSON.parse(line)).filter(({ level, fault }) => level === 50 && fault);
    for (const unfit of [
      async () => writeFile(file, '[{"name": "half'),
      async () => writeFile(file, JSON.stringify([{ ...entry, surprise: true }])),
      async () => writeFile(file, JSON.stringify([entry, entry])),
      async () => writeFile(file, JSON.stringify([{ ...entry, tokenFile: "nowhere" }])),
      async () => writeFile(file, JSON.stringify([{ ...entry, scopes: ["everything"] }])),
      async () => chmod(file, 0o640),
      async () => rm(file),
    ]) {
      const before = faults().length;
      await unfit();
      app.reloadKeys();
      app.reloadKeys();
      expect((await postMcp(server, key, listTools)).status).toBe(200);
      expect(faults().length).toBe(before + 1);
    }
    expect(log.join("\n")).not.toContain("half");
    await writeFile(file, "[]", { mode: 0o600 });
    app.reloadKeys();
    expect((await postMcp(server, key, listTools)).status).toBe(401);
  });

  test("ends the streams of a removed key, and notifies clients when a key's scopes change", async () => {
    const { server, caller, admit } = await openGateway("embedded");
    const { programId } = await server.seed.program();
    const [{ key, entry }, other] = [await caller("crm"), await caller("other")];
    await admit(entry, other.entry);
    const connect = browsers["2026-07-28 over HTTP"] as (typeof browsers)[string];
    const [browser, witness] = [await connect(server, key), await connect(server, other.key)];
    const uri = `programme://programs/${programId}`;
    const stream = await browser.client.listen({ resourceSubscriptions: [uri], toolsListChanged: true });
    expect([stream.honoredFilter.resourceSubscriptions, await witness.follow(uri)]).toEqual([[uri], [uri]]);
    const staff = await server.as("REST");
    let version = 0;
    /** Resolves when it has been told to those who may hear of it. */
    const change = async (name: string) => {
      await staff.update_program({ programId, version: version++, name });
      await waitFor(() => expect(witness.notifications.updated).toHaveLength(version));
    };
    await change("First");
    await waitFor(() => expect(browser.notifications.updated).toEqual([uri]));

    await admit({ ...entry, scopes: ["rounds:read"] }, other.entry);
    await waitFor(() => expect(browser.notifications.lists).toContain("tools"));
    await change("Second");
    expect(browser.notifications.updated).toEqual([uri]);

    const listChangesBefore = browser.notifications.lists.length;
    await admit(entry, other.entry);
    await waitFor(() => expect(browser.notifications.lists.length).toBeGreaterThan(listChangesBefore));
    await admit(other.entry);
    expect(await stream.closed).toBe("graceful");
    await change("Third");
    expect(browser.notifications.updated).toEqual([uri]);
  });

  test.each<[string, (file: string, entry: object) => Promise<void>, RegExp]>([
    ["others can read", (file) => chmod(file, 0o604), /chmod 600/],
    ["is no JSON", (file) => writeFile(file, "secret words"), /not valid JSON/],
    ["is no list", (file) => writeFile(file, "{}"), /list/],
    [
      "names a key twice",
      (file, entry) => writeFile(file, JSON.stringify([entry, { ...entry, name: "b" }])),
      /1\.sha256.*twice/,
    ],
    ["names nobody's key", (file) => writeFile(file, '[{"name": "a"}]'), /sha256 or a subject/],
    [
      "names a variable that is not there",
      (file, entry) =>
        writeFile(file, JSON.stringify([{ ...entry, tokenFile: undefined, tokenVariable: "NOT_THERE" }])),
      /a: NOT_THERE holds no access token/,
    ],
    [
      "relies on a token that is not there",
      (file, entry) => writeFile(file, JSON.stringify([{ ...entry, tokenFile: undefined }])),
      /PROGRAMME_TOKEN/,
    ],
    [
      "holds a token where its variable should be",
      (file, entry) =>
        writeFile(file, JSON.stringify([{ ...entry, tokenFile: undefined, tokenVariable: `a${"1".repeat(63)}` }])),
      /tokenVariable.*not a token/,
    ],
  ])("that %s prevents the start, and its content is not shown", async (_, spoil, message) => {
    const { file, caller } = await openGateway("embedded");
    const { entry } = await caller("a");
    await writeFile(file, JSON.stringify([entry]));
    await spoil(file, entry);
    const started = openTestServer({ PROGRAMME_GATEWAY_KEYS: file });
    const error = await started.then(
      () => undefined,
      (failure: Error) => failure,
    );
    expect(error).toMatchObject({ name: "UsageError", message: expect.stringMatching(message) });
    expect(error?.message).toMatch(/^PROGRAMME_GATEWAY_KEYS: [^\n]*$/);
    expect(error?.message).not.toMatch(/secret words|1{63}/);
  });

  test("may leave the product token to PROGRAMME_TOKEN", async () => {
    const token = createRandomToken();
    const { server, caller, admit } = await openGateway("embedded", { PROGRAMME_TOKEN: token });
    const { key, entry } = await caller("crm");
    const { tokenFile: _, ...without } = entry;
    await admit(without);
    // The service does not know it, which shows that it is this one.
    expect((await postMcp(server, key, listTools)).body.error.data.code).toBe("gateway_token_refused");
  });

  test("stores keys only as hashes", async () => {
    const { caller, admit, file } = await openGateway("embedded");
    const { key, entry } = await caller("crm");
    await admit(entry);
    const text = await readFile(file, "utf8");
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice(4));
  });
});
