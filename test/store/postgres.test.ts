import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { inspectStore, openStore, type StoreOptions } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port.ts";
import { edit } from "../support/data/edit.ts";
import {
  type Databases,
  openDatabases,
  openIsolated,
  runOn,
  type TestDatabase,
} from "../support/database/database-server.ts";
import { benchOf, conformance } from "./conformance.ts";
import { allApplied, migrations } from "./migrations.ts";
import { processes } from "./processes.ts";

let databases: Databases;

beforeAll(async () => {
  databases = await openDatabases({ given: inject("postgres") });
  return () => databases.stop();
});

async function fresh(made: Promise<TestDatabase>): Promise<string> {
  const { database, remove } = await made;
  onTestFinished(remove);
  return database;
}

const copy = () => fresh(databases.copy());
const empty = () => fresh(databases.empty());

async function opened(database: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await openStore({ database, ...options });
  onTestFinished(() => store.close());
  return store;
}

describe.each(["read committed", "serializable"])("on PostgreSQL, %s", (level) => {
  conformance(async () => opened(openIsolated(await copy(), level)));
  describe("several processes on one database", () => processes(async () => openIsolated(await empty(), level)));
});

describe("the address", () => {
  const wrong = (parts: Partial<URL>) => Object.assign(new URL(databases.address), parts).href;

  test.each<[string, Partial<URL>, RegExp]>([
    ["without a server", { port: "1" }, /127\.0\.0\.1:1\/postgres cannot be used: nothing listens/],
    ["without a host", { hostname: "nowhere.invalid" }, /there is no such host/],
    ["of another password", { password: "sesame" }, /the user name or the password is wrong/],
    [
      "of no database",
      { pathname: "/none" },
      /there is no such database on the server\. .*: create database "none" owner "programme" encoding 'UTF8'/,
    ],
  ])("%s is refused with an error that names the reason and no password", async (_, parts, expectedMessage) => {
    const database = wrong(parts);
    for (const open of [openStore, inspectStore]) {
      const refusal = await open({ database }).then(
        () => undefined,
        (error: Error) => error,
      );
      expect(refusal?.message).toMatch(expectedMessage);
      expect(`${refusal?.stack}${JSON.stringify(refusal)}`).not.toContain(new URL(database).password);
    }
  });

  test("of a database with an encoding other than UTF-8 is refused", async () => {
    const name = `programme_latin_${Date.now()}`;
    await runOn(databases.address, `create database ${name} encoding 'LATIN1' locale 'C' template template0`);
    onTestFinished(() => runOn(databases.address, `drop database ${name} with (force)`));
    await expect(openStore({ database: wrong({ pathname: name }) })).rejects.toThrow(/UTF8/);
  });
});

