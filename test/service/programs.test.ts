import { describe, expect } from "vitest";
import { LifecycleStatus } from "../../src/contract/programs.ts";
import { surfaces, type TestCaller, type TestServer, test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";

/** The moves of a programme without submissions, written out. */
const moves: Readonly<Record<LifecycleStatus, string>> = {
  draft: "configured archived",
  configured: "draft underway archived",
  underway: "configured completed",
  completed: "underway archived",
  archived: "completed",
};
const statuses = LifecycleStatus.options;

const leadingTo = (to: LifecycleStatus) => statuses.filter((from) => moves[from].split(" ").includes(to));

describe.each(surfaces)("programmes over %s", (surface) => {
  test.for(
    statuses,
  )("a programme in state %s changes only to the states that its lifecycle allows, and emits an event", async (from, {
    server,
  }) => {
    const chair = await server.as(surface);
    for (const to of statuses) {
      const { programId, version } = await server.seed.program({ lifecycleStatus: from });
      const trace = await recordTrace(server, () => chair.update_program({ programId, version, lifecycleStatus: to }));
      if (to === from) {
        expect(trace).toMatchObject({ data: { lifecycleStatus: from, version: 0 }, ...nothing });
      } else if (moves[from].split(" ").includes(to)) {
        expect(trace).toMatchObject({
          data: { lifecycleStatus: to, version: 1 },
          rows: ["programs updated: lifecycleStatus"],
          events: [
            {
              eventType: "program.lifecycle_status_changed",
              data: { businessId: server.businessId, programId, fromStatus: from, toStatus: to, version: 1 },
            },
          ],
          audit: ["program.updated"],
        });
      } else {
        const allowedFrom = leadingTo(to).sort();
        expect(trace).toMatchObject({ problem: { code: "invalid_state_transition" }, ...nothing });
        expect(trace.problem?.details).toMatchObject({ from, operation: `lifecycleStatus=${to}` });
        expect([...(trace.problem?.details["allowedFrom"] as string[])].sort()).toEqual(allowedFrom);
      }
    }
  });

  test("an open programme returns to configured only while it has no submission", async ({ server }) => {
    const chair = await server.as(surface);
    const { programId, version } = await server.seed.program({ lifecycleStatus: "underway" });
    await server.seed.submission(); // another programme's
    const track = await server.seed.track({ programId });
    await server.seed.submission({ trackId: track.trackId, state: "WITHDRAWN" });
    const back = () => chair.update_program({ programId, version, lifecycleStatus: "configured" });
    expect(await recordTrace(server, back)).toMatchObject({
      problem: { code: "invalid_state_transition", details: { because: "the programme has submissions" } },
      ...nothing,
    });
    await chair.update_program({ programId, version, lifecycleStatus: "completed" });
  });

  test("an archived programme refuses every write, to its other records too, until it leaves that state", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const home = await seedHome(server, { lifecycleStatus: "archived" });
    for (const write of writesOf(chair, home)) {
      expect(await recordTrace(server, write)).toMatchObject({
        problem: { code: "program_archived", details: { programId: home.programId } },
        ...nothing,
      });
    }
    const out = { programId: home.programId, version: 0, lifecycleStatus: "completed", name: "Closed call" };
    expect(await chair.update_program(out)).toMatchObject({ lifecycleStatus: "completed", name: "Closed call" });
    for (const write of writesOf(chair, home).slice(2)) await write();
  });

  test("a change stores the given values only, and the same change again writes nothing", async ({ server }) => {
    const chair = await server.as(surface);
    const { programId } = await server.seed.program({ description: "Before", endDate: "2027-01-01T00:00:00.000Z" });
    const change = { name: "N".repeat(200), year: 3000, startDate: "2026-11-20T06:01:05+02:00" };
    const kept = { ...change, startDate: "2026-11-20T04:01:05.000Z", description: "Before" };
    const first = await recordTrace(server, () => chair.update_program({ programId, version: 0, ...change }));
    expect(first).toMatchObject({
      data: { ...kept, endDate: "2027-01-01T00:00:00.000Z", version: 1 },
      rows: ["programs updated: name startDate year"],
      events: [],
      audit: ["program.updated"],
    });
    const again = await recordTrace(server, () => chair.update_program({ programId, version: 1, ...change }));
    expect(again).toMatchObject({ data: first.data, ...nothing });
    expect(await recordTrace(server, () => chair.update_program({ programId, version: 1 }))).toMatchObject(nothing);
    expect(await chair.get_program({ programId })).toEqual(first.data);
  });

  test("a change without a version applies to the current programme, also when several arrive at once", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const { programId } = await server.seed.program({ lifecycleStatus: "draft", year: 2026 });
    await chair.update_program({ programId, version: 0, name: "Changed" });
    const move = await recordTrace(server, () => chair.update_program({ programId, lifecycleStatus: "configured" }));
    expect(move).toMatchObject({
      data: { lifecycleStatus: "configured", name: "Changed", version: 2 },
      rows: ["programs updated: lifecycleStatus"],
      audit: ["program.updated"],
    });
    expect(move.events).toMatchObject([{ eventType: "program.lifecycle_status_changed", data: { version: 2 } }]);
    expect(
      await recordTrace(server, () => chair.update_program({ programId, lifecycleStatus: "completed" })),
    ).toMatchObject({
      problem: { code: "invalid_state_transition" },
      ...nothing,
    });
    const years = [2031, 2032, 2033, 2034, 2035];
    const answers = await Promise.all(years.map((year) => chair.update_program({ programId, year })));
    expect(answers.map(({ year }) => year)).toEqual(years);
    expect(answers.map(({ version }) => version).toSorted()).toEqual([3, 4, 5, 6, 7]);
    for (const version of [6, 8]) {
      const stale = await recordTrace(server, () => chair.update_program({ programId, version, name: "Too late" }));
      expect(stale).toMatchObject({
        problem: { code: "version_conflict", details: { currentVersion: 7 } },
        ...nothing,
      });
    }
  });

  const refused: readonly [path: string, value: unknown][] = [
    ["name", ""],
    ["name", "N".repeat(201)],
    ["description", "d".repeat(1001)],
    ["year", 1899],
    ["year", 3001],
    ["year", 2026.5],
    ["startDate", "2026-11-20"],
    ["endDate", "2026-11-20T04:01:05"],
    ["lifecycleStatus", "closed"],
    ["feeRequired", true],
    ["branding", []],
    ["branding.colour", "red"],
    ["branding.headerText", "h".repeat(5001)],
    ["branding.pages.thanks", {}],
    ["branding.pages.landing.logo", "x.png"],
    ["branding.pages.landing.heroTitle", "t".repeat(121)],
    ["branding.pages.register.heroSubtitle", "t".repeat(241)],
    ["branding.pages.submission.bodyHtml", 7],
    ["branding.pages.submitted.ctaLabel", "l".repeat(41)],
  ];

  test("unknown input is refused with its path, and nothing of the call is written", async ({ server }) => {
    const chair = await server.as(surface);
    const { programId, version } = await server.seed.program();
    for (const [path, value] of refused) {
      const body = { name: "Changed", ...nested(path.split("."), value) };
      const trace = await recordTrace(server, () => chair.update_program({ programId, version, ...body }));
      expect(trace, path).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
      expect(trace.problem?.details["issues"], path).toMatchObject([{ path }]);
    }
  });
});

