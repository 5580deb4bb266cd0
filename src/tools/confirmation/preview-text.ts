import type { LongText } from "../../contract/access/approvals.ts";
import type { DryRunResult } from "../../upstream/port.ts";
import { sanitizeText } from "../../upstream/privacy/sanitize-text.ts";

/** Most lines of one kind in a question; further ones are counted. */
const maxLines = 12;
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

/** Collects whole what a question shows in part: its texts and lists are shortened for hosts, not for the page of an approval. */
export class LongTexts {
  readonly all: TitledText[] = [];

  /** Collects a text if a question shows only its beginning. */
  addText(title: string, text: unknown): void {
    if (typeof text === "string" && text.length > maxTextChars) this.#add(title, text);
  }

  /**
   * Returns the first lines and the number of the others.
   * @param whole - the lines before their own lists were shortened
   */
  shortenLines(title: string, lines: readonly string[], whole = lines): string[] {
    if (lines.length > maxLines || whole.some((line, index) => line !== lines[index]))
      this.#add(title, whole.join("\n"));
    return shortenLines(lines);
  }

  formatList(title: string, items: readonly string[]): string {
    return this.shortenLines(title, items).join(", ");
  }

  #add(title: string, text: string): void {
    this.all.push({ title, text: sanitizeText(text) });
  }
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function shortenLines(lines: readonly string[]): string[] {
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
