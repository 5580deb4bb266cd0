import { describe, expect, test } from "vitest";
import { listTools, openGateway, postMcp, readCalled, toolNames } from "../support/servers/gateway.ts";
import { type IssuedForm, openProductIssuer } from "../support/servers/product-issuer.ts";
import { pageAt } from "./pages.ts";

const page = pageAt("docs/identity-providers.md");

/** The settings and the token of each product, in the order of the page. */
const products = page.text
  .split(/^## /m)
  .filter((section) => section.includes("PROGRAMME_OAUTH_ISSUER="))
  .map((section) => {
    const [name = ""] = section.split("\n");
    const settings = [...section.matchAll(/^export (PROGRAMME_\w+)=(.+)$/gm)].map(([, key = "", value = ""]) => [
      key,
      value,
    ]);
    const [, form = ""] = /```json\n([\s\S]+?)```/.exec(section) ?? [];
    return { name, settings: Object.fromEntries(settings) as Record<string, string>, form };
  });

/** Opens the server with the settings of the page, in front of an issuer like the product on this machine. */
async function openGuided({ settings, form }: (typeof products)[number], claims: Record<string, unknown> = {}) {
  const documented = settings["PROGRAMME_OAUTH_ISSUER"] ?? "";
  const { pathname } = new URL(documented);
  const issuer = await openProductIssuer(pathname, ["programs:read", "rounds:read"], (address) => {
    const parsed = JSON.parse(form.replaceAll(documented, address)) as IssuedForm;
    return { ...parsed, claims: { ...parsed.claims, ...claims } };
  });
  const { PROGRAMME_GATEWAY_KEYS: _, ...others } = settings;
  const gateway = await openGateway("embedded", { ...others, PROGRAMME_OAUTH_ISSUER: issuer.address });
  const { sub } = (JSON.parse(form) as IssuedForm).claims;
  await gateway.admit({ name: "anna", subject: sub, tokenFile: await gateway.keep(await gateway.server.token()) });
  return { ...gateway, issuer };
}

const readStatus = async (server: { origin: string }, token: string) =>
  (await postMcp(server, token, listTools)).status;

test("an issuer like Entra ID gets the scopes with the application ID URI before them", async () => {
  const { server } = await openGuided(products.find(({ name }) => name === "Entra ID") as (typeof products)[number]);
  const answer = await fetch(`${server.origin}/.well-known/oauth-protected-resource`);
  const { scopes_supported } = (await answer.json()) as { scopes_supported: string[] };
  expect(scopes_supported).toContain("https://calls.example.org/mcp/programs:read");
});

test("the guide has settings and a token for three products", () => {
  expect(products.map(({ name }) => name)).toEqual(["Keycloak", "Entra ID", "Auth0"]);
});

describe.for(products)("an issuer like $name, with the settings of the guide", (product) => {
  test("lets a person call the tools of the token's scopes, and no others", async () => {
    const { server, issuer } = await openGuided(product);
    await server.seed.program({ name: "Seen by Anna" });
    const { accessToken } = await issuer.issue(["programs:read"]);
    const names = await toolNames(server, accessToken);
    expect(names).toContain("list_programs");
    expect(names).not.toContain("update_program");
    expect(JSON.stringify(await readCalled(server, accessToken, "list_programs", {}))).toContain("Seen by Anna");
    const refused = await postMcp(server, accessToken, {
      ...listTools,
      method: "tools/call",
      params: { name: "list_rounds", arguments: { programId: "prg_1" } },
    });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      403,
      expect.stringContaining("rounds:read"),
    ]);
    const wider = (await issuer.issue(["programs:read", "rounds:read"])).accessToken;
    expect(await toolNames(server, wider)).toContain("list_rounds");
  });

  test("does not let in an ID token, nor a token of another audience, issuer or person", async () => {
    const { server, issuer } = await openGuided(product);
    expect(await readStatus(server, (await issuer.issue(["programs:read"])).idToken)).toBe(401);
    const others = [
      [{ aud: "https://other.example.org/mcp" }, 401],
      [{ iss: "https://other.example.org/" }, 401],
      [{ sub: "other" }, 403],
    ] as const;
    for (const [claims, status] of others) {
      const other = await openGuided(product, claims);
      const { accessToken } = await other.issuer.issue(["programs:read"]);
      expect([claims, await readStatus(other.server, accessToken)]).toEqual([claims, status]);
    }
  });
});
