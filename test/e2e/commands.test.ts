import { readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readScopes, scopes } from "../../src/contract/access/scopes.ts";
import { operationNames, workflowNames } from "../../src/contract/index.ts";
import { version } from "../../src/lib/version.ts";
import { openHome } from "../support/processes/program.ts";

describe("a usage error exits with 2 and one line:", () => {
  const token = "f".repeat(64);

  test.each<[string[], Record<string, string>, RegExp]>([
    [["http", "--prot", "3000"], {}, /--prot/],
    [["http", "--port", "many"], {}, /--port.*"many"/],
    [["http", "extra"], {}, /argument/i],
    [["http", "--prot", "3000"], {}, /Did you mean --port.*programme-mcp http --help/],
    [["serve"], {}, /"serve" is not a command/],
    [["tokn", "list"], {}, /Did you mean token\?/],
    [["--no-color", "tols"], {}, /Did you mean tools\?/],
    [["token", "craete"], {}, /Did you mean create\?/],
    [["webhook", "remove"], {}, /endpointId/],
    [["portal", "respond", "--response", "accept"], {}, /--assignment-id/],
    [["completion", "tcsh"], {}, /bash, zsh, fish/],
    [["http"], { PROGRAMME_PROT: "3000" }, /PROGRAMME_PROT.*PROGRAMME_PORT/],
    [["stdio"], { PROGRAMME_LOG_LEVEL: "loud" }, /PROGRAMME_LOG_LEVEL.*"loud"/],
    [["stdio"], { PROGRAMME_TOKEN: "secret-looking" }, /PROGRAMME_TOKEN/],
    [["stdio"], { PROGRAMME_TOKEN: token }, /PROGRAMME_TOKEN is unknown/],
    [["token", "create", "--scopes", "programs:raed"], {}, /"programs:raed"/],
    [["token", "create", "--expires", "yesterday"], {}, /"yesterday"/],
    [["token", "create", "--business", "Nobody"], {}, /Nobody/],
    [["token", "revoke", "tok_none"], {}, /tok_none/],
    [["seed"], {}, /--demo/],
    [["seed", "--demo", "--seed", "x"], {}, /--seed.*"x"/],
    [["migrate", "--database", "mysql://localhost/x"], {}, /--database/],
    [["tools", "--tools", "list_program"], {}, /Did you mean list_programs\?/],
    [["token", "list", "--database", "no/such.db"], {}, /directory \S+no does not exist.*--create/],
    [["http"], { PROGRAMME_DATABASE: "no/such.db" }, /directory \S+no does not exist.*--create/],
    [["copy", "--to", "no/such.db"], {}, /directory \S+no does not exist.*PROGRAMME_CREATE/],
  ])("%j %j", async (args, environment, named) => {
    const home = await openHome();
    const database = { PROGRAMME_DATABASE: home.database };
    const { code, stdout, stderr } = await home.run(args, { ...database, ...environment });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(named);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).not.toMatch(/secret-looking|f{64}/);
  });

  test("a database that cannot be opened is named", async () => {
    const home = await openHome();
    const file = join(home.path, "notes.txt");
    await writeFile(file, "milk, bread".repeat(500));
    for (const [database, why] of [
      [home.path, "it is a directory"],
      [file, "file is not a database"],
      [join(file, "programme.db"), "its directory is a file"],
    ] as const) {
      const { code, stderr } = await home.run(["token", "list", "--database", database]);
      expect([code, stderr]).toEqual([1, `error: The database ${database} cannot be opened: ${why}\n`]);
    }
  });

  test("a directory is made where that is asked for, and where it is the usual one", async () => {
    const home = await openHome();
    const named = join(home.path, "a", "b", "programme.db");
    expect((await home.run(["migrate", "--create", "--database", named])).code).toBe(0);
    expect((await home.run(["migrate"])).code).toBe(0);
    expect(await readdir(home.path)).toEqual(expect.arrayContaining([".local", "a"]));
  });

  test("a group without its command lists the commands", async () => {
    const home = await openHome();
    const { code, stdout, stderr } = await home.run(["token"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/Usage: programme-mcp token.*\n[\s\S]*create/);
  });

  test("a port that is taken", async () => {
    const home = await openHome();
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await home.run(["http", "--port", String(port), "--database", home.database]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(new RegExp(`^[^\n]*--port ${port} is in use[^\n]*\n$`))]);
    server.close();
  });

  test("leaves nothing behind", async () => {
    const home = await openHome();
    await home.run(["http", "--port", "many"]);
    await home.run(["stdio"], { PROGRAMME_LOG_LEVEL: "loud" });
    await home.run(["token", "create", "--scopes", "x"]);
    expect(await readdir(home.path)).toEqual([]);
  });

  test("a file that is not a database exits with 1 and one line", async () => {
    const home = await openHome();
    await writeFile(home.database, "This is a letter, not a database. ".repeat(100));
    const { code, stdout, stderr } = await home.run(["migrate", "--database", home.database]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^error: [^\n]*database[^\n]*\n$/);
  });
});

