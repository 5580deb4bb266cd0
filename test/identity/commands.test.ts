import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open.ts";
import { type Databases, openDatabases } from "../support/database/database-server.ts";
import { createSettings } from "../support/database/database-settings.ts";
import { type Home, openHome } from "../support/processes/program.ts";
import { BrowserSession, password } from "./browser-session.ts";

let databases: Databases;

beforeAll(async () => {
  databases = await openDatabases({ given: inject("postgres") });
  return () => databases.stop();
});

const kinds: readonly (readonly [string, (home: Home) => Promise<string>])[] = [
  ["SQLite", async (home) => home.database],
  [
    "PostgreSQL",
    async () => {
      const { database, remove } = await databases.empty();
      onTestFinished(remove);
      return database;
    },
  ],
];

/** The command line on an empty database. */
async function openUsers(make: (home: Home) => Promise<string>) {
  const home = await openHome();
  const database = await make(home);
  const environment = { PROGRAMME_DATABASE: database, ...createSettings(database) };
  const run = (...args: string[]) => home.run(["user", ...args], environment);
  return {
    ...{ home, database, environment, run },
    /** Runs a command that succeeds. */
    async print(...args: string[]) {
      const { code, stdout, stderr } = await run(...args, "--json");
      expect([args, code, stderr]).toEqual([args, 0, ""]);
      return JSON.parse(stdout);
    },
    /** Runs a command that is refused. Returns what it says. */
    async refuse(...args: string[]) {
      const { code, stdout, stderr } = await run(...args);
      expect([args, code, stdout, stderr.trim().split("\n").length]).toEqual([args, 2, "", 1]);
      return stderr;
    },
  };
}

describe.each(kinds)("user on %s", (_, make) => {
  test("invites, changes, disables and removes people, but never the last owner", async () => {
    const { print, refuse, run } = await openUsers(make);
    const olga = await print("invite", "Olga@Example.org", "--role", "owner");
    expect(olga).toMatchObject({ email: "Olga@Example.org", name: "", role: "owner", seesSensitive: false });
    expect(olga.link).toMatch(/^http:\/\/localhost:3000\/join\/[\w-]{20,}$/);
    expect(await refuse("invite", "olga@example.org")).toMatch(/already has an account; user link/);
    const rita = await print("invite", "rita@example.org", "--sensitive");
    expect(rita).toMatchObject({ role: "viewer", seesSensitive: true, businessId: olga.businessId });

    for (const args of [["disable"], ["remove"], ["update", "--role", "staff"]]) {
      const [command = "", ...options] = args;
      expect(await refuse(command, "olga@example.org", ...options)).toMatch(
        /only owner: make another person owner first/,
      );
    }
    expect(await print("update", "RITA@example.org", "--role", "owner", "--no-sensitive")).toMatchObject({
      userId: rita.userId,
      role: "owner",
      seesSensitive: false,
    });
    expect(await print("disable", "olga@example.org")).toMatchObject({ disabledAt: expect.any(String) });
    expect(await refuse("disable", "rita@example.org")).toMatch(/only owner/);
    expect(await print("enable", "olga@example.org")).toMatchObject({ disabledAt: null });
    expect((await run("remove", "rita@example.org")).stdout).toBe("Removed rita@example.org.\n");
    expect(await print("list")).toMatchObject([{ email: "olga@example.org", role: "owner", disabledAt: null }]);
    expect((await run("list")).stdout).toMatch(/olga@example\.org +\(invited\) +owner/);
  });

  test("link prints a link that works once, and ends the links before it", async () => {
    const { home, environment, print } = await openUsers(make);
    const links = [
      await print("invite", "olga@example.org", "--role", "owner"),
      await print("link", "olga@example.org"),
    ];
    const serving = home.start(["http", "--port", "0"], environment);
    const [, origin = ""] = await serving.printed(/Page {2}(http:\S+)\//);
    const browser = new BrowserSession({ origin });
    const fields = { name: "Olga", password, repeated: password };
    const accept = async ({ link }: { link: string }) => (await browser.submit(new URL(link).pathname, fields)).status;
    expect(await accept(links[1])).toBe(303);
    expect([await accept(links[1]), await accept(links[0])]).toEqual([404, 404]);
    expect((await print("list"))[0]).toMatchObject({ name: "Olga" });
    expect((await browser.open("/account")).status).toBe(200);
    await print("invite", "otto@example.org", "--role", "owner");
    await print("disable", "olga@example.org");
    expect((await browser.open("/account")).status).toBe(303);
    // There was a person, so the start printed no link for the first owner.
    expect((await serving.stop()).stdout).not.toContain("/join/");
  });
});

test("user reports wrong roles, addresses and organisations", async () => {
  const { refuse, print, database } = await openUsers(async (home) => home.database);
  expect(await refuse("invite", "rita@example.org", "--role", "staf")).toMatch(
    /--role must be one of owner, staff, viewer, not "staf"\. Did you mean staff\?/,
  );
  expect(await refuse("invite", "rita")).toMatch(/"rita" is not an e-mail address/);
  expect(await refuse("invite", `${"r".repeat(250)}@example.org`)).toMatch(/is not an e-mail address/);
  expect(await refuse("update", "rita@example.org")).toMatch(/give --role, --sensitive or --no-sensitive/);
  for (const command of ["link", "disable", "enable", "remove"])
    expect(await refuse(command, "rita@example.org")).toMatch(/Nobody has the address rita@example\.org: user list/);
  expect(await refuse("invit", "rita@example.org")).toMatch(/Did you mean invite\?/);

  const store = await openStore({ database });
  const createdAt = "2026-11-20T09:00:00.000Z";
  for (const name of ["one", "two"]) await store.insertBusiness({ businessId: `biz_${name}`, name, createdAt });
  await store.close();
  expect(await refuse("invite", "rita@example.org")).toMatch(/--business is needed: choose one of biz_one \(one\)/);
  expect(await refuse("invite", "rita@example.org", "--business", "three")).toMatch(/--business three is unknown/);
  const invited = await print("invite", "rita@example.org", "--business", "two");
  expect(invited).toMatchObject({ businessId: "biz_two" });
  expect(await refuse("invite", "rita@example.org", "--business", "one")).toMatch(/already has an account/);
});
