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

  test.each([
    "mysql://host/x",
    "http://host/x",
    "postgres://host:port/x",
  ])("at %s is refused without showing the URL", (given) => {
    const refused = "PROGRAMME_DATABASE must be a file, `:memory:` or an address as in";
    expect(() => loadConfig({ PROGRAMME_DATABASE: given })).toThrow(refused);
    expect(() => loadConfig({ PROGRAMME_DATABASE: given })).not.toThrow(given);
  });

  test.each([
    ["postgres://one.example.org:5433,two.example.org/calls", "postgres://one.example.org:5433,two.example.org/calls"],
    ["postgres://me:sesame@[::1]:6000/calls", "postgres://[::1]:6000/calls"],
    ["postgres://%2Frun%2Fpostgresql/calls", "postgres://%2Frun%2Fpostgresql/calls"],
    ["postgres://me:sesame@/calls?host=/run/postgresql&port=6000", "postgres://%2Frun%2Fpostgresql:6000/calls"],
    ["postgres:///?host=a,b&port=1,2&dbname=calls&user=me&password=sesame", "postgres://a:1,b:2/calls"],
    ["postgres:///calls", "postgres://localhost/calls"],
  ])("%s is accepted, and called %s", (given, databaseName) => {
    expect(loadConfig({ PROGRAMME_DATABASE: given })).toMatchObject({ database: given, databaseName });
  });

  test.each([
    ["sslmode=verify", "sslmode must be disable, allow, prefer, require, verify-ca or verify-full"],
    ["target_session_attrs=standby", "target_session_attrs must be any, read-write or primary"],
    ["channel_binding=require", "channel_binding must be disable or prefer"],
    ["connect_timeout=soon", "connect_timeout must be seconds"],
    ["sslcrl=x", 'the parameter "sslcrl" is not supported; those that are: host, port'],
    ["host=a,b&port=1,2,3", "it names 2 hosts and 3 ports"],
    ["port=99999", "a port is not a number"],
  ])("with %s is refused with the reason", (query, message) => {
    const given = `postgres://me:sesame@db.example.org/calls?${query}`;
    expect(() => loadConfig({ PROGRAMME_DATABASE: given })).toThrow(message);
    expect(() => loadConfig({ PROGRAMME_DATABASE: given })).not.toThrow("sesame");
  });

  test.each([
    "open?sesame@db",
    "open#sesame",
    "open/sesame",
  ])("with the password %s is refused without showing it", (password) => {
    const PROGRAMME_DATABASE = `postgres://me:${password}@db.example.org/calls`;
    expect(() => loadConfig({ PROGRAMME_DATABASE })).toThrow("PROGRAMME_DATABASE must be");
    expect(() => loadConfig({ PROGRAMME_DATABASE })).not.toThrow("sesame");
  });

  test("with a password is not accepted as an option, which other users can see", () => {
    for (const database of [address, "postgres://db.example.org/calls?password=sesame"]) {
      expect(() => loadConfig({}, { database })).toThrow("--database must have no password");
      expect(() => loadConfig({}, { database })).not.toThrow("sesame");
    }
    const database = "postgres://programme@db.example.org/calls";
    expect(loadConfig({}, { database })).toMatchObject({ database });
  });

  test("has read replicas at an address that is not shown, and only if it is one of PostgreSQL", () => {
    const PROGRAMME_DATABASE_READ_REPLICAS = "postgres://me:sesame@one.example.org,two.example.org:6000/calls";
    const given = { PROGRAMME_DATABASE: address, PROGRAMME_DATABASE_READ_REPLICAS };
    expect(loadConfig(given)).toMatchObject({ databaseReadReplicas: PROGRAMME_DATABASE_READ_REPLICAS });
    expect(() => loadConfig({ PROGRAMME_DATABASE_READ_REPLICAS })).toThrow("needs a PostgreSQL database");
    for (const wrong of ["replica.db", "postgres://me:sesame@one:port/calls"]) {
      const load = () => loadConfig({ ...given, PROGRAMME_DATABASE_READ_REPLICAS: wrong });
      expect(load).toThrow("PROGRAMME_DATABASE_READ_REPLICAS must be an address as in");
      expect(load).not.toThrow(wrong);
    }
  });

  test("has at least two connections: one for changes, one for reads", () => {
    expect(loadConfig({})).toMatchObject({ databaseConnections: 10, databasePooler: false });
    expect(() => loadConfig({ PROGRAMME_DATABASE_CONNECTIONS: "1" })).toThrow("an integer from 2 to 1000");
  });
});
