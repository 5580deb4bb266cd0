import { loadFirstBusiness } from "../../app/first-business.ts";
import { UsageError } from "../../config/usage-error.ts";
import { isScope, readScopes, type Scope, scopes } from "../../contract/access/scopes.ts";
import { suggestWord } from "../../lib/did-you-mean.ts";
import type { Store } from "../../store/port.ts";
import { parseDuration, parseTime } from "../terminal/durations.ts";

/**
 * Returns the organisation with an id or name, or the only one.
 * @throws UsageError when it is unknown, or when there are several and none is named
 */
export async function chooseBusiness(store: Store, wanted: string | undefined): Promise<string> {
  const businesses = await store.listBusinesses();
  if (wanted === undefined && businesses.length <= 1) return loadFirstBusiness(store);
  const chosen = businesses.find(({ businessId, name }) => businessId === wanted || name === wanted);
  if (chosen) return chosen.businessId;
  const known = businesses.map(({ businessId, name }) => `${businessId} (${name})`).join(", ");
  const choice = known === "" ? "there is none yet; leave the option out to make the first" : `choose one of ${known}`;
  throw new UsageError(
    wanted === undefined ? `--business is needed: ${choice}` : `--business ${wanted} is unknown: ${choice}`,
  );
}

/**
 * Parses scopes: a comma-separated list, `read` or `all`.
 * @throws UsageError naming the first scope that does not exist
 */
export function parseScopes(text: string): Scope[] {
  if (text === "all") return [...scopes];
  if (text === "read") return [...readScopes];
  return text.split(",").map((entry) => {
    const scope = entry.trim();
    if (isScope(scope)) return scope;
    throw new UsageError(
      `--scopes: ${JSON.stringify(scope)} is not a scope.${suggestWord(scope, scopes)} Choose read, all, or some of ${scopes.join(", ")}.`,
    );
  });
}

/**
 * Parses when a token expires: `30d`, `12h`, a date or an RFC 3339 time.
 * @throws UsageError for anything else, or for a time in the past
 */
export function parseExpiry(text: string, now: Date): string {
  const spanMs = parseDuration(text);
  const timeMs = spanMs === undefined ? parseTime(text) : now.getTime() + spanMs;
  if (timeMs === undefined || timeMs <= now.getTime()) throw createExpiryError(text);
  return new Date(timeMs).toISOString();
}

function createExpiryError(text: string): UsageError {
  return new UsageError(
    `--expires: ${JSON.stringify(text)} must be a time in the future: 30d, 12h, 2027-01-31 or an RFC 3339 time`,
  );
}
