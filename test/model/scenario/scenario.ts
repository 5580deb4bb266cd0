import { issueToken } from "../../../src/app/access/issue-token.ts";
import { scopes } from "../../../src/contract/access/scopes.ts";
import type { TestServer } from "../../support/servers/test-server.ts";
import type { ModelTenant } from "../tenant.ts";
import { createTenant } from "./tenant-records.ts";

/** Two tenants with four tokens each, and the processes that serve them. */
export interface Scenario {
  readonly servers: readonly TestServer[];
  readonly tokens: readonly (readonly string[])[];
  readonly origins: readonly string[];
  readonly tenants: ModelTenant[];
}

/** Creates two tenants, one of which screens submissions and limits the work of reviewers. */
export async function createScenario(server: TestServer, origins: readonly string[]): Promise<Scenario> {
  const servers = [await server.other(), await server.other()];
  const issued = await Promise.all(servers.map(issueTokens));
  const tenants = await Promise.all(servers.map((each, index) => createTenant(each, index === 0, issued[index] ?? [])));
  return { servers, tenants, origins, tokens: issued.map((tokens) => tokens.map(({ token }) => token)) };
}

/** Creates the four tokens of a tenant. */
async function issueTokens({ app, businessId }: TestServer) {
  const reads = [
    "submissions:read",
    "supplements:read",
    "assignments:read",
    "programs:read",
    "tracks:read",
    "rounds:read",
    "applicants:read",
    "reviewers:read",
    "emails:read",
    "payments:read",
    "files:read",
    "schemas:read",
    "rubrics:read",
    "exports:read",
  ] as const;
  const editor = [
    ...reads,
    "reviews:read",
    "persons:read",
    "submissions:write",
    "supplements:write",
    "assignments:write",
    "programs:write",
    "tracks:write",
    "rounds:write",
    "feedback:write",
    "persons:write",
    "reviewers:write",
    "emails:write",
    "exports:write",
  ] as const;
  const reader = [...reads, "feedback:read", "person-fields:read", "audit:read"] as const;
  const granted = { owner: scopes, editor, reader, lister: scopes };
  const issued = Object.entries(granted).map(async ([name, scopes]) => {
    const { token, tokenId } = await issueToken(app.store, { businessId, name, scopes, expiresAt: null });
    return { token, tokenId, name };
  });
  return Promise.all(issued);
}
