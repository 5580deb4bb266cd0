import type { LongText } from "../../contract/access/approvals.ts";
import type { DryRunResult } from "../../upstream/port.ts";
import { sanitizeText } from "../../upstream/privacy/sanitize-text.ts";

/** Most lines of one kind in a question; further ones are counted. */
export const maxLines = 12;
const maxTitleChars = 80;

/** Most characters of a message or a reason. */
export const maxTextChars = 500;

/** Quotes text written by others: on one line, short, and between quotation marks that it cannot close. */
export function quoteUntrusted(value: unknown, maxChars = maxTitleChars): string {
  const text = String(value ?? "")
    .replace(/\s+/g, " ")
    .replaceAll("“", "'")
    .replaceAll("”", "'")
    .trim();
  // A truncated text must not end with half of a surrogate pair.
  return `“${text.length > maxChars ? `${text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "")}…` : text}”`;
}

export type TitledText = Omit<LongText, "position">;

/** Returns a text with its title if a question shows only its beginning. */
export function selectLongText(title: string, text: unknown): TitledText[] {
  return typeof text === "string" && text.length > maxTextChars ? [{ title, text: sanitizeText(text) }] : [];
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function shortenLines(lines: readonly string[]): string[] {
  const rest = lines.length - maxLines;
  return rest > 0 ? [...lines.slice(0, maxLines), `and ${rest} more`] : [...lines];
}

export function formatList(items: readonly string[]): string {
  return shortenLines(items).join(", ");
}

/** Formats the id of a record, with its name if the caller may read that. */
export function formatName({ labels }: DryRunResult, id: unknown): string {
  const label = labels.get(String(id));
  return label ? `${quoteUntrusted(label)} (${id})` : String(id);
}
