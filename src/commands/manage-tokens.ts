import { type Config, loadConfig } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { withApp } from "./open.ts";
import { note, type Options, print, printJson, textOf } from "./output.ts";
import { formatTable } from "./table.ts";
import { chooseBusiness, issueToken, parseExpiry, parseScopes } from "./tokens.ts";

/**
 * Makes an access token and prints it, the only time.
 * @throws UsageError for options that make no token
 */
export async function createToken({ scopes: wanted, ...options }: Options): Promise<void> {
  // Not the setting of the same name: these are the new token's.
  const scopes = parseScopes(String(wanted));
  const expires = textOf(options, "expires");
  const expiresAt = expires === undefined ? null : parseExpiry(expires, new Date());
  await withApp(loadConfig(process.env, options), async ({ store }) => {
    const businessId = await chooseBusiness(store, textOf(options, "business"));
    const name = String(options["name"]).slice(0, 200);
    const issued = await issueToken(store, { businessId, name, scopes, expiresAt });
    if (options["json"]) return printJson(issued);
    print(`${issued.token}\n`);
    note(`Token ${issued.tokenId} of ${businessId}. It is not shown again.`);
  });
}

/** Prints all tokens of the database, without themselves. */
export async function listTokens(config: Config, options: Options): Promise<void> {
  await withApp(config, async ({ store }) => {
    const tokens = (await store.listTokens()).map(({ sha256: _, ...shown }) => shown);
    if (options["json"]) return printJson(tokens);
    const rows = tokens.map(({ tokenId, businessId, name, prefix, scopes, revokedAt, expiresAt, lastUsedAt }) => [
      tokenId,
      businessId,
      name,
      `${prefix}…`,
      `${scopes.length} scopes`,
      revokedAt ? `revoked ${revokedAt}` : expiresAt ? `expires ${expiresAt}` : "valid",
      lastUsedAt ?? "never used",
    ]);
    print(formatTable([["token", "business", "name", "begins", "scopes", "state", "last used"], ...rows], "header"));
  });
}

/** @throws UsageError for a token that does not exist or is revoked already */
export async function revokeToken(config: Config, tokenId: string, options: Options): Promise<void> {
  await withApp(config, async ({ store }) => {
    const revoked = await store.revokeToken(tokenId, new Date().toISOString());
    if (!revoked) throw new UsageError(`${tokenId} is no token of this database that could be revoked`);
    if (options["json"]) return printJson({ tokenId, status: "revoked" });
    print(`Revoked ${tokenId}.\n`);
  });
}
