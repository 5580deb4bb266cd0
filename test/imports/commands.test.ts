import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { programTemplate } from "../../src/imports/template.ts";
import { type Databases, openDatabases } from "../support/database/database-server.ts";
import { type Home, openHome } from "../support/processes/program.ts";

/** The program on a database, with files in its home. */
async function openImports(database?: string) {
  const home = await openHome();
  const place = ["--database", database ?? home.database];
  const save = async (name: string, text: string) => {
    await writeFile(join(home.path, name), text);
    return name;
  };
  const run = (...args: string[]) => home.run([...args, ...place]);
  const importFile = async (text: string, ...options: string[]) => {
    const { code, stdout, stderr } = await run("import", await save("given.yaml", text), "--json", ...options);
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout) as Imported;
  };
  return { home, save, run, importFile };
}

interface Imported {
  readonly programId: string;
  readonly items: readonly { kind: string; name: string; outcome: string; id: string; version?: number }[];
}

const listOutcomes = ({ items }: Imported) => [...new Set(items.map(({ outcome }) => outcome))];

/** Calls a tool over stdio, with a token of every scope. */
async function callTool(home: Home, name: string, args: object) {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport(home.command(["stdio", "--database", home.database])));
  onTestFinished(() => client.close());
  const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
  return structuredContent as { data: unknown };
}

describe("import", () => {
  test("creates a programme, and changes nothing when it is repeated", async () => {
    const { home, run, importFile } = await openImports();
    const dry = await importFile(programTemplate, "--dry-run", "--new-business", "River Foundation");
    expect(listOutcomes(dry)).toEqual(["created"]);
    expect(JSON.parse((await run("token", "list", "--json")).stdout)).toEqual([]);
    const first = await importFile(programTemplate, "--new-business", "River Foundation");
    expect(listOutcomes(first)).toEqual(["created"]);
    const again = await importFile(programTemplate);
    expect(listOutcomes(again)).toEqual(["unchanged"]);
    expect(again.programId).toBe(first.programId);
    const { data } = await callTool(home, "list_programs", {});
    expect(data).toMatchObject([{ programId: first.programId, name: "Community Fund", version: 0 }]);
  });

  test("gives the same file after an export into an empty database", async () => {
    const [one, other] = [await openImports(), await openImports()];
    const { programId } = await one.importFile(programTemplate);
    const exported = await one.run("export-config", programId, "exported.yaml");
    expect([exported.code, exported.stdout]).toEqual([0, ""]);
    const text = await readFile(join(one.home.path, "exported.yaml"), "utf8");
    expect(listOutcomes(await one.importFile(text))).toEqual(["unchanged"]);
    const copied = await other.importFile(text);
    expect((await other.run("export-config", copied.programId)).stdout).toBe(text);
    const again = await one.run("export-config", programId, "exported.yaml");
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("--force")]);
  });

  test("publishes a changed form as a new version, and finds an earlier one again", async () => {
    const { home, importFile } = await openImports();
    const { items } = await importFile(programTemplate);
    const schemaId = items.find(({ kind }) => kind === "form")?.id;
    const changed = await importFile(programTemplate.replace("maxLength: 120", "maxLength: 80"));
    expect(changed.items.filter(({ outcome }) => outcome === "changed")).toMatchObject([
      { kind: "form", id: schemaId, version: 2 },
      { kind: "track", name: "Small grants" },
    ]);
    const back = await importFile(programTemplate);
    expect(back.items.find(({ kind }) => kind === "form")).toMatchObject({ version: 1, outcome: "unchanged" });
    const old = await callTool(home, "get_schema", { schemaId, version: 1 });
    expect(old.data).toMatchObject({
      fields: [{ fieldId: "fld_title", constraints: { maxLength: 120 } }, {}, {}, {}, {}],
    });
  });

  test("leaves what the file does not name, and lists it", async () => {
    const { importFile } = await openImports();
    await importFile(programTemplate);
    const renamed = await importFile(programTemplate.replaceAll("Small grants", "Large grants"));
    expect(renamed.items.filter(({ kind }) => kind === "track")).toMatchObject([
      { name: "Large grants", outcome: "created" },
      { name: "Small grants", outcome: "left" },
    ]);
  });

  test("lists all mistakes with their places, and writes nothing", async () => {
    const { run, save, importFile } = await openImports();
    const wrong = programTemplate
      .replace("weight: 2", "wieght: 2")
      .replace("year: 2035", "year: soon")
      .replace("type: select", "type: selekt");
    const { code, stdout, stderr } = await run("import", await save("wrong.yaml", wrong));
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/3 mistakes; nothing was written/);
    expect(stderr).toMatch(/line 5, column 9, program\.year: .*number/);
    expect(stderr).toMatch(/line \d+, column 15, forms\.0\.fields\.2\.type: /);
    expect(stderr).toMatch(/line \d+, column \d+, rubrics\.0\.criteria\.0\.wieght: .*Did you mean weight\?/);
    const unknown = programTemplate.replace("form: Application", "form: Aplication");
    const refused = await run("import", await save("wrong.yaml", unknown));
    expect(refused.stderr).toMatch(/line 18, column 11, tracks\.0\.form: .*Did you mean Application\?/);
    expect(listOutcomes(await importFile(programTemplate))).toEqual(["created"]);
  });

  test("refuses a remote service and the demonstration's database", async () => {
    const home = await openHome();
    await writeFile(join(home.path, "p.yaml"), programTemplate);
    const remote = { PROGRAMME_BASE_URL: "https://product.example/integrations/v1" };
    for (const args of [
      ["import", "p.yaml"],
      ["export-config", "prg_1"],
    ]) {
      const { code, stderr } = await home.run(args, remote);
      expect([code, stderr]).toEqual([2, expect.stringContaining("own set-up")]);
    }
    const { code, stderr } = await home.run(["import", "p.yaml"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--database programme.db")]);
  });
});

