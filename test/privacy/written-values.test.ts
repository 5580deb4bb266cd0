import { describe, expect, onTestFinished, test } from "vitest";
import { clients, readConfirmation, readData, type ToolClient } from "../support/clients/clients.ts";
import { openTestServer } from "../support/servers/test-server.ts";

const own = "new.office@fund.example";
const secret = "ada.lovelace@engine.example";
const handle = /[a-z2-7.]+@(?:[a-z2-7]+\.)*handle\.invalid/;

async function openFixture(environment: Record<string, string> = {}) {
  const { server, close } = await openTestServer({ PROGRAMME_PRIVACY: "pseudonymize", ...environment });
  onTestFinished(close);
  const agent = (await clients["2026-07-28 over stdio"]?.(server, await server.token())) as ToolClient;
  return { server, agent };
}

describe("an address that the agent wrote", () => {
  test("is shown as written in the answer of that call, and as a handle afterwards", async () => {
    const { server, agent } = await openFixture();
    const { personId, version } = await server.seed.person({ primaryEmail: secret });
    const change = {
      primaryEmail: own,
      contactDetails: { phone: "+44 20 7946 0018" },
      metadata: { note: `At ${own}` },
    };
    const changed = await agent.call("update_person", { personId, version, ...change });
    expect(readData(changed)).toMatchObject(change);
    const read = readData(await agent.call("get_person", { personId }));
    expect(read.primaryEmail).toMatch(handle);
    expect(JSON.stringify(read)).not.toContain(own);
  });

  test("is shown as a handle by a read, to be compared with other records", async () => {
    const { server, agent } = await openFixture();
    await server.seed.emailSend({ recipientEmail: own });
    const [row] = readData(await agent.call("list_email_sends", { recipientEmail: own }));
    expect(row.recipientEmail).toMatch(handle);
  });

  test("is shown as written in the question, beside handles of addresses that it did not write", async () => {
    const { server, agent } = await openFixture({ PROGRAMME_CONFIRM: "ask" });
    const { programId } = await server.seed.program();
    await server.seed.applicant({ email: own, name: "Grace", programIds: [programId] });
    await server.seed.applicant({ email: secret, name: "Ada", programIds: [programId] });
    const rows = readData(await agent.call("list_applicants", { programId })) as { name: string; email: string }[];
    const ada = rows.find(({ name }) => name === "Ada")?.email ?? "";
    const applicantEmails = [own, ada, "nobody@fund.example"];
    const applicants = { applicantEmails, subject: "Hello", body: `Write to ${own}` };
    const { question } = readConfirmation(await agent.call("send_bulk_email", { programId, applicants }));
    const shown = question.replaceAll("(.)", ".");
    expect(shown).toContain(`(${own})`);
    expect(shown).toContain(`“Write to ${own}”`);
    expect(shown).toContain(ada);
    expect(shown).not.toContain(secret);
  });

  test("is shown as written where a message is not sent to it", async () => {
    const { server, agent } = await openFixture();
    const { programId } = await server.seed.program();
    const applicants = { applicantEmails: [own], subject: "Hello", body: "Text" };
    const outcome = readData(await agent.call("send_bulk_email", { programId, applicants }));
    expect(outcome.skipped).toEqual([{ recipient: own, reason: "unknown_recipient" }]);
  });
});

describe("an address that the agent did not write for a field", () => {
  test("stays a handle, whatever guesses other fields contain", async () => {
    const { server, agent } = await openFixture();
    const { personId, version } = await server.seed.person({ primaryEmail: secret });
    const guesses = { primaryEmail: secret, nested: { primaryEmail: secret }, list: [secret] };
    const changed = await agent.call("update_person", { personId, version, metadata: guesses, select: "*" });
    const data = readData(changed);
    expect(data.metadata).toEqual(guesses);
    expect(data.primaryEmail).toMatch(handle);
    const { trackId } = await server.seed.track();
    const draft = { trackId, deadline: "2026-12-31T00:00:00Z", personId, fields: { fld_title: secret } };
    const created = readData(await agent.call("create_submission", { ...draft, select: "*" }));
    expect(created.fields.fld_title).toBe(secret);
    expect(created.innovatorEmail).toMatch(handle);
  });

  test("stays a handle if the agent wrote the handle", async () => {
    const { server, agent } = await openFixture();
    const { personId, version } = await server.seed.person({ primaryEmail: secret });
    const { primaryEmail } = readData(await agent.call("get_person", { personId }));
    const changed = await agent.call("update_person", { personId, version, primaryEmail });
    expect(readData(changed).primaryEmail).toBe(primaryEmail);
    expect(JSON.stringify(changed)).not.toContain(secret);
  });

  test("is not shown by a privacy mode that leaves the field out", async () => {
    const { server, agent } = await openFixture({ PROGRAMME_PRIVACY: "redact" });
    const { personId, version } = await server.seed.person({ primaryEmail: secret });
    const changed = await agent.call("update_person", { personId, version, primaryEmail: own, select: "*" });
    expect(readData(changed)).not.toHaveProperty("primaryEmail");
    const listed = readData(await agent.call("resolve_persons", { email: own }));
    expect(JSON.stringify(listed)).not.toContain(own);
  });
});

test("get_connection explains handles if there are any", async () => {
  const { agent } = await openFixture();
  expect(readData(await agent.call("get_connection", {})).handles).toMatch(/handle\.invalid: pass them as they are/);
  const open = await openFixture({ PROGRAMME_PRIVACY: "off" });
  expect(readData(await open.agent.call("get_connection", {}))).not.toHaveProperty("handles");
});
