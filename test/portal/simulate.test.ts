import { expect, test, vi } from "vitest";
import { type EventType, events } from "../../src/contract/events.ts";
import { openStore } from "../../src/store/open.ts";
import type { Row, TableName } from "../../src/store/tables.ts";
import { openMailSetup } from "../mail/mail-server.ts";
import { listChanges } from "../support/data/state.ts";
import { openHome } from "../support/processes/program.ts";

const small = ["--applicants", "16", "--reviewers", "4"];

test("a season leads to all types of events, and what it leaves behind fits together", async () => {
  const home = await openHome();
  const database = ["--database", home.database];
  const { code, stdout, stderr } = await home.run(["simulate", ...small, "--json", ...database]);
  expect([code, stderr]).toEqual([0, ""]);
  const summary = JSON.parse(stdout);
  expect(Object.keys(summary.events).toSorted()).toEqual(Object.keys(events).toSorted());

  const { server } = await openMailSetup({ PROGRAMME_DATABASE: home.database }, {}, false);
  const { store } = server.app;
  const { businessId, programId } = summary;
  const all = async <T extends TableName>(table: T) => {
    const rows: Row<T>[] = [];
    for await (const row of store.reader(businessId).scan(table, {})) rows.push(row);
    return rows;
  };
  const storedEvents = await store.listEvents(businessId, 10_000);
  for (const type of Object.keys(events) as EventType[]) {
    const own = storedEvents.filter(({ eventType }) => eventType === type);
    expect([type, own.length]).toEqual([type, summary.events[type]]);
    for (const { data } of own) expect(events[type].safeParse(data).success).toBe(true);
  }

  const submissions = new Map((await all("submissions")).map((row) => [row.submissionId, row]));
  expect(submissions.size).toBe(16);
  const states = new Set([...submissions.values()].map(({ state }) => state));
  for (const state of ["DRAFT", "WITHDRAWN", "ELIMINATED", "FINALIST", "WINNER"] as const)
    expect(states).toContain(state);
  for (const payment of await all("payments")) {
    expect(payment.status).toBe(submissions.get(payment.submissionId)?.paymentStatus);
  }
  const [assignments, reviews] = [await all("assignments"), await all("reviews")];
  const completed = assignments.filter(({ status }) => status === "completed");
  expect(reviews.map(({ assignmentId }) => assignmentId).toSorted()).toEqual(
    completed.map(({ assignmentId }) => assignmentId).toSorted(),
  );
  for (const { status, weightedScore } of reviews)
    expect([status, typeof weightedScore]).toEqual(["submitted", "number"]);
  // Nobody reviews what is out of consideration.
  for (const { status, submissionId } of assignments) {
    if (!["assigned", "accepted"].includes(status)) continue;
    expect(["ELIMINATED", "WITHDRAWN", "DRAFT"]).not.toContain(submissions.get(submissionId)?.state);
  }
  expect(await store.reader(businessId).get("programs", programId)).toMatchObject({ lifecycleStatus: "completed" });
  // Its addresses are invented: nothing goes out to them.
  expect(new Set((await all("emailSends")).map(({ status }) => status))).toEqual(new Set(["suppressed"]));
  expect(await store.listTokens(businessId)).toMatchObject([{ name: "simulation", revokedAt: expect.any(String) }]);
  const actors = new Set((await listChanges(store, businessId)).map(({ actorType }) => actorType));
  for (const actor of ["applicant", "reviewer", "user", "token"] as const) expect(actors).toContain(actor);
});

test("the same seed makes the same choices, another one others", async () => {
  const home = await openHome();
  const play = async (name: string, seed: string) => {
    const database = ["--database", `${home.path}/${name}.db`];
    const { stdout } = await home.run(["simulate", ...small, "--seed", seed, "--json", ...database]);
    return JSON.parse(stdout).events;
  };
  const first = await play("one", "3");
  expect(await play("two", "3")).toEqual(first);
  // On a database that knows its people already, too.
  expect(await play("one", "3")).toEqual(first);
  expect(await play("three", "4")).not.toEqual(first);
});

const waiting = { timeout: 50_000, interval: 200 };

async function countRegistered(database: string): Promise<number> {
  const store = await openStore({ database });
  try {
    const [business] = await store.listBusinesses();
    const sent = business ? await store.listEvents(business.businessId, 10_000) : [];
    return sent.filter(({ eventType }) => eventType === "applicant.registered").length;
  } finally {
    await store.close();
  }
}

test("at a slower speed it takes the time that it says, and can be stopped without leaving its token behind", async () => {
  const home = await openHome();
  const database = ["--database", home.database];
  const started = home.start(["simulate", ...small, "--speed", "86400", ...database]);
  await vi.waitFor(async () => expect(await countRegistered(home.database)).toBeGreaterThan(0), waiting);
  const { code, stdout, stderr } = await started.stop("SIGINT");
  expect([code, stdout, stderr]).toEqual([130, "", "error: The season was stopped: what it has come to stays.\n"]);
  const listed = JSON.parse((await home.run(["token", "list", "--json", ...database])).stdout);
  expect(listed).toMatchObject([{ name: "simulation", revokedAt: expect.any(String) }]);
  // Sixteen applicants come within fifty days, a day in each second.
  expect(await countRegistered(home.database)).toBeLessThan(16);
});

test.each([
  [["--applicants", "15"], /--applicants.*16/],
  [["--reviewers", "3"], /--reviewers.*4/],
  [["--applicants", "many"], /--applicants/],
  [["--speed", "slow"], /--speed/],
  [["--seed", "0"], /--seed/],
])("%j is a mistake", async (args, message) => {
  const home = await openHome();
  const { code, stdout, stderr } = await home.run(["simulate", ...args, "--database", home.database]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
});
