import { readScopes, type Scope, sensitiveScope, writeScopes } from "./scopes.ts";

/** Scopes that a person grants together. */
export interface ScopeGroup {
  readonly name: "read" | "change" | "send" | "export" | "sensitive";
  readonly label: string;
  readonly scopes: readonly Scope[];
}

/** Writes that reach people outside, or take data out in bulk, are granted on their own. */
const ownGroups: readonly Scope[] = ["emails:write", "exports:write"];

/** Scopes by what they allow, in the order of their risk. Each scope is in one group. */
const scopeGroups: readonly ScopeGroup[] = [
  { name: "read", label: "Read", scopes: readScopes },
  { name: "change", label: "Change", scopes: writeScopes.filter((scope) => !ownGroups.includes(scope)) },
  { name: "send", label: "Send e-mail to applicants and reviewers", scopes: ["emails:write"] },
  { name: "export", label: "Export data to files", scopes: ["exports:write"] },
  { name: "sensitive", label: "See sensitive personal data", scopes: [sensitiveScope] },
];

/**
 * Returns the scopes that a form grants: those that it names, and all of the groups that it names. If it names some
 * scopes of a group, these alone.
 */
export function selectScopes(groups: readonly string[], named: readonly string[]): readonly Scope[] {
  return scopeGroups.flatMap(({ name, scopes }) => {
    const single = scopes.filter((scope) => named.includes(scope));
    if (single.length > 0) return single;
    return groups.includes(name) ? scopes : [];
  });
}

/** Returns the groups with those of their scopes that are in a list, without empty groups. */
export function listScopeGroups(listed: ReadonlySet<string>): readonly ScopeGroup[] {
  return scopeGroups.flatMap((group) => {
    const own = group.scopes.filter((scope) => listed.has(scope));
    return own.length === 0 ? [] : [{ ...group, scopes: own }];
  });
}
