import type { AuditEntry } from "../contract/audit.ts";
import { auditSource, type Db, type PreparedStatement, prepareQuery, type Statements } from "./database.ts";
import type { Stored } from "./queries/codec.ts";

const { codec } = auditSource;
const columns = [...codec.names, "kind", "commitNumber"];

/** Returns an entry's values in the order of the columns. `kind` distinguishes changes from requests that changed nothing. */
function toAuditValues(entry: AuditEntry, commitNumber: number | null): Stored[] {
  const values = codec.encode(entry);
  if (entry.status === null) values.push("change", commitNumber);
  else values.push("access", null);
  return values;
}

/** Returns the values of an entry for a request that changed nothing. It has no commit number. */
export function toAccessValues(entry: AuditEntry): Stored[] {
  return toAuditValues(entry, null);
}

export async function insertAudit(
  db: Db,
  statements: Statements,
  entry: AuditEntry,
  commitNumber: number,
): Promise<void> {
  await statements.insert("audit", columns)(db, ...toAuditValues(entry, commitNumber));
}

/**
 * Prepares the insert of an entry. An entry that exists already is skipped, because a batch is written again when its
 * commit is uncertain.
 */
export function prepareAppend(db: Db): PreparedStatement {
  const values = Object.fromEntries(columns.map((column) => [column, ""]));
  return prepareQuery(
    db
      .insertInto("audit")
      .values(values)
      .onConflict((conflict) => conflict.doNothing()),
  );
}
