import { mayHoldDisguisedAddress, replaceAddresses } from "../../lib/addresses.ts";
import { mapProperties } from "../../lib/collections/map-properties.ts";
import { isAsciiJson, toJsonText } from "../../lib/json-cache.ts";
import { mayHoldPhoneNumber, replacePhoneNumbers } from "../../lib/phone-numbers.ts";
import {
  createInvalidHandleProblem,
  getHandleKind,
  isAddressHandle,
  isHandleAt,
  type Pseudonymizer,
} from "./pseudonyms.ts";
import { mapTexts, sanitizeText, type TextChange } from "./sanitize-text.ts";

/** Names of properties that hold ids of records and of actors. Some ids consist of digits only. */
const ids = /(?:^id|Ids?|By)$/;

/**
 * Creates the change that agents' texts undergo: invisible characters are removed, and addresses and telephone numbers
 * become handles.
 */
export function createContactHider(handles: Pseudonymizer): TextChange {
  return (text, name = "") => {
    const shown = hideAddresses(sanitizeText(text), handles);
    return ids.test(name) ? shown : hidePhoneNumbers(shown, handles);
  };
}

function hideAddresses(text: string, handles: Pseudonymizer): string {
  return replaceAddresses(text, (found, written) =>
    isAddressHandle(found) ? written : handles.pseudonymize("email", found),
  );
}

function hidePhoneNumbers(text: string, handles: Pseudonymizer): string {
  return mayHoldPhoneNumber(text) ? replacePhoneNumbers(text, (found) => handles.pseudonymize("phone", found)) : text;
}

/**
 * Returns whether the texts of a JSON value need no change: visible characters and line ends only, no addresses except
 * handles, nothing like a telephone number. Most values qualify, and one scan costs less than visiting each text.
 */
export function isPlain(value: unknown): boolean {
  const json = toJsonText(value);
  if (json.includes("\\") && /\\[bftu]/.test(json)) return false;
  if ((!isAsciiJson(value) || json.includes("\u007f")) && sanitizeText(json) !== json) return false;
  if (mayHoldPhoneNumber(json)) return false;
  for (let at = json.indexOf("@"); at >= 0; at = json.indexOf("@", at + 1)) if (!isHandleAt(json, at)) return false;
  return !mayHoldDisguisedAddress(json);
}

/** Names of properties whose values are telephone numbers in any form. */
const phones = /(?:phone|mobile|telefon|fax)|(?:^|[_-])(?:tel|cell|mob)(?:$|[_-])/i;

/** Replaces telephone numbers in a free value by handles. Addresses in it are hidden as in all texts. */
export function hidePhonesIn(value: unknown, handles: Pseudonymizer, name = ""): unknown {
  if (typeof value === "string" || typeof value === "number") {
    const text = String(value);
    if (phones.test(name) && /\p{Nd}{3}/u.test(text.replace(/\P{Nd}/gu, "")) && getHandleKind(text) === undefined) {
      return handles.pseudonymize("phone", text);
    }
    return typeof value === "string" ? hidePhoneNumbers(value, handles) : value;
  }
  if (Array.isArray(value)) return value.map((item) => hidePhonesIn(item, handles, name));
  if (typeof value !== "object" || value === null) return value;
  return mapProperties(
    value as Readonly<Record<string, unknown>>,
    (inner, key) => hidePhonesIn(inner, handles, key),
    (key) => hidePhoneNumbers(key, handles),
  );
}

/**
 * Resolves handles in a free value where a handle is the whole text. The resolved value is hidden again when it is
 * read, because it has the form of an address or number.
 * @throws Problem `invalid_handle` for one that is forged, or whose value would be shown from then on
 */
export function resolveHandlesIn(value: unknown, handles: Pseudonymizer, path: string): unknown {
  const hide = createContactHider(handles);
  return mapTexts(value, (text) => {
    const kind = getHandleKind(text);
    if (kind === undefined) return text;
    const opened = handles.resolve(kind, text, path);
    if (hide(opened) !== handles.pseudonymize(kind, opened))
      throw createInvalidHandleProblem(path, "Here it would be shown: leave this value out");
    return opened;
  });
}
