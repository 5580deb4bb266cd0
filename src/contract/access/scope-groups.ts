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
export const scopeGroups: readonly ScopeGroup[] = [
  { name: "read", label: "Read", scopes: readScopes },
  { name: "change", label: "Change", scopes: writeScopes.filter((scope) => !ownGroups.includes(scope)) },
  { name: "send", label: "Send e-mail to applicants and reviewers", scopes: ["emails:write"] },
  { name: "export", label: "Export data to files", scopes: ["exports:write"] },
  { name: "sensitive", label: "See sensitive personal data", scopes: [sensitiveScope] },
];

/** Returns the groups with those of their scopes that are in a list, without empty groups. */
export function listScopeGroups(listed: ReadonlySet<string>): readonly ScopeGroup[] {
  return scopeGroups.flatMap((group) => {
    const own = group.scopes.filter((scope) => listed.has(scope));
    return own.length === 0 ? [] : [{ ...group, scopes: own }];
  });
}
