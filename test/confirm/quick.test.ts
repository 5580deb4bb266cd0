import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { expect, test } from "vitest";
import { openDesk } from "../support/desk.ts";

test.each(["legacy", { pin: "2026-07-28" }, "none"])("%j", async (mode) => {
  const { desk, close } = await openDesk({ PROGRAMME_CONFIRM: "ask" });
  const s = await desk.seed.submission({ state: "IN_REVIEW" });
  const [here, there] = InMemoryTransport.createLinkedPair();
  serveStdio(desk.app.mcpServer(await desk.token()), { transport: there });
  const el = mode !== "none";
  const client = new Client({ name: "t", version: "1" }, { versionNegotiation: { mode: el ? mode : "auto" } as never, capabilities: el ? { elicitation: { form: {} } } : {} });
  const asked: string[] = [];
  if (el) client.setRequestHandler("elicitation/create", async (r) => { asked.push((r.params as any).message); return { action: "accept", content: { confirm: true } }; });
  await client.connect(here);
  const args = { submissionId: s.submissionId, reason: "no", version: s.version };
  let r: any = await client.callTool({ name: "eliminate_submission", arguments: args });
  console.log(client.getProtocolEra(), asked, JSON.stringify(r).slice(0, 700));
  if (!el) {
    const { token } = JSON.parse(r.content[0].text).confirmation;
    expect(await desk.outbox()).toEqual([]);
    r = await client.callTool({ name: "eliminate_submission", arguments: { ...args, confirmation: token } }).catch((e) => e);
    console.log(JSON.stringify(r).slice(0, 300));
  }
  await client.close(); await close();
});
