import type { AuditEntry } from "../contract/audit.ts";
import type { Stored } from "./codec.ts";
import { auditSource, type Db, type Prepared, prepare, type Statements } from "./database.ts";

const { codec } = auditSource;
const columns = [...codec.names, "kind"];

/** An entry's values in the order of the columns; its kind keeps changes apart from requests that changed nothing. */
export function auditValues(entry: AuditEntry): Stored[] {
  const values = codec.encode(entry);
  values.push(entry.status === null ? "change" : "access");
  return values;
}

export async function insertAudit(db: Db, statements: Statements, entry: AuditEntry): Promise<void> {
  await statements.insert("audit", columns)(db, ...auditValues(entry));
}

/** Writes an entry unless it is there: where nobody can say whether a batch was committed it is written again. */
export function prepareAppend(db: Db): Prepared {
  const values = Object.fromEntries(columns.map((column) => [column, ""]));
  return prepare(
    db
      .insertInto("audit")
      .values(values)
      .onConflict((conflict) => conflict.doNothing()),
  );
}
