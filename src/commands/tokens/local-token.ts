import { readFile, writeFile } from "node:fs/promises";
import { issueToken } from "../../app/access/issue-token.ts";
import type { App } from "../../app/app.ts";
import { loadFirstBusiness } from "../../app/first-business.ts";
import type { Config } from "../../config/load.ts";
import { ordinaryScopes } from "../../contract/access/scopes.ts";
import { tokenPattern } from "../../contract/access/token-format.ts";

/** Issues a token for this process only. It is never shown. */
export async function issueProcessToken(app: App): Promise<{ token: string; revoke(): Promise<void> }> {
  const businessId = await loadFirstBusiness(app.store);
  const issued = await issueToken(app.store, {
    businessId,
    name: "local process",
    scopes: ordinaryScopes,
    expiresAt: null,
  });
  return {
    token: issued.token,
    revoke: async () => void (await app.store.revokeToken(issued.tokenId, new Date().toISOString())),
  };
}

/**
 * Loads the local token, with which pasted client settings keep working across restarts. Creates it on first use, in a
 * file beside the database that only its owner can read.
 */
export async function loadLocalToken(app: App, { filesBeside }: Config): Promise<string> {
  const file = filesBeside === undefined ? undefined : `${filesBeside}.token`;
  const stored = file === undefined ? undefined : await readToken(file);
  if (stored !== undefined && (await isValid(app, stored))) return stored;
  const businessId = await loadFirstBusiness(app.store);
  const { token } = await issueToken(app.store, { businessId, name: "local", scopes: ordinaryScopes, expiresAt: null });
  if (file !== undefined) await writeFile(file, `${token}\n`, { mode: 0o600 });
  return token;
}

async function readToken(file: string): Promise<string | undefined> {
  try {
    const text = (await readFile(file, "utf8")).trim();
    return tokenPattern.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

async function isValid(app: App, token: string): Promise<boolean> {
  return app.pipeline.identify(token).then(
    () => true,
    () => false,
  );
}