describe.each(surfaces)("branding over %s", (surface) => {
  const before = {
    headerText: "Welcome",
    pages: { landing: { heroTitle: "Old", ctaLabel: "Apply" }, submitted: { bodyHtml: "<p>Thanks</p>" } },
  };
  const change = { footerText: "Contact us", pages: { landing: { heroTitle: "New" }, register: { ctaLabel: "Join" } } };
  const after = {
    headerText: "Welcome",
    footerText: "Contact us",
    pages: {
      landing: { heroTitle: "New", ctaLabel: "Apply" },
      register: { ctaLabel: "Join" },
      submitted: { bodyHtml: "<p>Thanks</p>" },
    },
  };

  test("texts of a programme's and a track's branding change one by one", async ({ server }) => {
    const chair = await server.as(surface);
    const { programId } = await server.seed.program({ branding: before });
    const { trackId } = await server.seed.track({ programId, branding: before });
    const updates = [
      ["programs", (more: object) => chair.update_program({ programId, ...more })],
      ["tracks", (more: object) => chair.update_track({ programId, trackId, ...more })],
    ] as const;
    for (const [table, update] of updates) {
      const trace = await recordTrace(server, () => update({ version: 0, branding: change }));
      expect(trace.data).toMatchObject({ branding: after, version: 1 });
      expect(trace.rows).toEqual([`${table} updated: branding`]);
      expect(trace.data.branding).toEqual(after);
      for (const branding of [change, {}, { pages: {} }, { pages: { landing: {} } }]) {
        expect(await recordTrace(server, () => update({ version: 1, branding }))).toMatchObject(nothing);
      }
      expect((await update({ version: 1, branding: { headerText: "" } })).branding).toEqual({
        ...after,
        headerText: "",
      });
    }
  });
});

