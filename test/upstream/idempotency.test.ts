import { describe, expect, onTestFinished, test } from "vitest";
import type { TestServer } from "../support/servers/test-server.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { type Agent, openAgent } from "./agent.ts";
import { drop, status } from "./misbehaving-proxy.ts";
import { openRemoteSetup } from "./remote-setup.ts";

interface Setup {
  readonly server: TestServer;
  readonly agent: Agent;
}

const setups: Record<string, () => Promise<Setup>> = {
  "the embedded service": async () => {
    const { server, close } = await openTestServer();
    onTestFinished(close);
    return { server, agent: await openAgent(server.app, await server.token()) };
  },
  "a remote service": openRemoteSetup,
};

const repeated = "earlier identical call";

describe.each(Object.entries(setups))("a call with its caller's own key, to %s", (_, open) => {
  const person = { kinds: ["contact"], provenance: { source: "test" } };
  const persons = ({ server }: Setup) => server.app.store.reader(server.businessId).find("persons", {}, { limit: 10 });

  test("is applied once, and repetitions get the first answer", async () => {
    const setup = await open();
    const first = await setup.agent.call("create_person", person, { key: "run-7/step-1" });
    const again = await setup.agent.call("create_person", person, { key: "run-7/step-1" });
    expect(again.data).toEqual(first.data);
    expect(first.notes?.join()).not.toContain(repeated);
    expect(again.notes?.join()).toContain(repeated);
    expect(await persons(setup)).toHaveLength(1);
    await setup.agent.call("create_person", person, { key: "run-8/step-1" });
    await setup.agent.call("create_person", person);
    await setup.agent.call("create_person", person);
    expect(await persons(setup)).toHaveLength(4);
  });

  test("is another call on another record, and with another body", async () => {
    const setup = await open();
    const [one, two] = [await setup.server.seed.submission(), await setup.server.seed.submission()];
    const withdraw = (submissionId: string, reason: string) =>
      setup.agent.call("withdraw_submission", { submissionId, reason, version: 0 }, { key: "withdrawals" });
    const outcomes = [
      await withdraw(one.submissionId, "Asked to"),
      await withdraw(two.submissionId, "Asked to"),
      await withdraw(two.submissionId, "Asked to"),
      await withdraw(two.submissionId, "Asked again"),
    ];
    expect(outcomes.map(({ data, error }) => data?.submissionId ?? error?.code)).toEqual([
      one.submissionId,
      two.submissionId,
      two.submissionId,
      "version_conflict",
    ]);
    expect(outcomes.map(({ notes }) => notes?.join().includes(repeated) ?? false)).toEqual([false, false, true, false]);
  });

  test.for(["", 7, null, "x".repeat(256), {}])("that is invalid (%j) is refused", async (key) => {
    const setup = await open();
    const { error } = await setup.agent.call("create_person", person, { key });
    expect(error).toMatchObject({ code: "validation_failed" });
    expect(error?.details.issues[0].path).toBe("_meta.programme-mcp/idempotencyKey");
    expect(await persons(setup)).toEqual([]);
    expect((await setup.agent.call("list_persons", {}, { key })).data).toEqual([]);
  });

  test("may be any text", async () => {
    const setup = await open();
    for (const key of ["x".repeat(255), "Schritt 1 · ü \n 日本"]) {
      for (let times = 0; times < 2; times += 1) {
        expect((await setup.agent.call("create_person", person, { key })).error).toBeUndefined();
      }
    }
    expect(await persons(setup)).toHaveLength(2);
  });
});

describe("idempotency keys sent to a remote service", () => {
  test("are the same for all attempts of a call, differ between calls, and are absent from reads", async () => {
    const { proxy, agent } = await openRemoteSetup();
    const keys = () => proxy.requests.splice(0).map(({ headers }) => headers["idempotency-key"]);
    let left = 0;
    proxy.behave(() => (left-- > 0 ? drop : undefined));
    left = 3;
    await agent.call("create_person", { kinds: [], provenance: { source: "a" } });
    const first = keys();
    expect([first.length, new Set(first).size]).toEqual([4, 1]);
    await agent.call("create_person", { kinds: [], provenance: { source: "a" } });
    const second = keys();
    expect(second).toHaveLength(1);
    expect(second[0]).not.toBe(first[0]);
    await agent.call("list_persons");
    expect(keys()).toEqual([undefined]);
  });

  test("depend on the record, because a service may compare only key and body", async () => {
    const { proxy, agent } = await openRemoteSetup();
    const args = { reason: "Asked to", version: 0 };
    for (const submissionId of ["sub_1", "sub_2", "sub_1"]) {
      await agent.call("withdraw_submission", { submissionId, ...args }, { key: "withdrawals" });
    }
    const [first, second, third] = proxy.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(first).toMatch(/^[\x21-\x7e]{1,255}$/);
    expect(second).not.toBe(first);
    expect(third).toBe(first);
  });

  test("return an export made before without using the quota", async () => {
    const { server, proxy, agent } = await openRemoteSetup();
    const { programId } = await server.seed.program();
    const first = await agent.call("create_export", { programId }, { key: "nightly" });
    const again = await agent.call("create_export", { programId }, { key: "nightly" });
    expect(again.data.exportId).toBe(first.data.exportId);
    const requestsBefore = proxy.requests.length;
    const another = await agent.call("create_export", { programId });
    expect(another.error).toMatchObject({ code: "export_rate_limited" });
    expect(another.error?.details.retryAfterSeconds).toBeGreaterThan(290);
    expect(proxy.requests).toHaveLength(requestsBefore);
  });

  test("do not lead to another attempt after a permanent refusal", async () => {
    const { proxy, agent } = await openRemoteSetup();
    proxy.behave(() => status(409, {}, JSON.stringify({ success: false, error: { code: "person_merged" } })));
    const { error } = await agent.call("update_person", { personId: "per_1", version: 0 });
    expect([error?.code, proxy.requests.length]).toEqual(["person_merged", 1]);
  });
});

test("a refusal that is repeated under a key says so, and names the way to try again", async () => {
  const { server, close } = await openTestServer();
  onTestFinished(close);
  const agent = await openAgent(server.app, await server.token());
  const { data: person } = await agent.call("create_person", { kinds: ["contact"], provenance: { source: "test" } });
  const update = (version: number, source: string, key: string) =>
    agent.call("update_person", { personId: person?.personId, version, provenance: { source } }, { key });
  expect((await update(1, "later", "early")).error?.next).not.toContain(repeated);
  await update(0, "first", "first");
  const again = await update(1, "later", "early");
  expect(again.error).toMatchObject({ code: "version_conflict" });
  expect(again.error?.next).toContain(repeated);
  expect((await update(1, "later", "another")).error).toBeUndefined();
});
