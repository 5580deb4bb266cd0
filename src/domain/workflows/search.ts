import { replaceAddresses } from "../../lib/addresses.ts";
import { listWords, normalizeText, removeContacts } from "../../lib/search-words.ts";

/** The conditions of a search. A record must match all of them. */
export interface SearchQuery {
  readonly words: readonly string[];
  /** Addresses in lower case. They match the whole address of a record only. */
  readonly addresses: readonly string[];
}

/** A text of a record. */
export interface SearchText {
  readonly field: string;
  readonly text: string;
  /** The weight of a word here: more in a title than in an answer. */
  readonly weight: number;
  /** Part of the text is shown where the words are. */
  readonly isLong?: boolean;
}

export interface SearchMatch {
  readonly score: number;
  /** Fields with a match, in the order of the texts. */
  readonly matched: readonly string[];
  readonly excerpt?: string;
}

const maxExcerptChars = 100;

/** Splits what a caller wrote into words and addresses. */
export function parseSearch(text: string): SearchQuery {
  const addresses = new Set<string>();
  const rest = replaceAddresses(text, (address) => {
    addresses.add(address.toLowerCase());
    return " ";
  });
  return { words: [...new Set(listWords(rest))], addresses: [...addresses] };
}

/** Returns a function that matches a record's texts and address, and returns `undefined` for a record without a match. */
export function createMatcher({ words, addresses }: SearchQuery) {
  const patterns = words.map((word) => ({ word, pattern: new RegExp(`(?<![\\p{L}\\p{N}])${word}`, "u") }));
  return (texts: readonly SearchText[], address?: { readonly field: string; readonly value: string | undefined }) => {
    if (addresses.some((wanted) => wanted !== address?.value?.toLowerCase())) return undefined;
    const found = new Set(addresses.length > 0 && address ? [address.field] : []);
    if (words.length === 0) return { score: 1, matched: [...found] };
    // Removing contact details costs more than finding out that a word is missing.
    const folded = texts.map(({ text }) => normalizeText(text));
    if (!words.every((word) => folded.some((text) => text.includes(word)))) return undefined;
    return matchShown(patterns, texts, found);
  };
}

interface WordPattern {
  readonly word: string;
  readonly pattern: RegExp;
}

/** Matches texts without contact details, so that a search reveals nothing hidden. */
function matchShown(
  patterns: readonly WordPattern[],
  texts: readonly SearchText[],
  found: Set<string>,
): SearchMatch | undefined {
  const shown = texts.map(({ text, ...rest }) => ({ ...rest, text: removeContacts(text) }));
  const folded = shown.map(({ text }) => normalizeText(text));
  let score = 0;
  let excerpt: string | undefined;
  for (const { word, pattern } of patterns) {
    let best = 0;
    for (const [index, { field, text, weight, isLong }] of shown.entries()) {
      const foldedText = folded[index] ?? "";
      const at = pattern.exec(foldedText)?.index;
      if (at === undefined) continue;
      const isWhole = !/^[\p{L}\p{N}]/u.test(foldedText.slice(at + word.length));
      best = Math.max(best, weight * (isWhole ? 2 : 1));
      found.add(field);
      // Folding can change the length of a text, so the excerpt may begin a little beside the word.
      if (isLong) excerpt ??= cutExcerpt(text, at);
    }
    if (best === 0) return undefined;
    score += best;
  }
  const matched = texts.map(({ field }) => field).filter((field) => found.delete(field));
  return { score, matched: [...found, ...matched], ...(excerpt === undefined ? {} : { excerpt }) };
}

function cutExcerpt(text: string, at: number): string {
  const start = Math.max(0, text.lastIndexOf(" ", Math.max(0, at - maxExcerptChars / 3)));
  const end = start + maxExcerptChars;
  const cut = text.slice(start, end).replace(/\s+/gu, " ").trim();
  return `${start > 0 ? "…" : ""}${cut}${end < text.length ? "…" : ""}`;
}
