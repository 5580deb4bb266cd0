import { type Config, loadConfig } from "../../config/load.ts";
import { UsageError } from "../../config/usage-error.ts";
import type { Token } from "../../contract/access/tokens.ts";
import { Problem } from "../../contract/errors.ts";
import { withApp } from "../open-app.ts";
import { getTextOption, note, type Options, print, printJson } from "../terminal/output.ts";
import { formatColumns } from "../terminal/table.ts";
import { chooseBusiness, parseExpiry, parseScopes } from "./tokens.ts";

/**
 * Creates an access token and prints it once.
 * @throws UsageError for options that do not make a token
 */
export async function createToken({ scopes: wanted, ...options }: Options): Promise<void> {
  // The new token's scopes, not the setting of the same name.
  const scopes = parseScopes(String(wanted));
  const expires = getTextOption(options, "expires");
  const expiresAt = expires === undefined ? null : parseExpiry(expires, new Date());
  await withApp(loadConfig(process.env, options), async ({ store, tokens }) => {
    const businessId = await chooseBusiness(store, getTextOption(options, "business"));
    const name = checkShortName(String(options["name"]));
    const issued = await tokens.create({ businessId, name, scopes, expiresAt });
    if (options["json"]) return printJson(issued);
    print(`${issued.token}\n`);
    note(`Token ${issued.tokenId} of ${businessId}. It is not shown again.`);
  });
}

/** Prints the metadata of all tokens in the database. */
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
    print(formatColumns([["token", "business", "name", "begins", "scopes", "state", "last used"], ...rows], "header"));
  });
}

/**
 * Changes a token's scopes, expiry or name, with effect from its next call.
 * @throws UsageError when nothing would change, or the token does not exist or is revoked
 */
export async function updateToken(tokenId: string, { scopes: wanted, ...options }: Options): Promise<void> {
  const expires = getTextOption(options, "expires");
  const name = getTextOption(options, "name");
  const patch = {
    ...(name === undefined ? {} : { name: checkShortName(name) }),
    ...(wanted === undefined ? {} : { scopes: parseScopes(String(wanted)) }),
    ...(expires === undefined ? {} : { expiresAt: expires === "never" ? null : parseExpiry(expires, new Date()) }),
  };
  if (Object.keys(patch).length === 0) throw new UsageError("Nothing to change: give --scopes, --expires or --name");
  await withApp(loadConfig(process.env, options), async ({ tokens }) => {
    const { sha256: _, ...token } = await reportTokenChange(tokenId, tokens.update(tokenId, patch));
    if (options["json"]) return printJson(token);
    const ends = token.expiresAt === null ? "does not expire" : `expires ${token.expiresAt}`;
    print(`Updated ${tokenId}: ${token.name}, ${ends}, ${token.scopes.join(", ")}.\n`);
  });
}

/**
 * Revokes a token.
 * @throws UsageError when it does not exist or is already revoked
 */
export async function revokeToken(config: Config, tokenId: string, options: Options): Promise<void> {
  await withApp(config, async ({ tokens }) => {
    await reportTokenChange(tokenId, tokens.revoke(tokenId));
    if (options["json"]) return printJson({ tokenId, status: "revoked" });
    print(`Revoked ${tokenId}.\n`);
  });
}

/** @throws UsageError in place of the Problem `not_found` */
function reportTokenChange(tokenId: string, changing: Promise<Token>): Promise<Token> {
  return changing.catch((error: unknown) => {
    if (!(error instanceof Problem) || error.code !== "not_found") throw error;
    throw new UsageError(`${tokenId} is not a token of this database, or it is revoked: token list shows them`);
  });
}

function checkShortName(name: string): string {
  return name.slice(0, 200);
}
