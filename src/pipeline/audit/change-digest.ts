import { hashSha256Hex } from "../../lib/crypto/crypto.ts";
import type { Change } from "../../store/port.ts";
import type { TableName } from "../../store/tables.ts";

type Values = Readonly<Record<string, unknown>>;

/** Returns the columns that identify a new row: its id and times differ from one run to the next. */
const identityColumns: Partial<Record<TableName, (row: Values) => readonly unknown[]>> = {
  assignments: ({ submissionId, reviewerId }) => [submissionId, reviewerId],
  // The body of a template holds a new secret each time. Its variables are covered by the arguments and by versions.
  emailSends: ({ recipientEmail, subject, template, body, status }) => [
    recipientEmail,
    subject,
    template ?? body,
    status,
  ],
};

/** Hexadecimal characters of a digest: 128 bits, because tokens that agents repeat contain it. */
const digestChars = 32;

/** Returns a digest that is equal for the same changes to the same versions of the same records. */
export function computeChangeDigest(changes: readonly Change[]): string {
  const identities = changes.map(({ table, id, before, after }) =>
    before ? [table, id, before["version"]] : [table, ...(identityColumns[table]?.(after ?? {}) ?? [])],
  );
  return hashSha256Hex(JSON.stringify(identities)).slice(0, digestChars);
}
