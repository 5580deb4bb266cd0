import { isDeepStrictEqual } from "node:util";
import type { Issue } from "../../contract/errors.ts";
import type { SetUpItem } from "../../contract/set-up/program-config.ts";
import { suggestWord } from "../../lib/did-you-mean.ts";
import type { ChangeContext } from "../../store/handler-context.ts";
import type { NewRow, Patch, Row, TableName } from "../../store/tables.ts";

/** The context in which a programme is set up: it collects what became of each part, and all mistakes. */
export interface SetUpContext extends ChangeContext {
  readonly items: SetUpItem[];
  readonly issues: Issue[];
}

/** Creates the record of a part, or changes the existing one, and adds the outcome to the context's items. */
export async function saveItem<T extends TableName>(
  { store, items }: SetUpContext,
  table: T,
  item: Pick<SetUpItem, "kind" | "name" | "id">,
  existing: Row<T> | undefined,
  write: { readonly create: () => NewRow<T>; readonly patch: Patch<T> },
): Promise<Row<T>> {
  if (!existing) {
    items.push({ ...item, outcome: "created" });
    return store.insert(table, write.create());
  }
  const saved = await store.update(table, existing, write.patch);
  const changes = (Object.keys(write.patch) as (keyof Row<T> & string)[]).filter(
    (name) => !isDeepStrictEqual(saved[name], existing[name]),
  );
  items.push(changes.length > 0 ? { ...item, outcome: "changed", changes } : { ...item, outcome: "unchanged" });
  return saved;
}

/** Returns the records by their names. Two records with one name are a mistake, because a file names only one. */
export function indexByName<R extends { readonly name: string }>(
  { issues }: SetUpContext,
  rows: readonly R[],
  path: string,
  noun: string,
): Map<string, R> {
  const byName = new Map<string, R>();
  for (const row of rows) {
    if (byName.has(row.name)) {
      const message = `The database has several ${noun} with the name ${JSON.stringify(row.name)}`;
      issues.push({ path, code: "ambiguous", message });
    }
    byName.set(row.name, row);
  }
  return byName;
}

/** Adds the mistake that a name refers to nothing, with the most similar name. */
export function addUnknownName(
  { issues }: SetUpContext,
  path: string,
  noun: string,
  name: string,
  known: readonly string[],
): void {
  const message = `There is no ${noun} with the name ${JSON.stringify(name)}.${suggestWord(name, known)}`;
  issues.push({ path, code: "not_found", message });
}
