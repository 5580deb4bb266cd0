import { sanitizeText } from "../../upstream/privacy/sanitize-text.ts";

/** Look-alikes of the characters that Markdown and HTML are made of: they read the same and mean nothing. */
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
 * Returns text as one line that no host renders as markup or turns into a link: chat windows, editors and terminals
 * each know other marks and link whatever looks like an address, so a backslash before a mark helps in some alone.
 */
export function toPlainLine(text: string): string {
  return (
    sanitizeText(text)
      .replace(/\s+/g, " ")
      .trim()
      .replace(/[<>[\]`*~\\]/g, (character) => lookAlikes[character] ?? character)
      // Underscores within a word, as in ids, emphasise nothing.
      .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "＿")
      .replace(/&(?=#|\w{1,31};)/g, "＆")
      .replaceAll("//", "∕∕")
      .replace(/(?<=[a-z][a-z0-9+.-]{0,31}):(?=\S)/gi, "(:)")
      // Nobody can reach a name below `invalid` (RFC 6761): handles stay as they are.
      .replace(
        /(?<=[\p{L}\p{N}_-])[.。．｡](?=\p{L}{2})(?!(?:(?:[a-z2-7]{1,60}\.){0,2}handle\.)?invalid\b)|(?<=\bwww)\./giu,
        "(.)",
      )
  );
}
