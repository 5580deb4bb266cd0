import { describe, expect } from "vitest";
import type { Row } from "../../../src/store/tables.ts";
import { field } from "../../support/data/seed-factory.ts";
import { surfaces, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

type Fields = Row<"personSchemas">["fields"];

const minimal = { kinds: ["contact"], provenance: { source: "crm" } };

describe.each(surfaces)("custom fields over %s", (surface) => {
  const fields = [
    field("fld_name", "name", "text", {
      required: true,
      constraints: { minLength: 2, maxLength: 5, pattern: "^[A-Z]" },
    }),
    field("fld_bio", "bio", "textarea", { constraints: { maxLength: 3 } }),
    field("fld_age", "age", "number", { constraints: { min: 0, max: 10 } }),
    field("fld_day", "day", "date", {}),
    field("fld_vegan", "vegan", "boolean", {}),
    field("fld_size", "size", "select", { constraints: { options: ["S", "M"] } }),
    field("fld_days", "days", "multiselect", {
      constraints: { options: ["mo", "tu", "we"], minItems: 1, maxItems: 2 },
    }),
    field("fld_old", "old", "text", { archived: true, required: true }),
  ] as Fields;

  const taken: Readonly<Record<string, readonly unknown[]>> = {
    fld_name: ["Os", "Oslos"],
    fld_bio: ["", "abc"],
    fld_age: [0, 2.5, 10],
    fld_day: ["2026-11-20", "2028-02-29"],
    fld_vegan: [true, false],
    fld_size: ["S"],
    fld_days: [["mo"], ["we", "tu"]],
  };

  const refused: readonly [fieldId: string, code: string, ...values: unknown[]][] = [
    ["fld_name", "invalid_type", 5, true, ["Oslo"]],
    ["fld_name", "too_small", "O"],
    ["fld_name", "too_big", "Oslofj"],
    ["fld_name", "invalid_format", "oslo"],
    ["fld_bio", "too_big", "abcd"],
    ["fld_age", "invalid_type", "3", false],
    ["fld_age", "too_small", -1],
    ["fld_age", "too_big", 11],
    ["fld_day", "invalid_format", "2026-02-30", "20.11.2026", "2026-11-20T04:01:05+02:00", 20261120],
    ["fld_vegan", "invalid_type", "true", 1],
    ["fld_size", "invalid_value", "L"],
    ["fld_size", "invalid_type", true, ["S"]],
    ["fld_days", "invalid_type", "mo"],
    ["fld_days", "too_small", []],
    ["fld_days", "too_big", ["mo", "tu", "we"]],
    ["fld_days", "invalid_value", ["su"], ["mo", "mo"]],
    ["fld_old", "unrecognized_keys", "x"],
    ["fld_none", "unrecognized_keys", "x"],
    ["fld_bio", "too_big", "x".repeat(32_769), 2 ** 53],
    ["fld_days", "too_big", ["x".repeat(513)]],
    ["fld_days", "too_big|invalid_union", Array(101).fill("mo")],
    ["fld_bio", "invalid_union", { a: 1 }],
  ];

  test("values of each field type are accepted when a person is created and changed", async ({ server }) => {
    const clerk = await server.as(surface);
    await server.seed.personSchema({ fields });
    for (const [fieldId, values] of Object.entries(taken)) {
      for (const value of values) {
        const customFields = { fld_name: "Oslo", [fieldId]: value };
        expect(await clerk.create_person({ ...minimal, customFields })).toMatchObject({ customFields });
        const { personId, version } = await server.seed.person();
        const changed = await clerk.update_person({ personId, version, customFields: { [fieldId]: value } });
        expect(changed.customFields).toEqual({ [fieldId]: value });
      }
    }
  });

  test("invalid values are refused with their path when a person is created or changed, and nothing is written", async ({
    server,
  }) => {
    const clerk = await server.as(surface);
    await server.seed.personSchema({ fields });
    const { personId, version } = await server.seed.person();
    for (const [fieldId, code, ...values] of refused) {
      for (const value of values) {
        const create = () => clerk.create_person({ ...minimal, customFields: { fld_name: "Oslo", [fieldId]: value } });
        const update = () =>
          clerk.update_person({ personId, version, kinds: ["contact"], customFields: { [fieldId]: value } });
        for (const call of [create, update]) {
          const trace = await recordTrace(server, call);
          expect(trace, `${fieldId} ${code}`).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
          const issues = trace.problem?.details["issues"] as { path: string; code: string }[];
          expect(issues[0], `${fieldId} ${JSON.stringify(value)?.slice(0, 50)}`).toMatchObject({
            code: expect.stringMatching(`^(${code})$`),
          });
          expect(issues[0]?.path).toMatch(new RegExp(`^customFields\\.${fieldId}`));
        }
      }
    }
  });

  test("a required field must be set on creation and cannot be cleared, but its absence does not block other changes", async ({
    server,
  }) => {
    const clerk = await server.as(surface);
    await server.seed.personSchema({ fields });
    const missing = { issues: [{ path: "customFields.fld_name", code: "required", message: expect.any(String) }] };
    await expect(clerk.create_person(minimal)).rejects.toMatchProblem("validation_failed", missing);
    const { personId } = await server.seed.person({ customFields: { fld_name: "Oslo", fld_gone: "stale" } });
    const clear = (version: number, ...ids: string[]) =>
      clerk.update_person({ personId, version, customFields: Object.fromEntries(ids.map((id) => [id, null])) });
    await expect(clear(0, "fld_name")).rejects.toMatchProblem("validation_failed", missing);
    await expect(clear(0, "fld_none")).rejects.toMatchProblem("validation_failed");
    expect((await clear(0, "fld_gone", "fld_size")).customFields).toEqual({ fld_name: "Oslo" });
    const lacking = await server.seed.person();
    const change = { personId: lacking.personId, version: 0, customFields: { fld_size: "M" } };
    expect((await clerk.update_person(change)).customFields).toEqual({ fld_size: "M" });
  });

  test("the active published schema of the highest version applies, and its version is stored with the values", async ({
    server,
  }) => {
    const clerk = await server.as(surface);
    const one = (schemaVersion: number, given = {}) =>
      server.seed.personSchema({
        schemaVersion,
        fields: [field(`fld_v${schemaVersion}`, "v", "text", {})] as Fields,
        ...given,
      });
    await expect(clerk.get_person_schema()).rejects.toMatchProblem("not_found");
    await one(4, { active: false });
    await one(5, { published: false, publishedAt: null });
    await expect(clerk.get_person_schema()).rejects.toMatchProblem("not_found");
    await one(3);
    await one(2);
    await (await server.other()).seed.personSchema({ schemaVersion: 9 });
    const schema = await clerk.get_person_schema();
    expect(schema).toMatchObject({ entityType: "person", schemaVersion: 3, fields: [{ fieldId: "fld_v3" }] });
    expect(schema).not.toHaveProperty("personSchemaId");
    const { personId } = await server.seed.person({ customFields: { fld_v1: "a" } });
    const refused = clerk.update_person({ personId, version: 0, customFields: { fld_v2: "b" } });
    await expect(refused).rejects.toMatchProblem("validation_failed");
    expect(await clerk.update_person({ personId, version: 0, customFields: { fld_v3: "b" } })).toMatchObject({
      customFields: { fld_v1: "a", fld_v3: "b" },
      customFieldSchemaVersion: 3,
    });
  });
});
