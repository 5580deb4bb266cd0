import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { rest } from "../support/clients/raw-http.ts";
import { openDatabases } from "../support/database/database-server.ts";
import { startPostgres } from "../support/database/postgres-server.ts";
import { waitFor } from "../support/wait.ts";
import { openReceiver } from "../webhooks/receiver.ts";
import { openWebhookServer } from "../webhooks/webhook-server.ts";

test("calls are refused while the database is away, and everything recovers by itself", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const databases = await openDatabases({ given: server.address });
  const { database } = await databases.copy();
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const webhookServer = await openWebhookServer({ environment: { PROGRAMME_DATABASE: database }, log });
  const { server: testServer, app } = webhookServer;
  const receiver = await openReceiver();
  await webhookServer.add(receiver.url);
  const { programId } = await testServer.seed.program();
  const token = await testServer.token();
  const agent = await testServer.with("MCP", token);
  app.startWorkers();
  await webhookServer.emit();
  await receiver.waitFor(1);

  await server.halt();
  for (const name of ["list_programs", "update_program"] as const) {
    const input = name === "list_programs" ? {} : { programId, name: "New", version: 0 };
    const refused = await rest(testServer, token, name, input, { "idempotency-key": "key-1" });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(refused.body).toMatchObject({ success: false, error: { code: "unavailable" } });
    await expect(agent[name](input)).rejects.toMatchObject({ code: "unavailable" });
  }
  await sleep(1_500);
  await server.resume();

  const updated = await rest(testServer, token, "update_program", { programId, name: "New", version: 0 });
  expect(updated.body).toMatchObject({ success: true, data: { name: "New", version: 1 } });
  expect(await agent.list_programs()).toMatchObject([{ programId, name: "New" }]);
  await webhookServer.emit();
  const { emailSendId } = await testServer.seed.emailSend({ status: "queued", sentAt: null });
  const { exportId } = await agent.create_export({ programId });
  const reader = app.store.reader(testServer.businessId);
  await waitFor(async () => {
    expect(receiver.received.length).toBeGreaterThanOrEqual(2);
    expect(await reader.get("emailSends", emailSendId)).toMatchObject({ status: "sent" });
    expect(await reader.get("exports", exportId)).toMatchObject({ status: "completed" });
  });

  const logged = lines.map((line) => JSON.parse(line) as { msg: string });
  const times = (msg: string) => logged.filter((line) => line.msg === msg).length;
  expect(times("The database cannot be reached")).toBe(1);
  expect(times("The database is reached again")).toBe(1);
  expect(lines.join("")).not.toContain(new URL(database).password);
});
