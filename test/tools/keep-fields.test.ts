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

test("a merge whose update fails is done, says which fields were not taken, and leaves them as they were", async () => {
  // The call, the reads of both persons and the merge use three permits; the update has none.
  const { server, agent } = await services.embedded({ PROGRAMME_CONFIRM: "off", PROGRAMME_REQUESTS_PER_MINUTE: "3" });
  const phone = "+41791234567";
  const source = await server.seed.person({ contactDetails: { phone, title: "Dr" } });
  const target = await server.seed.person({ contactDetails: { phone: "+41440000000" } });
  const { data, error, notes } = await agent.call("merge_person", {
    personId: source.personId,
    targetPersonId: target.personId,
    sourceVersion: source.version,
    targetVersion: target.version,
    keep: ["phone"],
  });
  expect(error).toBeUndefined();
  expect(notes?.[0]).toMatch(
    /^The persons are merged, but not taken from the source: phone \(rate_limited: .*\)\. Set them with update_person\.$/,
  );
  const read = (personId: string) => server.app.store.reader(server.businessId).get("persons", personId);
  expect(await read(source.personId)).toMatchObject({ active: false, mergedIntoPersonId: target.personId });
  const merged = { contactDetails: { phone: "+41440000000", title: "Dr" }, version: data.version };
  expect(await read(target.personId)).toMatchObject(merged);

  server.clock.advance(60_000);
  const { personId, version } = { ...target, ...data };
  const updated = await agent.call("update_person", { personId, version, contactDetails: { phone } });
  expect(updated.error).toBeUndefined();
  expect((await read(target.personId))?.contactDetails).toMatchObject({ phone });
});
