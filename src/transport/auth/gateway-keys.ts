import { dirname, resolve } from "node:path";
import { GatewayEntries, type GatewayEntry } from "../../contract/access/gateway-keys.ts";
import type { Scope } from "../../contract/access/scopes.ts";
import { tokenPattern } from "../../contract/access/token-format.ts";
import type { Clock } from "../../lib/clock.ts";
import { equalsInConstantTime, hashSha256Hex } from "../../lib/crypto/crypto.ts";
import type { Log } from "../../lib/log.ts";
import { readFileState, readPrivateFile } from "../../lib/private-file.ts";

/** A caller that the operator has admitted, with the product token that its calls use. */
export interface KeyHolder {
  readonly name: string;
  readonly token: string;
  /** Limits the token's scopes; undefined for all of them. */
  readonly scopes: ReadonlySet<Scope> | undefined;
}

/** The callers that a file names. A change to the file, or to a file with a product token, applies within a second. */
export interface GatewayKeys {
  /** Returns the holder of a key, or undefined if it is unknown or has expired. */
  holderOf(key: string): KeyHolder | undefined;
  /** Returns the holder that an entry names for a subject of the issuer, or undefined if there is none or it has expired. */
  subject(name: string): KeyHolder | undefined;
  /** Returns the holders of all entries, also of expired ones. */
  holders(): readonly (KeyHolder & { readonly expiresAt: string | undefined })[];
  /** True if any entry names a subject: then other subjects are refused. */
  readonly namesSubjects: boolean;
  /** Reads the file again at once. */
  reload(): void;
}

export interface GatewayKeysOptions {
  readonly file: string;
  /** The variables that entries name as `tokenVariable`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The product token of entries that name none. */
  readonly token: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export const maxFileBytes = 8 * 1024 * 1024;
const maxTokenBytes = 1_000;
const checkMs = 1_000;

interface Held {
  readonly entry: GatewayEntry;
  readonly holder: KeyHolder;
}

/** The last valid content of the file. */
interface Read {
  readonly bySha256: ReadonlyMap<string, Held>;
  readonly bySubject: ReadonlyMap<string, Held>;
  /** The files that were read, each with its state at that time. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Reads the file of gateway keys. If the file later becomes invalid or is removed, the keys stay as they were, and a log
 * line reports it.
 * @throws Error that says what is wrong with the file, without its content
 */
export function openGatewayKeys(options: GatewayKeysOptions): GatewayKeys {
  const { clock, log } = options;
  let read = readKeys(options);
  let checkedAtMs = performance.now();
  /** The reason why the current files cannot be used. */
  let fault: string | undefined;

  function reloadKeys(): void {
    try {
      read = readKeys(options);
      fault = undefined;
      log.info({ keys: read.bySha256.size, subjects: read.bySubject.size }, "The gateway keys were read again");
    } catch (error) {
      const { message } = error as Error;
      if (message !== fault) log.error({ fault: message }, "The gateway keys stay as they were: they cannot be read");
      fault = message;
    }
  }

  function getCurrent(): Read {
    if (performance.now() - checkedAtMs >= checkMs) {
      checkedAtMs = performance.now();
      if (fault !== undefined || isStale(read)) reloadKeys();
    }
    return read;
  }

  const findLive = (held: Held | undefined): KeyHolder | undefined => {
    const { expiresAt } = held?.entry ?? {};
    return expiresAt !== undefined && Date.parse(expiresAt) <= clock.now().getTime() ? undefined : held?.holder;
  };

  return {
    holderOf(key) {
      const sha256 = hashSha256Hex(key);
      const held = getCurrent().bySha256.get(sha256);
      return held && equalsInConstantTime(held.entry.sha256 ?? "", sha256) ? findLive(held) : undefined;
    },
    subject: (name) => findLive(getCurrent().bySubject.get(name)),
    holders() {
      const { bySha256, bySubject } = getCurrent();
      const held = new Set([...bySha256.values(), ...bySubject.values()]);
      return [...held].map(({ entry, holder }) => ({ ...holder, expiresAt: entry.expiresAt }));
    },
    get namesSubjects() {
      return getCurrent().bySubject.size > 0;
    },
    reload: reloadKeys,
  };
}

function isStale({ files }: Read): boolean {
  return [...files].some(([path, state]) => readFileState(path) !== state);
}

function readKeys({ file, env, token }: GatewayKeysOptions): Read {
  const files = new Map<string, string>();
  const readText = (path: string, maxBytes: number) => {
    // Taken before the content is read, so that a change in between is noticed the next time.
    files.set(path, readFileState(path));
    return readPrivateFile(path, maxBytes);
  };
  const held = parseEntries(file, readText(file, maxFileBytes)).map((entry): Held => {
    const { name, tokenFile, tokenVariable, scopes } = entry;
    const named = tokenVariable === undefined ? token : env[tokenVariable];
    const found = tokenFile === undefined ? named : readText(resolve(dirname(file), tokenFile), maxTokenBytes);
    if (!tokenPattern.test(found?.trim() ?? "")) {
      throw new Error(`${file}: ${name}: ${describeSource(entry)} holds no access token: 64 hexadecimal digits`);
    }
    return { entry, holder: { name, token: String(found).trim(), scopes: scopes && new Set(scopes) } };
  });
  return { bySha256: indexByField(held, "sha256"), bySubject: indexByField(held, "subject"), files };
}

function parseEntries(file: string, text: string): readonly GatewayEntry[] {
  const result = GatewayEntries.safeParse(parseJson(file, text));
  if (result.success) return result.data;
  // Without the value, which may be a secret in the wrong place.
  const [issue] = result.error.issues;
  throw new Error(`${file}: ${issue?.path.join(".") || "the list"}: ${issue?.message}`);
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of the parser contains some of the text.
    throw new Error(`${file} is not valid JSON`);
  }
}

function describeSource({ tokenVariable, tokenFile }: GatewayEntry): string {
  return (
    tokenFile ?? tokenVariable ?? "PROGRAMME_TOKEN, which stands in where an entry names no tokenVariable or tokenFile,"
  );
}

function indexByField(held: readonly Held[], field: "sha256" | "subject"): ReadonlyMap<string, Held> {
  return new Map(held.flatMap((each) => (each.entry[field] === undefined ? [] : [[each.entry[field], each]])));
}
