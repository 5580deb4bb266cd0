import type { Person, PersonSchema } from "../../contract/persons.ts";
import type { Reader } from "../../store/port.ts";
import { normalizeEmail } from "../../store/tables.ts";

/** The conditions of `isActive` for a query. */
export const activeOnly = { active: true, anonymizedAt: null };

/** Returns the tenant's active published person schema, if it has one. */
export async function loadActivePersonSchema(store: Reader): Promise<PersonSchema | undefined> {
  const where = { active: true, published: true };
  const [row] = await store.find("personSchemas", { where }, { limit: 1, orderBy: "schemaVersion", descending: true });
  if (!row) return undefined;
  const { personSchemaId: _, ...schema } = row;
  return schema;
}

/** Returns the active person with this address, or `undefined` if there is none or more than one. */
export async function findPersonByEmail(store: Reader, email: string): Promise<Person | undefined> {
  return (await findPersonsByEmail(store, [email])).get(normalizeEmail(email));
}

/**
 * Returns the active persons with these addresses, by normalised address. Addresses of no person or of several are left
 * out.
 */
export async function findPersonsByEmail(store: Reader, emails: readonly string[]): Promise<Map<string, Person>> {
  const uniqueByEmail = new Map<string, Person>();
  let pending = [...new Set(emails.map(normalizeEmail))];
  while (pending.length > 0) {
    const query = { where: activeOnly, has: { email: pending } };
    const limit = 2 * pending.length;
    // Ordered by id: any other order would scan all persons of the tenant.
    const rows = await store.find("persons", query, { limit, orderBy: "personId" });
    const byEmail = Map.groupBy(rows, ({ primaryEmail = "" }) => normalizeEmail(primaryEmail));
    if (rows.length < limit) {
      for (const [email, [person, ...others]] of byEmail)
        if (person && others.length === 0) uniqueByEmail.set(email, person);
      break;
    }
    // Addresses of many persons have filled this page, so the query is repeated without them.
    pending = pending.filter((email) => (byEmail.get(email)?.length ?? 0) < 2);
  }
  return uniqueByEmail;
}

/** Returns the current person for each id by following merges to the survivor. Unknown ids are left out. */
export async function loadSurvivors(store: Reader, personIds: readonly string[]): Promise<Map<string, Person>> {
  const byId = new Map<string, Person>();
  let pending = [...new Set(personIds)];
  while (pending.length > 0) {
    const rows = await store.find("persons", { where: { personId: pending } }, { limit: pending.length });
    for (const row of rows) byId.set(row.personId, row);
    const next = rows.flatMap(({ mergedIntoPersonId }) => mergedIntoPersonId ?? []);
    pending = [...new Set(next)].filter((personId) => !byId.has(personId));
  }
  const survivors = personIds.flatMap((personId) => {
    let person = byId.get(personId);
    while (person && person.mergedIntoPersonId !== null) person = byId.get(person.mergedIntoPersonId);
    return person ? [[personId, person] as const] : [];
  });
  return new Map(survivors);
}
