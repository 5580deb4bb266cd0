import { describe, expect, test } from "vitest";
import { type Home, openHome } from "../support/processes/program.ts";
import { answers, openReceiver } from "./receiver.ts";

interface Shop {
  readonly home: Home;
  /** Runs `webhook` with these arguments on a database of its own. */
  run(...args: string[]): ReturnType<Home["run"]>;
  /** The same with `--json`, of which the output is read. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
  json(...args: string[]): Promise<any>;
}

async function openShop(environment: Record<string, string> = {}): Promise<Shop> {
  const home = await openHome();
  const all = { PROGRAMME_DATABASE: home.database, PROGRAMME_WEBHOOK_LOOPBACK: "true", ...environment };
  const run: Shop["run"] = (...args) => home.run(["webhook", ...args], all);
  return {
    home,
    run,
    async json(...args) {
      const { code, stdout, stderr } = await run(...args, "--json");
      expect([code, stderr]).toEqual([0, ""]);
      return JSON.parse(stdout);
    },
  };
}

describe("endpoints", () => {
  test("are added with a secret that is shown once, listed, disabled, enabled, rotated and removed", async () => {
    const { run, json } = await openShop();
    const added = await run("add", "https://hooks.example/in", "--events", "payment.failed,review.submitted");
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^whsec_[\w+/=]{44}\n$/) });
    const [, endpointId = ""] =
      /^Endpoint (whe_\w+) of biz_\w+\. Its secret is not shown again\.\n$/.exec(added.stderr) ?? [];
    expect(endpointId).not.toBe("");

    expect(await json("list")).toMatchObject([
      {
        endpointId,
        url: "https://hooks.example/in",
        eventTypes: ["payment.failed", "review.submitted"],
        status: "enabled",
      },
    ]);
    const listed = await run("list");
    expect(listed.stdout).toMatch(
      new RegExp(`${endpointId}.*https://hooks.example/in.*payment.failed,review.submitted.*enabled`),
    );
    expect(listed.stdout).not.toContain(added.stdout.trim());

    expect(await json("disable", endpointId)).toEqual({ endpointId, status: "disabled" });
    expect((await run("list")).stdout).toMatch(/disabled: it was disabled by hand/);
    expect(await run("disable", endpointId)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/disabled already/),
    });
    expect(await run("replay", endpointId, "--since", "1d")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/enable it first/),
    });
    expect(await run("enable", endpointId)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Enabled whe_/) });
    expect(await run("enable", endpointId)).toMatchObject({ code: 2 });

    const rotated = await json("rotate-secret", endpointId, "--overlap", "2h");
    expect(rotated).toMatchObject({ endpointId, secret: expect.stringMatching(/^whsec_/) });
    expect(rotated.secret).not.toBe(added.stdout.trim());
    expect(await json("remove", endpointId)).toEqual({ endpointId, status: "removed" });
    expect(await json("list")).toEqual([]);
    expect(await run("remove", endpointId)).toMatchObject({ code: 2, stderr: expect.stringContaining(endpointId) });
  });

  test.each<[string[], RegExp]>([
    [["add", "http://hooks.example/"], /https/],
    [["add", "https://10.0.0.1/"], /private/],
    [
      ["add", "https://hooks.example/", "--events", "submission.submited"],
      /"submission\.submited".*submission\.submitted/,
    ],
    [["add", "https://hooks.example/", "--business", "Nobody"], /Nobody/],
    [["add"], /url/],
    [["enable", "whe_none"], /whe_none is no webhook endpoint/],
    [["test", "whe_none"], /whe_none/],
    [["rotate-secret", "whe_none", "--overlap", "soon"], /"soon".*24h/],
    [["deliveries", "dlv_none"], /dlv_none is not a delivery/],
    [["deliveries", "--limit", "many"], /--limit/],
    [["deliveries", "--status", "lost"], /"lost".*delivered/],
    [["replay", "dlv_none"], /dlv_none/],
    [["replay", "whe_none"], /--since/],
    [["frobnicate"], /frobnicate/],
  ])("a mistake ends with 2 and one line: %j", async (args, named) => {
    const { run } = await openShop();
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(named)]);
    expect(stderr).toMatch(/^[^\n]+\n$/);
  });

  test("are refused with a remote service, which has its own", async () => {
    const { run } = await openShop({ PROGRAMME_BASE_URL: "https://product.example" });
    expect(await run("list")).toMatchObject({ code: 2, stderr: expect.stringMatching(/the product sends its own/) });
  });
});

describe("deliveries", () => {
  test("are tested, made by a server, listed with what was answered, and sent again", async () => {
    const { home, run, json } = await openShop();
    const receiver = await openReceiver(answers(200, {}, "thanks \u{1b}[31m"));
    const { endpointId, businessId } = await json("add", receiver.url, "--events", "program.lifecycle_status_changed");

    const tested = await json("test", endpointId);
    expect(tested).toMatchObject({ eventType: "program.lifecycle_status_changed", statusCode: 200, error: null });
    expect(receiver.eventIds()).toEqual([tested.eventId]);
    expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({
      data: { businessId },
      eventId: tested.eventId,
    });
    receiver.answer(answers(500));
    expect(await run("test", endpointId, "--event", "payment.waived")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^payment\.waived evt_\w+: 500 after \d+ ms\n$/),
      stderr: expect.stringMatching(/did not take the event/),
    });
    receiver.answer(answers(200, {}, "thanks \u{1b}[31m"));
    const elsewhere = { PROGRAMME_DATABASE: home.database };
    expect(await home.run(["webhook", "test", endpointId], elsewhere)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/on this machine, which only PROGRAMME_WEBHOOK_LOOPBACK allows/),
    });
    expect(receiver.received).toHaveLength(2);
    expect(await json("deliveries")).toEqual([]);

    const database = { PROGRAMME_DATABASE: home.database, PROGRAMME_WEBHOOK_LOOPBACK: "true", PROGRAMME_PORT: "0" };
    const { stdout } = await home.run(["token", "create", "--scopes", "all"], database);
    const server = home.start(["http"], database);
    const [, origin = ""] = await server.printed(/REST {2}(\S+)\/integrations/);
    const headers = { authorization: `Bearer ${stdout.trim()}`, "content-type": "application/json" };
    expect((await fetch(`${origin}/integrations/v1/programs`, { headers })).status).toBe(200);
    const emitted = await emitOne(home.database, businessId);
    await receiver.waitFor(3);
    const getStatus = async () => (await json("deliveries", endpointId))[0]?.status;
    await expect.poll(getStatus).toBe("delivered");
    const [delivery] = await json("deliveries", endpointId, "--status", "delivered");
    expect(delivery).toMatchObject({ eventId: emitted, attempt: 1, lastStatusCode: 200 });
    const attempts = await run("deliveries", delivery.deliveryId);
    expect(attempts.stdout).toContain("thanks \\u001b[31m");
    expect(attempts.stdout).not.toContain("\u{1b}");

    expect(await json("replay", delivery.deliveryId)).toEqual({ queued: 1 });
    await receiver.waitFor(4);
    expect(receiver.eventIds().slice(2)).toEqual([emitted, emitted]);
    expect(await json("replay", endpointId, "--since", "1h")).toEqual({ queued: 0 });
    expect(await json("replay", endpointId, "--since", "1h", "--all")).toEqual({ queued: 1 });
    await receiver.waitFor(5);
    expect((await server.stop()).code).toBe(0);
  });
});

/** Writes an event into the database as a change would; gives its id. */
async function emitOne(database: string, businessId: string): Promise<string> {
  const { openStore } = await import("../../src/store/open.ts");
  const store = await openStore({ database });
  const [eventId, now] = ["evt_made", new Date().toISOString()];
  const data = { businessId, programId: "prg_1", fromStatus: "configured", toStatus: "underway", version: 1 } as const;
  const event = { eventType: "program.lifecycle_status_changed", eventId, timestamp: now, data } as const;
  await store.transaction({ businessId, actorId: "usr_test", now }, (transaction) => transaction.appendEvents([event]));
  await store.close();
  return eventId;
}
