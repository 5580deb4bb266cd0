import { expect, onTestFinished, test } from "vitest";
import { openTestServer } from "../support/servers/test-server.ts";
import { openAgent } from "../upstream/agent.ts";
import { openRemoteSetup } from "../upstream/remote-setup.ts";

/** Agents of the embedded service and of a remote one. */
const services = {
  async embedded(environment: Record<string, string>) {
    const { server, close } = await openTestServer(environment);
    onTestFinished(close);
    return { server, agent: await openAgent(server.app, await server.token()) };
  },
  remote: (environment: Record<string, string>) => openRemoteSetup({ environment }),
};

test.each(
  Object.entries(services),
)("a merge with the %s service takes the named fields from the source, by one agreement", async (_, open) => {
  const { server, agent } = await open({ PROGRAMME_CONFIRM: "ask", PROGRAMME_PRIVACY: "pseudonymize" });
  const source = await server.seed.person({
    primaryEmail: "new@example.org",
    contactDetails: { phone: "+41791234567", organization: "ETH", title: "Dr" },
  });
  const target = await server.seed.person({
    primaryEmail: "old@example.org",
    contactDetails: { phone: "+41440000000", organization: "EPFL" },
  });
  const args = {
    personId: source.personId,
    targetPersonId: target.personId,
    sourceVersion: source.version,
    targetVersion: target.version,
    keep: ["phone", "organization", "address"],
  };
  const read = () => server.app.store.reader(server.businessId).get("persons", target.personId);
  const { confirmation } = await agent.call("merge_person", args);
  expect(confirmation?.question).toContain("organization of the survivor: “EPFL” → “ETH”");
  expect(confirmation?.question).toContain("phone of the survivor: ");
  expect(confirmation?.question).toContain("address: the source has none, so the survivor's stays");
  expect(confirmation?.question).not.toContain("+4179");
  expect((await read())?.contactDetails?.organization).toBe("EPFL");
  const other = await agent.call("merge_person", { ...args, keep: ["title"], confirmation: confirmation?.token });
  expect(other.error?.code).toBe("confirmation_invalid");
  const { notes } = await agent.call("merge_person", { ...args, confirmation: confirmation?.token });
  expect(notes?.[0]).toBe("Taken from the source: phone, organization.");
  expect(await read()).toMatchObject({
    primaryEmail: "old@example.org",
    contactDetails: { phone: "+41791234567", organization: "ETH", title: "Dr" },
  });
});
