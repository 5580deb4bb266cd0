import type { AuditEntry } from "../../contract/audit.ts";
import { operations } from "../../contract/index.ts";
import { isObject } from "../../lib/json-value.ts";
import type { UpstreamCall } from "../../upstream/port.ts";
import { getIdentity } from "../../upstream/request-caller.ts";
import { readAsCaller } from "../caller-reads.ts";
import { toPlainLine } from "../confirmation/plain-line.ts";
import { formatPaths } from "../results/brief.ts";
import type { ToolSession } from "../session.ts";

type Values = Readonly<Record<string, unknown>>;
type Change = Pick<AuditEntry, "changes" | "actorType" | "actorId" | "actorName" | "tokenId" | "occurredAt">;

/** Most changes of a record that are looked for, and most audit entries that are read to find them. */
const maxChanges = 10;
const maxEntries = 100;

/**
 * Describes who changed which fields since the version that a call names, and whether the call changes them too.
 * Returns `undefined` if the caller may not read the audit.
 * @param details - the details of a `version_conflict`
 */
export async function describeVersionConflict(
  session: ToolSession,
  call: UpstreamCall,
  { currentVersion, record }: Values,
): Promise<string | undefined> {
  // Texts that are numbers are accepted as numbers.
  const given = Number(call.input[typeof record === "string" ? `${record}Version` : "version"]);
  if (typeof currentVersion !== "number" || !(given < currentVersion)) return undefined;
  const changes = await readChanges(session, call, record, Math.min(currentVersion - given, maxChanges));
  if (changes.length === 0) return undefined;
  const { caller } = await getIdentity(session.upstream, call);
  const changed = new Set(changes.flatMap((change) => change.changes.map(({ path }) => path)));
  const own = listChangedPaths(call).filter((path) => [...changed].some((other) => overlaps(path, other)));
  const earlier = currentVersion - given > changes.length ? ["Earlier changes are not shown."] : [];
  return [
    `Since version ${given}, ${changes.map((change) => describeChange(change, caller)).join("; ")}.`,
    ...earlier,
    own.length > 0
      ? `Your call changes ${formatPaths(own)} too. Read the record again (its version is now ${currentVersion}), check with your human that the change is still wanted, then call with that version.`
      : `Your call changes none of these. If it is still wanted, call with version ${currentVersion}.`,
  ].join(" ");
}

/** Reads the latest changes of the record that a call changes, newest first. */
async function readChanges(
  session: ToolSession,
  call: UpstreamCall,
  record: unknown,
  count: number,
): Promise<readonly Change[]> {
  const { operation, input } = call;
  const { audit, params } = operations[operation];
  const variables = Object.keys(params.shape);
  const id = input[record === "target" ? "targetPersonId" : (variables.at(-1) ?? "")];
  const narrowing = ["submissionId", "programId"].filter((name) => variables.includes(name)).slice(0, 1);
  const query = {
    entityType: audit.split(".")[0],
    ...Object.fromEntries(narrowing.map((name) => [name, input[name]])),
    limit: maxEntries,
  };
  const answer = await readAsCaller(session, call, "list_audit_entries", query);
  if (!answer.ok) return [];
  const entries = answer.data as readonly AuditEntry[];
  return entries.filter(({ entityId, status }) => entityId === id && status === null).slice(0, count);
}

function describeChange({ changes, occurredAt, ...change }: Change, caller: string): string {
  const paths = formatPaths(changes.map(({ path }) => path)) || "nothing visible";
  return `${paths} changed by ${describeActor(change, caller)} at ${occurredAt}`;
}

function describeActor(
  { actorType, actorId, actorName, tokenId }: Omit<Change, "changes" | "occurredAt">,
  caller: string,
) {
  const id = actorType === "token" ? (tokenId ?? actorId) : actorId;
  if (id === caller) return "this token itself";
  return actorName ? `${actorType} “${toPlainLine(actorName)}” (${id})` : `${actorType} ${id}`;
}

/** Lists the paths of the record's fields that a call changes. */
function listChangedPaths({ operation, input }: UpstreamCall): string[] {
  const { params, changes = [] } = operations[operation];
  const isField = (name: string) => !Object.hasOwn(params.shape, name) && !/^(reason|version|\w+Version)$/.test(name);
  const given = Object.entries(input)
    .filter(([name]) => isField(name))
    .flatMap(([name, value]) => (isObject(value) ? Object.keys(value).map((key) => `${name}.${key}`) : [name]));
  return [...new Set([...given, ...changes, ...(operation.startsWith("update_") ? [] : ["state", "status"])])];
}

function overlaps(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`) || other.startsWith(`${path}.`);
}
