import { findSimilar } from "../lib/did-you-mean.ts";
import { type SettingName, settings, table } from "./table.ts";
import { UsageError } from "./usage-error.ts";

const prefix = "PROGRAMME_";

/** The names that other programs use for the same setting. */
const synonyms: Readonly<Record<string, SettingName>> = {
  API_KEY: "token",
  API_TOKEN: "token",
  ACCESS_TOKEN: "token",
  API_URL: "baseUrl",
  ENDPOINT: "baseUrl",
  SERVER: "baseUrl",
  DB: "database",
  DSN: "database",
  SQLITE: "database",
  POSTGRES: "database",
  HOME: "dataDir",
  ADDRESS: "host",
  BIND: "host",
  LISTEN: "host",
  DEBUG: "logLevel",
  VERBOSE: "logLevel",
  CONFIRMATION: "confirm",
};

/** @throws UsageError naming the first variable of this program that does not exist, and the one that may be meant */
export function refuseUnknownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const known = new Set<string>(settings.map(([, { variable }]) => variable));
  const unknown = Object.keys(env).find((name) => name.startsWith(prefix) && !known.has(name));
  if (unknown === undefined) return;
  const intended = findIntended(unknown.slice(prefix.length));
  const hint = intended === undefined ? "See: programme-mcp http --help" : `Did you mean ${prefix}${intended}?`;
  throw new UsageError(`${unknown} is not a setting. ${hint}`);
}

/** Returns the setting that is spelt almost like this, means the same or shares its words. */
function findIntended(name: string): string | undefined {
  const known = settings.map(([, { variable }]) => variable.slice(prefix.length));
  const synonym = Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
  if (synonym) return table[synonym].variable.slice(prefix.length);
  return findSimilar(name, known) ?? findSharing(name.split("_"), known);
}

/** Returns the first name that has all of the words, or else the longest that these words contain. */
function findSharing(words: readonly string[], known: readonly string[]): string | undefined {
  const isWithin = (some: readonly string[], all: readonly string[]) => some.every((word) => all.includes(word));
  const longestFirst = known.toSorted((one, other) => other.length - one.length);
  return (
    known.find((name) => isWithin(words, name.split("_"))) ??
    longestFirst.find((name) => isWithin(name.split("_"), words))
  );
}
