import { UsageError } from "../../config/usage-error.ts";
import { GatewayEntry, gatewayKeyPrefix } from "../../contract/access/gateway-keys.ts";
import { createRandomToken, hashSha256Hex } from "../../lib/crypto/crypto.ts";
import { note, type Options, print, printJson } from "../terminal/output.ts";
import { parseExpiry, parseScopes } from "./tokens.ts";

/**
 * Creates a gateway key and prints it once, with its entry for the file of gateway keys.
 * @throws UsageError for options that do not make an entry
 */
export function createGatewayKey(options: Options): void {
  const { name, tokenVariable, tokenFile, expires } = options;
  const key = `${gatewayKeyPrefix}${createRandomToken()}`;
  const entry = toGatewayEntry({
    name,
    sha256: hashSha256Hex(key),
    tokenVariable,
    tokenFile,
    scopes: parseScopes(String(options["scopes"])),
    expiresAt: typeof expires === "string" ? parseExpiry(expires, new Date()) : undefined,
  });
  if (options["json"]) {
    printJson({ key, entry });
    return;
  }
  print(`${key}\n${JSON.stringify(entry)}\n`);
  note(
    "The key is for its caller and is not shown again. The entry goes into the list in the file of PROGRAMME_GATEWAY_KEYS.",
  );
}

function toGatewayEntry(given: object): GatewayEntry {
  const result = GatewayEntry.safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = String(issue?.path[0] ?? "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(field === "" ? `The entry ${issue?.message}.` : `--${field} must be ${issue?.message}.`);
}
