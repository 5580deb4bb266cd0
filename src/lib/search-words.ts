import { replaceAddresses } from "./addresses.ts";
import { replacePhoneNumbers } from "./phone-numbers.ts";

/** Splits a search into its words, each of which must occur. */
export function splitSearch(search: string): string[] {
  return search.split(/\s+/u).filter((word) => word !== "");
}

/**
 * Returns whether each word of a search occurs in one of the texts, in upper or lower case, after addresses and
 * telephone numbers are hidden. A search therefore reveals nothing hidden.
 */
export function matchesShown(search: string, texts: readonly (string | null | undefined)[]): boolean {
  const shown = texts.map((text) => removeContacts(text ?? "").toLowerCase());
  return splitSearch(search.toLowerCase()).every((word) => shown.some((text) => text.includes(word)));
}

/** Returns a text with spaces in place of addresses and telephone numbers. */
export function removeContacts(text: string): string {
  return replacePhoneNumbers(replaceAddresses(text, blankMatch), blankMatch);
}

/** Search words contain no spaces, so none matches across a hidden part. */
const blankMatch = () => " ";
