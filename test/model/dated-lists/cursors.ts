import { type ListFilter, type ModelCursor, type ModelTenant, Refusal } from "../tenant.ts";

/** @throws Refusal of a cursor of another tenant, of another list or of the list with other filters */
export function findCursor(
  { cursors }: ModelTenant,
  cursor: string,
  name: ModelCursor["name"],
  filter: ListFilter,
  /** Returns the same for filters that mean the same. */
  toKey = (filter: ListFilter) => filter,
): ModelCursor {
  const key = JSON.stringify(toKey(filter));
  const isSame = (each: ModelCursor) => each.name === name && JSON.stringify(toKey(each.filter)) === key;
  const found = cursors.findLast((each) => each.cursor === cursor && isSame(each));
  if (!found) throw new Refusal(400, "invalid_cursor");
  return found;
}