describe.each(surfaces)("tracks and rounds over %s", (surface) => {
  test("a track's intake and dates, and a round's activity and dates, can be set", async ({ server }) => {
    const chair = await server.as(surface);
    const { programId, trackId, roundId } = await seedHome(server, {});
    const dates = { intakeOpenDate: "2026-11-20T00:00:00.000Z", intakeCloseDate: "2026-12-20T00:00:00.000Z" };
    const track = { programId, trackId, intakeOpen: false, ...dates };
    expect(await recordTrace(server, () => chair.update_track({ ...track, version: 0 }))).toMatchObject({
      data: { ...track, version: 1, branding: {} },
      rows: ["tracks updated: intakeCloseDate intakeOpen intakeOpenDate"],
      events: [],
      audit: ["track.updated"],
    });
    const round = { programId, trackId, roundId, active: false, deadline: "2026-12-31T00:00:00.000Z" };
    expect(await recordTrace(server, () => chair.update_round({ ...round, version: 0 }))).toMatchObject({
      data: { ...round, version: 1, startDate: null, endDate: null },
      rows: ["rounds updated: active deadline"],
      events: [],
      audit: ["round.updated"],
    });
    expect(await recordTrace(server, () => chair.update_track({ ...track, version: 1 }))).toMatchObject(nothing);
    expect(await recordTrace(server, () => chair.update_round({ ...round, version: 1 }))).toMatchObject(nothing);
  });

  test("a track and a round are found only under their own programme and track", async ({ server }) => {
    const chair = await server.as(surface);
    const [here, there] = [await seedHome(server, {}), await seedHome(server, {})];
    const sister = await server.seed.track({ programId: here.programId });
    const { programId, trackId, roundId } = here;
    const wrong = [
      () => chair.update_track({ programId: there.programId, trackId, version: 0, intakeOpen: false }),
      () => chair.update_round({ programId: there.programId, trackId, roundId, version: 0, active: false }),
      () => chair.update_round({ programId, trackId: there.trackId, roundId, version: 0, active: false }),
      () => chair.update_round({ programId, trackId: sister.trackId, roundId, version: 0, active: false }),
      () => chair.list_tracks({ programId: "prg_none" }),
      () => chair.list_rounds({ programId: "prg_none" }),
    ];
    for (const call of wrong) {
      expect(await recordTrace(server, call)).toMatchObject({ problem: { code: "not_found" }, ...nothing });
    }
  });

  test("a programme lists its own tracks, newest first, and its own rounds, in their order", async ({ server }) => {
    const chair = await server.as(surface);
    const program = await server.seed.program();
    await seedHome(server, {});
    const tracks = await seedMany(3, (order) => server.seed.track({ programId: program.programId, order }));
    const [{ trackId }] = tracks as [(typeof tracks)[number]];
    const home = { programId: program.programId, trackId };
    for (const sequence of [2, 3, 1]) await server.seed.round({ ...home, sequence });
    expect(await chair.list_rounds({ programId: program.programId })).toMatchObject(
      [1, 2, 3].map((sequence) => ({ ...home, sequence })),
    );
    const first = await chair.call("list_tracks", { programId: program.programId, limit: 2 });
    const second = await chair.call("list_tracks", { programId: program.programId, limit: 2, ...cursorOf(first) });
    expect([...first.data, ...second.data]).toEqual(tracks.reverse());
    expect(first.page).toEqual({ hasMore: true, lastEvaluatedKey: expect.any(String) });
    expect(second.page).toEqual({ hasMore: false });
    const elsewhere = await seedHome(server, {});
    const foreign = chair.call("list_tracks", { programId: elsewhere.programId, ...cursorOf(first) });
    await expect(foreign).rejects.toMatchProblem("invalid_cursor");
  });

  test("programmes of the tenant alone are listed, newest first", async ({ server }) => {
    const chair = await server.as(surface);
    const other = await server.other();
    await other.seed.program();
    const programs = await seedMany(3, () => server.seed.program());
    expect(await chair.list_programs()).toEqual(programs.reverse());
  });
});

async function seedHome(server: TestServer, given: Parameters<TestServer["seed"]["program"]>[0]) {
  const { programId } = await server.seed.program(given);
  const { trackId } = await server.seed.track({ programId });
  const { roundId } = await server.seed.round({ programId, trackId });
  return { programId, trackId, roundId };
}

/** The programme's own writes first. */
function writesOf(chair: TestCaller, { programId, trackId, roundId }: Awaited<ReturnType<typeof seedHome>>) {
  return [
    () => chair.update_program({ programId, version: 0, name: "Changed" }),
    () => chair.update_program({ programId, version: 0, lifecycleStatus: "archived", year: 2030 }),
    () => chair.update_track({ programId, trackId, version: 0, intakeOpen: false }),
    () => chair.update_round({ programId, trackId, roundId, version: 0, active: false }),
    () =>
      chair.create_submission({
        trackId,
        fields: {},
        deadline: "2026-12-31T00:00:00Z",
        innovatorEmail: "ada@example.org",
      }),
  ];
}

async function seedMany<R>(count: number, seed: (index: number) => Promise<R>): Promise<R[]> {
  const rows: R[] = [];
  for (let index = 0; index < count; index += 1) rows.push(await seed(index));
  return rows;
}

function cursorOf({ page }: { page?: { lastEvaluatedKey?: string } }) {
  return { lastEvaluatedKey: page?.lastEvaluatedKey };
}

function nested([name = "", ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  return { [name]: rest.length === 0 ? value : nested(rest, value) };
}
