import type { AuditEntry } from "../contract/audit.ts";
import { auditSource, type Db, type Statements } from "./database.ts";

const { codec } = auditSource;
const columns = [...codec.names, "kind"];

/** Writes an entry; its kind keeps changes apart from requests that changed nothing. */
export async function insertAudit(db: Db, statements: Statements, entry: AuditEntry): Promise<void> {
  const kind = entry.status === null ? "change" : "access";
  await statements.insert("audit", columns)(db, ...codec.encode(entry), kind);
}
