import { sanitizeText } from "../../upstream/privacy/sanitize-text.ts";

/** Replacements that look like the characters of Markdown and HTML markup but have no meaning in it. */
const lookAlikes: Readonly<Record<string, string>> = {
  "<": "‹",
  ">": "›",
  "[": "［",
  "]": "］",
  "`": "'",
  "*": "∗",
  "~": "∼",
  "\\": "＼",
};

/**
 * Returns text as one line that no host renders as markup or as a link. Escaping with backslashes does not suffice:
 * hosts know different markup, and link whatever looks like an address.
 */
export function toPlainLine(text: string): string {
  return (
    sanitizeText(text)
      .replace(/\s+/g, " ")
      .trim()
      .replace(/[<>[\]`*~\\]/g, (character) => lookAlikes[character] ?? character)
      // Underscores within a word, as in ids, are not emphasis.
      .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "＿")
      .replace(/&(?=#|\w{1,31};)/g, "＆")
      .replaceAll("//", "∕∕")
      .replace(/(?<=[a-z][a-z0-9+.-]{0,31}):(?=\S)/gi, "(:)")
      // Names below `invalid` (RFC 6761) cannot be reached, so handles stay as they are.
      .replace(
        /(?<=[\p{L}\p{N}_-])[.。．｡](?=\p{L}{2})(?!(?:(?:[a-z2-7]{1,60}\.){0,2}handle\.)?invalid\b)|(?<=\bwww)\./giu,
        "(.)",
      )
  );
}
