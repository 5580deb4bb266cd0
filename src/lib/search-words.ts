import { replaceAddresses } from "./addresses.ts";
import { replacePhoneNumbers } from "./phone-numbers.ts";

/** The greatest depth of nested answers. */
const maxDepth = 4;

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

/** Lists the texts in a value, which may be an answer of any form. */
export function listTexts(value: unknown, depth = maxDepth): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth === 0) return [];
  return Object.values(value).flatMap((inner) => listTexts(inner, depth - 1));
}

/** Lists the words of a text, each a series of letters and digits in lower case without accents. */
export function listWords(text: string): string[] {
  return normalizeText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Converts a text to lower case without accents. */
export function normalizeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII needs no normalization, which is slow
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  // Letters of mathematics get their lower case only as the plain letters that they stand for.
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
