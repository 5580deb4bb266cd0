import { mayHoldAddress, replaceAddresses } from "../../lib/addresses.ts";
import { isAscii } from "../../lib/json-cache.ts";
import { mayHoldPhoneNumber, replacePhoneNumbers } from "../../lib/phone-numbers.ts";
import {
  createInvalidHandleProblem,
  getHandleKind,
  isAddressHandle,
  isHandleAt,
  type Pseudonymizer,
} from "./pseudonyms.ts";
import { mapTexts, sanitizeText, type TextChange } from "./sanitize-text.ts";

/** Names of properties that hold ids of records and of whoever changed them: some are made of digits alone. */
const ids = /(?:^id|Ids?|By)$/;

/** How texts are shown to agents: without what is invisible, with handles instead of addresses and telephone numbers. */
export function createContactHider(handles: Pseudonymizer): TextChange {
  return (text, name = "") => {
    const shown = hideAddresses(sanitizeText(text), handles);
    return ids.test(name) ? shown : hidePhoneNumbers(shown, handles);
  };
}

function hideAddresses(text: string, handles: Pseudonymizer): string {
  return replaceAddresses(text, (found) => (isAddressHandle(found) ? found : handles.seal("email", found)));
}

function hidePhoneNumbers(text: string, handles: Pseudonymizer): string {
  return mayHoldPhoneNumber(text) ? replacePhoneNumbers(text, (found) => handles.seal("phone", found)) : text;
}

/**
 * Whether JSON text holds nothing that is hidden from agents: visible ASCII alone, however written, no address but
 * handles and nothing like a telephone number. Most is so, and to look through it at once costs less than to go from text
 * to text.
 */
export function isPlain(json: string): boolean {
  if (!isAscii(json) || json.includes("\u007f") || (json.includes("\\") && /\\[bfu]/.test(json))) return false;
  if (mayHoldPhoneNumber(json)) return false;
  if (!mayHoldAddress(json)) return true;
  for (let at = json.indexOf("@"); at >= 0; at = json.indexOf("@", at + 1)) if (!isHandleAt(json, at)) return false;
  return !mayHoldAddress(json.replaceAll("@", ""));
}

/** Names of properties whose values are telephone numbers whatever form they have. */
const phones = /(?:phone|mobile|telefon|fax)|(?:^|[_-])(?:tel|cell|mob)(?:$|[_-])/i;

/** A value of anybody's choosing with handles instead of telephone numbers; addresses in it are hidden as in all texts. */
export function hidePhonesIn(value: unknown, handles: Pseudonymizer, name = ""): unknown {
  if (typeof value === "string" || typeof value === "number") {
    const text = String(value);
    if (phones.test(name) && /\p{Nd}{3}/u.test(text.replace(/\P{Nd}/gu, "")) && getHandleKind(text) === undefined) {
      return handles.seal("phone", text);
    }
    return typeof value === "string" ? hidePhoneNumbers(value, handles) : value;
  }
  if (Array.isArray(value)) return value.map((item) => hidePhonesIn(item, handles, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [hidePhoneNumbers(key, handles), hidePhonesIn(inner, handles, key)]),
  );
}

/**
 * A value of anybody's choosing with handles opened that are the whole of a text: what they stand for is hidden again
 * wherever it is read, for it has the form of what is hidden.
 * @throws Problem `invalid_handle` for one that is forged, or of something that would be shown from then on
 */
export function openHandlesIn(value: unknown, handles: Pseudonymizer, path: string): unknown {
  const hide = createContactHider(handles);
  return mapTexts(value, (text) => {
    const kind = getHandleKind(text);
    if (kind === undefined) return text;
    const opened = handles.open(kind, text, path);
    if (hide(opened) !== handles.seal(kind, opened))
      throw createInvalidHandleProblem(path, "Here it would be shown: leave this value out");
    return opened;
  });
}
