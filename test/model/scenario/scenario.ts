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
  const tenants = await Promise.all(servers.map((each, index) => createTenant(each, index === 0)));
  const reads = [
    "submissions:read",
    "supplements:read",
    "assignments:read",
    "programs:read",
    "tracks:read",
    "rounds:read",
    "persons:read",
    "reviewers:read",
    "emails:read",
    "payments:read",
    "files:read",
    "schemas:read",
    "rubrics:read",
    "exports:read",
  ] as const;
  const tokens = servers.map(async (each) => [
    await each.token(),
    await each.token([
      ...reads,
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
    ]),
    await each.token([...reads, "feedback:read"]),
    await each.token(),
  ]);
  return { servers, tenants, origins, tokens: await Promise.all(tokens) };
}
