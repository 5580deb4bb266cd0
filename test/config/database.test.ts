import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";

const address = "postgres://programme:sesame@db.example.org:5433/calls";

describe("a database", () => {
  test("may be one of PostgreSQL, whose files are in the data directory and whose name shows no password", () => {
    for (const PROGRAMME_DATABASE of [address, address.replace("postgres:", "postgresql:")]) {
      const config = loadConfig({ PROGRAMME_DATABASE, PROGRAMME_DATA_DIR: "data" });
      expect(config).toMatchObject({
        database: PROGRAMME_DATABASE,
        databaseGiven: true,
        databaseName: "postgres://db.example.org:5433/calls",
        filesBeside: join(resolve("data"), "programme"),
      });
    }
  });

  test("in a file has its files beside it, in memory none", () => {
    const path = resolve("x.db");
    expect(loadConfig({ PROGRAMME_DATABASE: "x.db" })).toMatchObject({ databaseName: path, filesBeside: path });
    const { databaseName, filesBeside } = loadConfig({ PROGRAMME_DATABASE: ":memory:" });
    expect([databaseName, filesBeside]).toEqual([":memory:", undefined]);
  });

  test.each(["mysql://host/x", "http://host/x", "postgres://host:port/x"])("at %s is refused, unshown", (given) => {
    const refused = "PROGRAMME_DATABASE must be a file, `:memory:` or an address as in";
    expect(() => loadConfig({ PROGRAMME_DATABASE: given })).toThrow(refused);
    expect(() => loadConfig({ PROGRAMME_DATABASE: given })).not.toThrow(given);
  });

  test("is not taken with its password from an option, which other users can see", () => {
    for (const database of [address, "postgres://db.example.org/calls?password=sesame"]) {
      expect(() => loadConfig({}, { database })).toThrow("--database must have no password");
      expect(() => loadConfig({}, { database })).not.toThrow("sesame");
    }
    const database = "postgres://programme@db.example.org/calls";
    expect(loadConfig({}, { database })).toMatchObject({ database });
  });

  test("has at least two connections: one for changes, one for reads", () => {
    expect(loadConfig({})).toMatchObject({ databaseConnections: 10, databasePooler: false });
    expect(() => loadConfig({ PROGRAMME_DATABASE_CONNECTIONS: "1" })).toThrow("an integer from 2 to 1000");
  });
});
