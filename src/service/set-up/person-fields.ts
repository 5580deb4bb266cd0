import { isDeepStrictEqual } from "node:util";
import type { PersonField } from "../../contract/persons.ts";
import type { PersonFieldConfig } from "../../contract/set-up/program-config.ts";
import type { SetUpContext } from "./context.ts";
import { createFieldId } from "./versions.ts";

/**
 * Adds and changes custom fields of persons in a new version of the organisation's person schema. Fields that the file
 * does not name stay, because all programmes share them. A file that names all of them decides on their order. The type
 * of a field does not change, because persons have values of it.
 */
export async function savePersonFields(context: SetUpContext, configs: readonly PersonFieldConfig[]): Promise<void> {
  if (configs.length === 0) return;
  const { store, items, issues, now, newId } = context;
  const [latest] = await store.find("personSchemas", {}, { limit: 1, orderBy: "schemaVersion", descending: true });
  const where = { active: true, published: true };
  const active = await store.find(
    "personSchemas",
    { where },
    { limit: 10, orderBy: "schemaVersion", descending: true },
  );
  const [current] = active;
  const before = (current?.fields ?? []).toSorted((one, other) => one.order - other.order);
  const byKey = new Map<string, PersonField>(before.map((field) => [field.key, field]));
  for (const [index, config] of configs.entries()) {
    const field = byKey.get(config.key);
    if (field && field.type !== config.type) {
      const message = `The field has the type ${field.type}, which cannot change. Archive it and add another key`;
      issues.push({ path: `personFields.${index}.type`, code: "type_exists", message });
    }
    byKey.set(config.key, { ...config, fieldId: field?.fieldId ?? createFieldId(config.key), order: byKey.size });
  }
  const named = new Set(configs.map(({ key }) => key));
  const keys = before.every(({ key }) => named.has(key)) ? named : byKey.keys();
  const fields = [...keys].flatMap((key) => byKey.get(key) ?? []).map((field, order) => ({ ...field, order }));
  const item = { kind: "person_schema", name: "fields of persons" } as const;
  if (current && isDeepStrictEqual(fields, before)) {
    items.push({ ...item, id: current.personSchemaId, version: current.schemaVersion, outcome: "unchanged" });
    return;
  }
  for (const row of active) await store.update("personSchemas", row, { active: false });
  const added = await store.insert("personSchemas", {
    personSchemaId: newId("psc"),
    entityType: "person",
    schemaVersion: (latest?.schemaVersion ?? 0) + 1,
    ...(current ? { sourceSchemaVersion: current.schemaVersion } : {}),
    fields,
    published: true,
    publishedAt: now,
    active: true,
  });
  const outcome = current ? "changed" : "created";
  items.push({ ...item, id: added.personSchemaId, version: added.schemaVersion, outcome });
}
