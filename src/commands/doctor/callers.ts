import type { App } from "../../app/app.ts";
import { connectCallers } from "../../app/callers.ts";
import type { Config } from "../../config/load.ts";
import { UsageError } from "../../config/usage-error.ts";
import { createScopeProbe } from "../../contract/definition/scope-probe.ts";
import { Problem } from "../../contract/errors.ts";
import { systemClock } from "../../lib/clock.ts";
import { createId } from "../../lib/ids.ts";
import {
  createAnsweredPass,
  createFailure,
  createPass,
  createSkip,
  createWarning,
  type DoctorCheck,
  formatSentence,
} from "./check.ts";

/** Checks the credentials that callers of MCP over HTTP use instead of access tokens. */
export async function checkCallers(app: App, config: Config, databaseKept: boolean): Promise<DoctorCheck[]> {
  const keys = config.gatewayKeys === undefined ? [] : await checkKeys(app, config, databaseKept);
  const issuer = config.oauth ? [await checkIssuer(app, config)] : [];
  return [...keys, ...issuer];
}

const keysName = "gateway keys";
/** Most entries share a token, and if the service knows these it will know the rest. */
const maxTokensTried = 20;

async function checkKeys(app: App, config: Config, databaseKept: boolean): Promise<DoctorCheck[]> {
  let holders: Holders;
  try {
    const { keys } = connectCallers({ ...config, oauth: undefined }, app.upstream, { ...app, clock: systemClock });
    holders = keys?.holders() ?? [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [
      createFailure(
        keysName,
        error.message,
        "Correct the file; programme-mcp gateway-key create prints entries for it.",
      ),
    ];
  }
  if (holders.length === 0) {
    const fix = "Make a key with: programme-mcp gateway-key create --name NAME";
    return [createWarning(keysName, `${config.gatewayKeys} names nobody: nobody is let in.`, fix)];
  }
  return [checkExpiry(holders), ...(await checkTokens(app, config, holders, databaseKept))];
}

type Holders = ReturnType<NonNullable<ReturnType<typeof connectCallers>["keys"]>["holders"]>;

function checkExpiry(holders: Holders): DoctorCheck {
  const nowMs = Date.now();
  const expired = holders.filter(({ expiresAt }) => expiresAt !== undefined && Date.parse(expiresAt) <= nowMs);
  const found = `The file can be read and names ${formatCount(holders.length, "caller")}.`;
  if (expired.length === 0) return createPass(keysName, found);
  const fix = "Make new keys for them, or remove their entries from the file.";
  return createWarning(keysName, `${found} The keys of ${formatNames(expired)} have expired.`, fix);
}

/** Checks the access tokens behind the keys, each once. */
async function checkTokens(app: App, config: Config, holders: Holders, databaseKept: boolean): Promise<DoctorCheck[]> {
  const name = "tokens of keys";
  if (config.baseUrl === undefined && !databaseKept)
    return [createSkip(name, "The database that would know them does not exist yet.")];
  const byToken = Map.groupBy(holders, ({ token }) => token);
  const checks: DoctorCheck[] = [];
  for (const [token, named] of [...byToken].slice(0, maxTokensTried)) {
    const { operation, input } = createScopeProbe("programs:read");
    const answer = await app.upstream.call({ operation, input, token, requestId: createId("req") });
    if (answer.ok || answer.problem.code === "insufficient_scope") continue;
    const found = `The calls of ${formatNames(named)} are refused. ${formatSentence(answer.problem)}`;
    checks.push(createFailure(name, found, "Give these entries an access token that the service knows."));
  }
  if (checks.length > 0) return checks;
  const tried = Math.min(byToken.size, maxTokensTried);
  const left = byToken.size > tried ? ` ${byToken.size - tried} more were not tried.` : "";
  return [
    createAnsweredPass(name, `The service knows ${formatCount(tried, "access token")} that the keys stand for.${left}`),
  ];
}

async function checkIssuer(app: App, config: Config): Promise<DoctorCheck> {
  const name = "OAuth issuer";
  const { issuer } = connectCallers({ ...config, gatewayKeys: undefined }, app.upstream, {
    ...app,
    clock: systemClock,
  });
  const address = config.oauth?.issuer ?? "";
  try {
    const { jwksUri, keys = 0 } = (await issuer?.probe()) ?? { jwksUri: "" };
    const fix = "Let the issuer publish the keys that it signs with.";
    if (keys === 0) return createFailure(name, `${address} publishes no keys at ${jwksUri}.`, fix);
    return createPass(name, `${address} publishes ${formatCount(keys, "key")} at ${jwksUri}.`);
  } catch (error) {
    const cause = error instanceof Problem ? new Error(String(error.details?.["cause"] ?? error.message)) : error;
    const fix = "Check PROGRAMME_OAUTH_ISSUER and PROGRAMME_OAUTH_JWKS_URI, and whether this machine reaches them.";
    return createFailure(name, `The keys of ${address} cannot be fetched. ${formatSentence(cause)}`, fix);
  } finally {
    await issuer?.close();
  }
}

const maxNames = 5;

function formatNames(holders: Holders): string {
  const names = holders.slice(0, maxNames).map(({ name }) => name);
  const left = holders.length - names.length;
  return `${names.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
