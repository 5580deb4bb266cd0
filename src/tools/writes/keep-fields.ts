import * as z from "zod";
import { sensitiveScope } from "../../contract/access/scopes.ts";
import { problem } from "../../contract/errors.ts";
import type { Person } from "../../contract/persons.ts";
import { hashSha256Hex } from "../../lib/crypto/crypto.ts";
import type { Failure, Success, UpstreamCall } from "../../upstream/port.ts";
import { getIdentity } from "../../upstream/request-caller.ts";
import { readAsCaller } from "../caller-reads.ts";
import { maxTextChars, quoteUntrusted } from "../confirmation/preview-text.ts";
import type { ToolSession } from "../session.ts";
import type { ResolvedWrite } from "./resolved-write.ts";

const contactFields = ["firstName", "lastName", "phone", "organization", "title", "address"] as const;
const ownFields = ["primaryEmail", "platformUserId"] as const;

/** The standard fields that a merge takes from the source. */
export const Keep = z.array(z.enum([...contactFields, ...ownFields])).min(1);
export type Keep = z.output<typeof Keep>;

/**
 * Resolves the standard fields that a merge takes from the source: an update of the survivor, which follows the merge.
 * Its values cannot change in between, because the merge names the versions of both persons.
 */
export async function resolveKeptFields(
  session: ToolSession,
  call: UpstreamCall,
  keep: Keep,
): Promise<ResolvedWrite | Failure> {
  const { scopes } = await getIdentity(session.upstream, call);
  if (!scopes.has(sensitiveScope)) {
    return { ok: false, problem: problem("insufficient_scope", { requiredScopes: [sensitiveScope] }) };
  }
  const { personId, targetPersonId } = call.input;
  const source = await readAsCaller(session, call, "get_person", { personId });
  if (!source.ok) return source;
  const target = await readAsCaller(session, call, "get_person", { personId: targetPersonId });
  if (!target.ok) return target;
  const [from, to] = [listValues(source.data as Person), listValues(target.data as Person)];
  const lines = [...new Set(keep)].map((name) => {
    if (from[name] === undefined) return `${name}: the source has none, so the survivor's stays`;
    const before = to[name] === undefined ? "empty" : quoteUntrusted(to[name], maxTextChars);
    return from[name] === to[name]
      ? `${name}: equal`
      : `${name} of the survivor: ${before} → ${quoteUntrusted(from[name], maxTextChars)}`;
  });
  const kept = keep.filter((name) => from[name] !== undefined && from[name] !== to[name]);
  const contact = contactFields.filter((name) => kept.includes(name)).map((name) => [name, from[name]]);
  const own = ownFields.filter((name) => kept.includes(name)).map((name) => [name, from[name]]);
  const input = {
    personId: targetPersonId,
    ...Object.fromEntries(own),
    ...(contact.length > 0 ? { contactDetails: Object.fromEntries(contact) } : {}),
  };
  const { operation: _, admission: _admission, ...head } = call;
  // What the update would refuse must be known before the merge, which cannot be undone.
  const refused = await session.upstream.check({
    ...head,
    operation: "update_person",
    input: { ...input, version: 0 },
  });
  if (refused) return refused;
  const given = { ...call.input, keep };
  return { call, given, lines, ...(kept.length > 0 ? { keptFields: { names: kept, input } } : {}) };
}

function listValues({ primaryEmail, platformUserId, contactDetails }: Person): Partial<Record<Keep[number], string>> {
  return { ...contactDetails, primaryEmail, platformUserId } as Partial<Record<Keep[number], string>>;
}

/** Updates the survivor of a merge. If that fails, the notes say what was done and what was not. */
export async function updateKeptFields(
  { upstream }: ToolSession,
  { operation: _, admission: _admission, idempotencyKey, ...head }: UpstreamCall,
  { names, input }: NonNullable<ResolvedWrite["keptFields"]>,
  merged: Success,
): Promise<{ readonly answer: Success; readonly notes: readonly string[] }> {
  const { version } = merged.data as Person;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey: hashSha256Hex(`${idempotencyKey} keep`) };
  const answer = await upstream.call({ ...head, ...key, operation: "update_person", input: { ...input, version } });
  if (answer.ok) return { answer, notes: [`Taken from the source: ${names.join(", ")}.`] };
  const { code, message } = answer.problem;
  const failed = `The persons are merged, but not taken from the source: ${names.join(", ")} (${code}: ${message}). Set them with update_person.`;
  return { answer: merged, notes: [failed] };
}
