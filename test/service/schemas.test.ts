import { describe, expect } from "vitest";
import { surfaces, type TestServer, test } from "../support/servers/test-server.ts";

/** Both kinds of record that are kept in versions: how they are read, and one version made. */
const kinds = [
  [
    "get_schema",
    "schemaId",
    (server: TestServer, id: string, n: number) =>
      server.seed.schema({ schemaId: id, schemaVersion: n, name: `No ${n}` }),
  ],
  [
    "get_rubric",
    "rubricId",
    (server: TestServer, id: string, n: number) =>
      server.seed.rubric({ rubricId: id, rubricVersion: n, name: `No ${n}` }),
  ],
] as const;

describe.each(surfaces)("versions over %s", (surface) => {
  test.for(kinds)("%s returns the requested version, by default the latest", async ([name, key, seed], { server }) => {
    const chair = await server.as(surface);
    const other = await server.other();
    const foreign = [await seed(other, "one", 20), await seed(other, "foreign", 1)];
    const rows = new Map<number, unknown>();
    for (const version of [9, 10, 2]) rows.set(version, await seed(server, "one", version));
    await seed(server, "two", 11);
    for (const [version, row] of rows) expect(await chair[name]({ [key]: "one", version })).toEqual(row);
    expect(await chair[name]({ [key]: "one" })).toEqual(rows.get(10));
    expect(await (await other.as(surface))[name]({ [key]: "one" })).toEqual(foreign[0]);

    for (const input of [
      { [key]: "none" },
      { [key]: "foreign" },
      { [key]: "one", version: 20 },
      { [key]: "one", version: 3 },
    ]) {
      await expect(chair[name](input), JSON.stringify(input)).rejects.toMatchProblem("not_found");
    }
    for (const version of [0, -1, 1.5, "latest"]) {
      const issues = [expect.objectContaining({ path: "version" })];
      await expect(chair[name]({ [key]: "one", version })).rejects.toMatchProblem("validation_failed", { issues });
    }
  });
});
