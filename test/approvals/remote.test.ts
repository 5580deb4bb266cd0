import { expect, onTestFinished } from "vitest";
import { openAs } from "../identity/browser-session.ts";
import { clients, readConfirmation, type ToolClient } from "../support/clients/clients.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { type TestServer, test } from "../support/servers/test-server.ts";

/** A server in front of a product, with people of its own. */
async function openFront(product: TestServer): Promise<TestServer> {
  const app = await openRemote(product.origin, { PROGRAMME_CONFIRM: "human" }, { clock: product.clock });
  onTestFinished(() => app.close());
  const businessId = "biz_front";
  await app.store.insertBusiness({ businessId, name: "Front", createdAt: product.clock.now().toISOString() });
  const { origin } = await app.listen();
  return { ...product, app, origin, businessId };
}

test("with a remote service, everyone of the installation sees an approval, and the role decides who may approve", async ({
  server,
}) => {
  const { submissionId, version } = await server.seed.submission({ state: "IN_REVIEW", title: "Green roof" });
  const front = await openFront(server);
  const viewer = await openAs(front, { email: "vera@example.org", role: "viewer", seesSensitive: true });
  const [first, second] = [
    await openAs(front, { email: "rita@example.org", role: "staff" }),
    await openAs(front, { email: "sam@example.org", role: "staff", seesSensitive: true }),
  ];
  // The agent has a token of the product, not of a person here.
  const agent = (await clients["2026-07-28 over HTTP"]?.(front, await server.token())) as ToolClient;
  const args = { submissionId, version, reason: "Out of scope" };
  const asked = readConfirmation(await agent.call("eliminate_submission", args)) as { token: string; url?: string };
  const path = new URL(asked.url ?? "").pathname;
  const id = path.split("/").at(-1) ?? "";
  const repeat = () => agent.call("eliminate_submission", { ...args, confirmation: asked.token });

  expect((await viewer.open("/approvals")).text).not.toContain(id);
  expect((await viewer.open(path)).text).toContain("Your role only reads");
  expect((await viewer.submit(path, { decision: "approve" })).status).toBe(403);
  expect(readConfirmation(await repeat())).toMatchObject({ url: asked.url });
  for (const person of [first, second]) expect((await person.open("/approvals")).text).toContain(id);
  expect((await second.submit(path, { decision: "approve" })).status).toBe(303);
  expect((await repeat()).structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
  // Decided once, for everyone.
  expect((await first.submit(path, { decision: "decline" })).status).toBe(422);
});