describe("import --as", () => {
  const people = "E-Mail;firstName;newsletter;Notes\nada@example.org;Ada;yes;x\nbad;Bo;;\nbo@example.org;Bo;perhaps;\n";
  const map = ["--map", "E-Mail=email", "Notes="];

  test("persons refuses the file with the mistakes of all rows, or skips them", async () => {
    const { home, run, save, importFile } = await openImports();
    await importFile(programTemplate);
    const args = ["import", await save("people.csv", people), "--as", "persons", ...map, "--json"];
    const refused = await run(...args);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(/2 mistakes; nothing was written/);
    expect(refused.stderr).toMatch(/line 3, column 1, E-Mail: /);
    expect(refused.stderr).toMatch(/line 4, column 3, newsletter: Expected true or false/);
    expect(refused.stderr).not.toMatch(/perhaps/);
    const list = async () => (await callTool(home, "list_persons", {})).data;
    expect(await list()).toEqual([]);
    for (const [option, created, unchanged] of [
      ["--dry-run", 1, 0],
      ["--json", 1, 0],
      ["--json", 0, 1],
    ] as const) {
      const { stdout } = await run(...args, "--skip-invalid", option);
      expect(JSON.parse(stdout)).toMatchObject({ created, changed: 0, unchanged, skipped: [{ line: 3 }, { line: 4 }] });
    }
    const corrected = people.replace("Ada", "Adaeze").replace("bad", "cy@example.org").replace("perhaps", "no");
    await save("people.csv", corrected);
    expect(JSON.parse((await run(...args)).stdout)).toMatchObject({ created: 2, changed: 1, unchanged: 0 });
    expect(await list()).toHaveLength(3);
  });

  test("applicants registers them once on a track of the programme", async () => {
    const { home, run, save, importFile } = await openImports();
    const { programId } = await importFile(programTemplate.replace("intakeOpen: true", "intakeOpen: false"));
    await save("wrong.csv", "email,name,track\nnoor@example.org,Noor,Smal grants\n");
    const args = ["--as", "applicants", "--program", programId];
    const refused = await run("import", "wrong.csv", ...args);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/track: .*Did you mean Small grants\?/)]);
    await save("applicants.csv", "email,name\nnoor@example.org,Noor\n");
    expect((await run("import", "applicants.csv", ...args)).stdout).toMatch(/^applicants: 1 created/);
    expect((await run("import", "applicants.csv", ...args)).stdout).toMatch(/^applicants: 0 created.* 1 unchanged/);
    const { data } = await callTool(home, "list_events", {});
    expect(data).toMatchObject([{ eventType: "applicant.registered" }]);
    const unknown = await run("import", "applicants.csv", "--as", "applicants", "--program", "prg_none");
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("not_found")]);
    const without = await run("import", "applicants.csv", "--as", "applicants");
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("--program")]);
  });
});

describe("import on PostgreSQL", () => {
  let databases: Databases;

  beforeAll(async () => {
    databases = await openDatabases({ given: inject("postgres") });
    return () => databases.stop();
  });

  test("creates a programme once, also when two imports run at once, and exports the same file", async () => {
    const { database, remove } = await databases.empty();
    onTestFinished(remove);
    const home = await openHome();
    await writeFile(join(home.path, "p.yaml"), programTemplate);
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await home.run(args, { PROGRAMME_DATABASE: database });
      expect([args[0], code, stderr]).toEqual([args[0], 0, ""]);
      return stdout;
    };
    expect(listOutcomes(JSON.parse(await run("import", "p.yaml", "--json", "--dry-run")))).toEqual(["created"]);
    const { programId } = JSON.parse(await run("import", "p.yaml", "--json")) as Imported;
    const text = await run("export-config", programId);
    await writeFile(join(home.path, "p.yaml"), text);
    expect(listOutcomes(JSON.parse(await run("import", "p.yaml", "--json")))).toEqual(["unchanged"]);
    await writeFile(join(home.path, "next.yaml"), text.replace("year: 2035", "year: 2036"));
    const both = await Promise.all([1, 2].map(() => run("import", "next.yaml", "--json")));
    const programs = both.map((printed) =>
      (JSON.parse(printed) as Imported).items.find(({ kind }) => kind === "program"),
    );
    expect(programs.map((program) => program?.outcome).toSorted()).toEqual(["created", "unchanged"]);
    expect(new Set(programs.map((program) => program?.id)).size).toBe(1);
  });
});