test.each(["sqlite", "pg"])("only the driver in use is loaded: %s", async (driver) => {
  const database = driver === "pg" ? await copy() : ":memory:";
  const script = fileURLToPath(new URL("./loaded.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, database]);
  expect(JSON.parse(stdout)).toEqual({ pg: driver === "pg", sqlite: driver === "sqlite" });
});

describe("migrations", () => {
  test("are listed before and after they run, and listing changes nothing", async () => {
    const database = await empty();
    const nothing = { applied: [], pending: migrations, unknown: [], incompatible: [] };
    for (let look = 0; look < 2; look++) expect(await inspectStore({ database })).toEqual(nothing);
    await opened(database);
    expect(await inspectStore({ database })).toEqual(allApplied);
  });

  test("of a later version prevent this version from starting", async () => {
    const database = await copy();
    await edit(database, `insert into migrations (name, "appliedAt") values ('999_later', '2030-01-01T00:00:00.000Z')`);
    await expect(openStore({ database })).rejects.toThrow(/later version.*999_later/);
  });

  test("that fail leave nothing behind", async () => {
    const database = await empty();
    await edit(database, "create table permits (x text)");
    await expect(openStore({ database })).rejects.toThrow(/permits/);
    expect(await inspectStore({ database })).toMatchObject({ applied: [] });
  });

  test("need no permission to create tables once these exist", async () => {
    const database = await copy();
    const user = `programme_user_${Date.now()}`;
    await edit(database, `create user ${user} password 'sesame'; revoke create on schema public from public`);
    onTestFinished(() => edit(databases.address, `drop user ${user}`));
    onTestFinished(() => edit(database, `drop owned by ${user}`));
    await edit(database, `grant select, insert, update, delete on all tables in schema public to ${user}`);
    const address = Object.assign(new URL(database), { username: user, password: "sesame" }).href;
    const store = await openStore({ database: address });
    await benchOf(store).seed.program();
    expect(await store.reader("biz_one").count("programs", {})).toBe(1);
    await store.close();
  });

  test("name the permissions that a user lacks, with or without tables", async () => {
    for (const [database, lacking] of [
      [await empty(), 'grant create on schema public to "?X"?'],
      [await copy(), 'grant select, insert, update, delete on all tables in schema public to "?X"?'],
    ] as const) {
      const user = `programme_user_${Date.now()}`;
      await edit(database, `create user ${user} password 'sesame'; revoke create on schema public from public`);
      onTestFinished(() => edit(databases.address, `drop user ${user}`));
      const address = Object.assign(new URL(database), { username: user, password: "sesame" }).href;
      const expectedMessage = new RegExp(lacking.replace("X", user));
      for (const open of [openStore, inspectStore])
        await expect(open({ database: address })).rejects.toThrow(expectedMessage);
      await edit(database, expectedMessage.source.replaceAll('"?', ""));
      onTestFinished(() => edit(database, `drop owned by ${user}`));
      await (await openStore({ database: address })).close();
    }
  });

  test("use the schema that the connection's search path names", async () => {
    const database = await empty();
    await edit(database, 'create schema other; create table public.migrations (name text, "appliedAt" text)');
    await edit(database, "insert into public.migrations values ('999_later', '2030-01-01T00:00:00.000Z')");
    await opened(`${database}?options=${encodeURIComponent("-c search_path=other")}`);
    await expect(openStore({ database })).rejects.toThrow(/later version/);
  });
});

describe("text", () => {
  test("is read back unchanged, including characters that PostgreSQL cannot store", async () => {
    const { seed, store } = benchOf(await opened(await copy()));
    const names = ["a\0b", "\0", "\uffff", "\uffff\ufffe\0\uffff", "plain", "\u{1f600}"];
    for (const name of names) {
      const { programId } = await seed.program({ name });
      const reader = store.reader("biz_one");
      expect(await reader.get("programs", programId)).toMatchObject({ name });
      expect(await reader.find("programs", { where: { name } }, { limit: 10 })).toMatchObject([{ programId }]);
    }
  });

  test("is searched with the case folding of JavaScript", async () => {
    const { seed, store } = benchOf(await opened(await copy()));
    const words = ["ÉLODIE", "ΟΔΟΣ", "İSTANBUL", "ЖЁЛТЫЙ", "GROẞ", "ÅÄÖ", "ᲐᲑᲒ", "ǅ"];
    for (const lastName of words) await seed.reviewer({ lastName });
    for (const word of words) {
      const search = { columns: ["lastName"], text: word.toLowerCase() } as const;
      const found = await store.reader("biz_one").find("reviewers", { search }, { limit: 10 });
      expect([word, found.map(({ lastName }) => lastName)]).toEqual([word, [word]]);
    }
  });

  test("is ordered by its bytes with any collation of the database", async () => {
    const name = `programme_names_${Date.now()}`;
    await runOn(
      databases.address,
      `create database ${name} template template0 locale_provider icu icu_locale 'en' locale 'C' encoding 'UTF8'`,
    );
    onTestFinished(() => runOn(databases.address, `drop database ${name} with (force)`));
    const store = await opened(Object.assign(new URL(databases.address), { pathname: `/${name}` }).href);
    const { seed } = benchOf(store);
    for (const programId of ["prg_b", "prg_A", "prg_a", "prg_B", "prg-C"]) await seed.program({ programId });
    const found = await store.reader("biz_one").find("programs", {}, { limit: 10, orderBy: "programId" });
    expect(found.map(({ programId }) => programId)).toEqual(["prg-C", "prg_A", "prg_B", "prg_a", "prg_b"]);
  });
});

describe("a statement that the database rejects", () => {
  test("is reported with the violated constraint, without values of the rows", async () => {
    const { seed } = benchOf(await opened(await copy()));
    const externalRefs = [{ namespace: "crm", objectType: "contact", externalId: "of-ada-marsh" }];
    await seed.person({ externalRefs });
    const refusal = await seed.person({ externalRefs }).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(refusal?.message).toBe("PostgreSQL: SQLSTATE 23505 (members_persons_ref)");
    expect(`${refusal?.stack}${JSON.stringify(refusal)}${refusal?.cause}`).not.toContain("ada");
  });
});
