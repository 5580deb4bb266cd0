import { describe, expect, onTestFinished, test } from "vitest";
import { scopes } from "../../src/contract/access/scopes.ts";
import { clients, readError, type ToolClient } from "../support/clients/clients.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

async function openSetup(
  environment: Record<string, string> = {},
  client = "2026-07-28 over stdio",
  granted = [...scopes],
) {
  const { server, close } = await openTestServer({ PROGRAMME_EXPORT_WAIT_SECONDS: "30", ...environment });
  onTestFinished(close);
  const agent = (await clients[client]?.(server, await server.token(granted))) as ToolClient;
  const { programId } = await server.seed.program();
  return { server, agent, programId };
}

async function finish(server: TestServer, status: "completed" | "failed"): Promise<void> {
  await server.write(async (tx) => {
    for await (const job of tx.scan("exports", {})) await tx.update("exports", job, { status });
  });
}

async function reads(server: TestServer): Promise<number> {
  await server.app.pipeline.flush();
  const { rows } = await server.app.store
    .reader(server.businessId)
    .pageAudit({ action: "export.read" }, { limit: 100 });
  return rows.length;
}

describe("create_export", () => {
  test("without wait returns at once", async () => {
    const { server, agent, programId } = await openSetup();
    const result = await agent.call("create_export", { programId });
    expect(result.structuredContent?.data).toMatchObject({ programId, status: "pending" });
    expect(await reads(server)).toBe(0);
  });

  test.each(
    Object.keys(clients),
  )("with wait reports progress until the job ends, to a client of %s", async (client) => {
    const { server, agent, programId } = await openSetup({}, client);
    const messages: (string | undefined)[] = [];
    const onprogress = async ({ message }: { message?: string | undefined }) => {
      messages.push(message);
      if (messages.length === 1) await finish(server, "completed");
    };
    const result = await agent.call("create_export", { programId, wait: true }, { onprogress });
    expect(result.structuredContent?.data).toMatchObject({ programId, status: "completed" });
    expect(result.structuredContent?.notes).toBeUndefined();
    expect(messages[0]).toMatch(/^pending, \d+ s$/);
  });

  test("with wait returns a failed job", async () => {
    const { server, agent, programId } = await openSetup();
    const onprogress = () => finish(server, "failed");
    const result = await agent.call(
      "create_export",
      { programId, wait: true },
      { onprogress: () => void onprogress() },
    );
    expect(result.structuredContent?.data).toMatchObject({ status: "failed", downloadUrl: null });
  });

  test("with wait ends after the maximum time, and says how to continue", async () => {
    const { agent, programId } = await openSetup({ PROGRAMME_EXPORT_WAIT_SECONDS: "1" });
    const result = await agent.call("create_export", { programId, wait: "true" });
    expect(result.structuredContent?.data).toMatchObject({ status: "pending" });
    expect(result.structuredContent?.notes).toEqual([
      "wait: the text was read as true or false.",
      "The export was still pending after 1 seconds; follow it with get_export.",
    ]);
  });

  test("with wait stops polling when the client cancels, and the job remains", async () => {
    const { server, agent, programId } = await openSetup();
    const cancel = new AbortController();
    const call = agent.call(
      "create_export",
      { programId, wait: true },
      { signal: cancel.signal, onprogress: () => cancel.abort() },
    );
    await expect(call).rejects.toThrow();
    const before = await reads(server);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await reads(server)).toBe(before);
    const rows = await server.app.store.reader(server.businessId).find("exports", {}, { limit: 10 });
    expect(rows).toMatchObject([{ programId, status: "pending" }]);
  });

  test("with wait by a token that may not read exports returns the job with a note", async () => {
    const granted = scopes.filter((scope) => scope !== "exports:read");
    const { agent, programId } = await openSetup({}, "2026-07-28 over stdio", granted);
    const result = await agent.call("create_export", { programId, wait: true });
    expect(result.structuredContent?.data).toMatchObject({ status: "pending" });
    expect(result.structuredContent?.notes?.[0]).toContain("The access token lacks a scope");
  });

  test("with wait does not wait for a refused job", async () => {
    const { server, agent } = await openSetup();
    const result = await agent.call("create_export", { programId: "prg_none", wait: true });
    expect(readError(result).code).toBe("not_found");
    expect(await reads(server)).toBe(0);
  });
});
