import { beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { type Databases, openDatabases } from "../support/database/database-server.ts";
import { type Ended, openHome } from "../support/processes/program.ts";

let databases: Databases;

beforeAll(async () => {
  databases = await openDatabases({ given: inject("postgres") });
  return () => databases.stop();
});

const key = { PROGRAMME_SECRET_KEY: "5e".repeat(32) };

/** The program with a database of its own in PostgreSQL, and all that it said. */
async function program() {
  const { database, remove } = await databases.empty();
  onTestFinished(remove);
  const home = await openHome();
  const outputs: string[] = [];
  const run = async (args: readonly string[], environment: Record<string, string> = {}): Promise<Ended> => {
    const ended = await home.run(args, { PROGRAMME_DATABASE: database, ...environment });
    outputs.push(ended.stdout, ended.stderr);
    return ended;
  };
  return { database, home, run, outputs };
}

async function findings(run: (args: readonly string[], env?: Record<string, string>) => Promise<Ended>, env = {}) {
  const { checks } = JSON.parse((await run(["doctor", "--json"], env)).stdout);
  return new Map<string, string>(
    checks.map(({ name, status, found }: Record<string, string>) => [name, `${status}: ${found}`]),
  );
}

test("commands work on PostgreSQL, say what it needs, and show no password", async () => {
  const { database, home, run, outputs } = await program();
  const { host, password, pathname } = new URL(database);
  const place = `${host}${pathname}`;

  expect((await findings(run)).get("database server")).toMatch(/^ok: .* is empty/);
  const migrated = await run(["migrate"]);
  expect([migrated.code, migrated.stdout]).toEqual([0, `postgres://${place} is up to date.\n`]);
  const lacking = await findings(run);
  expect(lacking.get("database server")).toMatch(/^ok: .* can be reached/);
  expect(lacking.get("server key")).toMatch(/^fail: PROGRAMME_SECRET_KEY is not set/);
  const keyless = await run(["http", "--port", "0"]);
  expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining("PROGRAMME_SECRET_KEY is needed")]);

  const { token } = JSON.parse((await run(["token", "create", "--json"])).stdout);
  const serving = home.start(["http", "--port", "0"], { PROGRAMME_DATABASE: database, ...key });
  const [origin] = await serving.printed(/http:\/\/127\.0\.0\.1:\d+/);
  const answer = await fetch(`${origin}/integrations/v1/programs`, { headers: { authorization: `Bearer ${token}` } });
  expect(await answer.json()).toMatchObject({ success: true, data: [] });
  const { code, stdout, stderr } = await serving.stop();
  expect(code).toBe(0);
  outputs.push(stdout, stderr);

  const wrong = { PROGRAMME_DATABASE: database.replace(password, "sesame") };
  const refused = await run(["migrate"], wrong);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("the password is wrong")]);
  expect((await findings(run, wrong)).get("database server")).toMatch(/^fail: .*the password is wrong/);
  for (const text of outputs) for (const secret of [password, "sesame"]) expect(text).not.toContain(secret);
});
