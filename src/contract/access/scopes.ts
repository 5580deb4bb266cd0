/** Read scopes (specification 5.5 and 5.7). */
export const readScopes = [
  "submissions:read",
  "programs:read",
  "tracks:read",
  "rounds:read",
  "reviews:read",
  "feedback:read",
  "supplements:read",
  "audit:read",
  "payments:read",
  "assignments:read",
  "reviewers:read",
  "emails:read",
  "applicants:read",
  "files:read",
  "schemas:read",
  "rubrics:read",
  "exports:read",
  "persons:read",
  "person-fields:read",
] as const;

/** Write scopes (specification 5.6 and 5.7). */
export const writeScopes = [
  "submissions:write",
  "assignments:write",
  "supplements:write",
  "feedback:write",
  "programs:write",
  "tracks:write",
  "rounds:write",
  "reviewers:write",
  "emails:write",
  "exports:write",
  "persons:write",
] as const;

/** Shows contact details, external ids, metadata and pii/restricted custom fields (specification 5.7). */
export const sensitiveScope = "persons:sensitive:read";

/** Every scope except the one that shows sensitive personal data. */
export const ordinaryScopes = [...readScopes, ...writeScopes] as const;

export const scopes = [...ordinaryScopes, sensitiveScope] as const;

export type Scope = (typeof scopes)[number];

/** Returns the scopes without the one that shows sensitive personal data. */
export function excludeSensitiveScopes(granted: Iterable<Scope>): ReadonlySet<Scope> {
  return new Set([...granted].filter((scope) => scope !== sensitiveScope));
}

export function isScope(value: string): value is Scope {
  return (scopes as readonly string[]).includes(value);
}

/**
 * Returns the scopes of which an operation needs at least one, or nothing if the caller has one of them. Inputs may
 * need further scopes (`conditionalScopes`).
 */
export function findMissingScopes(
  { scope, anyOfScopes = [] }: { readonly scope: Scope; readonly anyOfScopes?: readonly Scope[] },
  granted: ReadonlySet<Scope>,
): readonly Scope[] {
  const enough = [scope, ...anyOfScopes];
  return enough.some((each) => granted.has(each)) ? [] : enough;
}
