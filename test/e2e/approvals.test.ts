import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { BrowserSession, password } from "../identity/browser-session.ts";
import { readConfirmation, readError, type ToolResult } from "../support/clients/clients.ts";
import { type Home, openHome } from "../support/processes/program.ts";

/** Starts the settings of an agent on the demonstration data: embedded, or with the product's service in another process. */
async function openSettings(service: "embedded" | "remote") {
  if (service === "embedded") return { environment: {}, invitation: ["--business", "Aldersund Foundation"] };
  const product = await openHome();
  const started = product.start(["http", "--port", "0"]);
  const [, origin = ""] = await started.printed(/REST +(http:\/\/\S+)\/integrations\/v1\n/);
  const [, token = ""] = await started.printed(/Token +(.*)\n/);
  return { environment: { PROGRAMME_BASE_URL: origin, PROGRAMME_TOKEN: token }, invitation: [] };
}

async function connectAgent(home: Home, environment: Record<string, string>) {
  const client = new Client({ name: "Desktop", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  const command = home.command(["stdio"], { ...environment, PROGRAMME_CONFIRM: "human" });
  await client.connect(new StdioClientTransport({ ...command, stderr: "ignore" }));
  onTestFinished(() => client.close());
  return async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })) as unknown as ToolResult;
}

describe.each(["embedded", "remote"] as const)("an agent over stdio, with the %s service", (service) => {
  test("waits for a person, who decides in the console of another process or at the link", async () => {
    const home = await openHome();
    const { environment, invitation } = await openSettings(service);
    const invited = await home.run(
      ["user", "invite", "olga@example.org", "--role", "staff", ...invitation],
      environment,
    );
    const [, secret = ""] = /\/join\/(\S+)/.exec(invited.stdout) ?? [];
    const call = await connectAgent(home, environment);
    const { data } = (await call("list_submissions", { state: "IN_REVIEW", limit: 2, select: "version" }))
      .structuredContent as unknown as { data: { submissionId: string; version: number }[] };
    const [first, second] = data.map((row) => ({ ...row, reason: "Outside the region" }));
    if (!first || !second) throw new Error("The demonstration has no submissions in review");
    // The invitation is not accepted yet.
    expect(readError(await call("eliminate_submission", first)).code).toBe("confirmation_unavailable");

    const consoleProcess = home.start(["console", "--port", "0"], environment);
    const [, origin = ""] = await consoleProcess.printed(/Page +(http:\/\/\S+)\/\n/);
    const person = new BrowserSession({ origin });
    const joined = await person.submit(`/join/${secret}`, { name: "Olga", password, repeated: password });
    expect(joined.status).toBe(303);
    expect((await fetch(`${person.origin}/mcp`, { method: "POST" })).status).toBe(404);

    const question = readConfirmation(await call("eliminate_submission", first)) as { token: string; url?: string };
    const { origin: linkOrigin, pathname } = new URL(String(question.url));
    expect((await person.open("/approvals")).text).toContain(pathname);
    expect((await person.submit(pathname, { decision: "approve" })).status).toBe(303);
    const done = await call("eliminate_submission", { ...first, confirmation: question.token });
    expect(done.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });

    // The link leads to the agent's own process, where the person signs in too.
    const atLink = new BrowserSession({ origin: linkOrigin });
    const again = readConfirmation(await call("eliminate_submission", second)) as { token: string; url?: string };
    expect((await atLink.submit("/sign-in", { email: "olga@example.org", password, next: "/" })).status).toBe(303);
    const declined = { decision: "decline", reason: "Not yet" };
    expect((await atLink.submit(new URL(String(again.url)).pathname, declined)).status).toBe(303);
    const refused = await call("eliminate_submission", { ...second, confirmation: again.token });
    expect(readError(refused)).toMatchObject({ code: "confirmation_declined", details: { reason: "Not yet" } });
    await consoleProcess.stop();
  });
});