describe("tokens", () => {
  test("are created, listed without their secrets and revoked", async () => {
    const home = await openHome();
    const database = ["--database", home.database];
    const made = await home.run(["token", "create", "--name", "CRM", "--expires", "30d", ...database]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/) });
    expect(made.stderr).toMatch(/^Token tok_\w+ of biz_\w+\. It is not shown again\.\n$/);
    const token = made.stdout.trim();

    const json = await home.run(["token", "create", "--scopes", "all", "--json", ...database]);
    const issued = JSON.parse(json.stdout);
    expect(Object.keys(issued)).toEqual(["tokenId", "token", "businessId", "scopes"]);
    expect(issued).toMatchObject({ tokenId: expect.stringMatching(/^tok_/), scopes: [...scopes] });

    const listed = await home.run(["token", "list", "--json", ...database]);
    const tokens = JSON.parse(listed.stdout);
    expect(tokens.map((each: { name: string }) => each.name).toSorted()).toEqual(["CRM", "command line"]);
    const crm = tokens.find((each: { name: string }) => each.name === "CRM");
    expect(crm).toMatchObject({ scopes: [...readScopes], prefix: token.slice(0, 6), revokedAt: null });
    expect(Date.parse(crm.expiresAt) - Date.now()).toBeGreaterThan(29 * 24 * 60 * 60 * 1000);
    const table = await home.run(["token", "list", ...database]);
    for (const text of [listed.stdout, table.stdout]) expect(text).not.toMatch(/[0-9a-f]{64}/);
    expect(table.stdout).toContain(crm.tokenId);

    const revoked = await home.run(["token", "revoke", crm.tokenId, ...database]);
    expect(revoked).toMatchObject({ code: 0, stdout: `Revoked ${crm.tokenId}.\n` });
    expect((await home.run(["token", "revoke", crm.tokenId, ...database])).code).toBe(2);
    expect((await home.run(["token", "list", ...database])).stdout).toMatch(/revoked 20/);
  });
});

describe("the result of a command", () => {
  test("is printed as one line of JSON", async () => {
    const home = await openHome();
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await home.run([...args, "--json"]);
      expect([args[0], code, stderr]).toEqual([args[0], 0, ""]);
      expect(stdout).toMatch(/^[^\n]+\n$/);
      return JSON.parse(stdout);
    };
    const database = ["--database", home.database];
    expect(await run("version")).toMatchObject({ name: "programme-mcp", version, node: process.versions.node });
    expect(await run("migrate", ...database)).toEqual({ database: home.database, upToDate: true });
    const { businesses } = await run("seed", "--demo", ...database);
    expect(businesses).toHaveLength(2);
    const [{ businessId }] = businesses;
    const { tokenId } = await run("token", "create", "--business", businessId, ...database);
    expect(await run("token", "revoke", tokenId, ...database)).toEqual({ tokenId, status: "revoked" });
    expect(await run("webhook", "list", ...database)).toEqual([]);
    expect(await run("mail", "suppress", "noor@example.org", "--business", businessId, ...database)).toMatchObject({
      suppressed: true,
    });
  });
});

describe("databases", () => {
  test("are migrated, and a second run changes nothing", async () => {
    const home = await openHome();
    for (let count = 0; count < 2; count++) {
      const { code, stdout } = await home.run(["migrate", "--database", home.database]);
      expect([code, stdout]).toEqual([0, `${home.database} is up to date.\n`]);
    }
  });

  test("are filled with demonstration data once", async () => {
    const home = await openHome();
    const database = ["--database", home.database];
    expect((await home.run(["seed", "--demo", ...database])).code).toBe(0);
    const before = await home.run(["token", "list", "--json", ...database]);
    const again = await home.run(["seed", "--demo", ...database]);
    expect([again.code, again.stdout]).toEqual([2, ""]);
    expect(again.stderr).toMatch(/already holds data/);
    expect((await home.run(["token", "list", "--json", ...database])).stdout).toBe(before.stdout);
    const unclear = await home.run(["token", "create", ...database]);
    expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringMatching(/--business is needed.*biz_.*biz_/)]);
  });

  test("are in the user's data directory by default", async () => {
    const home = await openHome();
    await home.run(["migrate"]);
    expect(await readdir(join(home.path, ".local/share/programme-mcp"))).toContain("programme.db");
  });
});

describe("the program's abilities", () => {
  test("are listed as a table and as JSON", async () => {
    const home = await openHome();
    const tools = JSON.parse((await home.run(["tools", "--json"])).stdout);
    expect(tools[0]).toMatchObject({ name: expect.any(String), scope: expect.any(String), effect: expect.any(String) });
    expect(tools.map((tool: { name: string }) => tool.name).toSorted()).toEqual(
      [...operationNames, "list_events", ...workflowNames, "run_batch", "get_connection"].toSorted(),
    );
    const { stdout } = await home.run(["tools"]);
    for (const name of operationNames) expect(stdout).toMatch(new RegExp(`^${name} `, "m"));
    expect(await readdir(home.path)).toEqual([]);
  });

  test("are described by --help and --version", async () => {
    const home = await openHome();
    expect(await home.run(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    const help = await home.run(["--help"]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    for (const command of ["stdio", "http", "token", "tools", "migrate", "seed", "config", "completion", "Exit codes"])
      expect(help.stdout).toContain(command);
    expect(help.stdout).not.toMatch(/^ +complete /m);
    expect((await home.run([])).code).toBe(0);
    expect(await home.run(["help"])).toEqual(help);
    expect((await home.run(["help", "token", "create"])).stdout).toContain("--expires");
    const options = await home.run(["http", "--help"]);
    expect([options.code, options.stdout]).toEqual([0, expect.stringContaining("PROGRAMME_PORT")]);
  });
});
