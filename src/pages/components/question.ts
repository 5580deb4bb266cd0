import { html } from "hono/html";
import { lostReviews, questionMarks } from "../../contract/definition/confirmation.ts";

/** The part of a question that is about one call. */
export interface QuestionPart {
  /** The question, or the tool of a batch's call. */
  readonly heading: string;
  readonly lines: readonly string[];
}

/** A call of a batch. */
export interface QuestionCall extends QuestionPart {
  readonly position: number;
  /** Shown after its lines. */
  readonly ending?: unknown;
}

export interface ParsedQuestion extends QuestionPart {
  /** The calls of a batch by their positions; empty for a single call. */
  readonly calls: readonly QuestionCall[];
}

/** Parses the text of a question. In a batch, each call begins with its position, and its other lines are indented. */
export function parseQuestion(text: string): ParsedQuestion {
  const [heading = "", ...rest] = text.split("\n");
  const calls: { position: number; heading: string; lines: string[] }[] = [];
  const lines: string[] = [];
  for (const line of rest) {
    const [, position, first = ""] = /^(\d{1,3})\. (.*)$/.exec(line) ?? [];
    if (position) calls.push({ position: Number(position), heading: first, lines: [] });
    else if (line.startsWith("   ")) calls.at(-1)?.lines.push(line.trim());
    else lines.push(line);
  }
  return { heading, lines, calls };
}

/** Texts of others are between quotation marks that they cannot contain, so an arrow in them is not taken for a change. */
const outside = "(?:“[^”]*”|[^“”])";
const changePattern = new RegExp(`^(${outside}*?): (${outside}*?) → (${outside}*)$`);

const { reason, cleared, dated, replaced, wayBack, irrevocable, sameBatch, refused } = questionMarks;

type LineKind = "reason" | "change" | "loss" | "return" | "effect" | "batch";

/** The headings of a question's parts, in the order in which they are read. */
const sections: readonly (readonly [LineKind, string])[] = [
  ["reason", ""],
  ["change", "What changes"],
  ["loss", "What is lost"],
  ["effect", "Whom and what it affects"],
  ["return", "The way back"],
  ["batch", "The rest of the batch"],
];

function classifyLine(line: string): LineKind {
  if (line.startsWith(reason)) return "reason";
  if (line.startsWith(sameBatch) || line.startsWith(refused)) return "batch";
  if (line.startsWith(wayBack) || line.startsWith(irrevocable)) return "return";
  if (line.startsWith(cleared) || line.startsWith(replaced) || line.includes(lostReviews)) return "loss";
  return line.startsWith(dated) || changePattern.test(line) ? "change" : "effect";
}

/**
 * Renders the lines of a question in groups: what changes, what is lost, whom it affects and whether it can be undone.
 * @param isPart - whether they are about one of several calls, which has a heading of its own
 */
export function renderQuestionLines(lines: readonly string[], isPart = false) {
  const byKind = Map.groupBy(lines, classifyLine);
  return html`${sections.map(([kind, heading]) => {
    const group = byKind.get(kind);
    if (!group) return "";
    const title = isPart ? html`<h3>${heading}</h3>` : html`<h2>${heading}</h2>`;
    return html`${heading ? title : ""}
      <ul class="question-lines">
        ${group.map(renderLine)}
      </ul>`;
  })}`;
}

export interface CallChoice {
  readonly isChosen: boolean;
  readonly isDisabled: boolean;
  /** Further attributes of the box. */
  readonly attributes?: unknown;
}

/** Renders a call of a batch, with the box that leaves it out. */
export function renderQuestionCall({ position, heading, lines, ending = "" }: QuestionCall, choice: CallChoice) {
  const { isChosen, isDisabled, attributes = "" } = choice;
  return html`<section class="call">
    <h2>
      <label class="choice">
        <input
          type="checkbox"
          id="call-${position}"
          name="call"
          value="${position}"
          ${isChosen ? "checked" : ""}
          ${isDisabled ? "disabled" : ""}
          ${attributes}
        />
        ${position}. ${renderQuotes(heading)}
      </label>
    </h2>
    ${renderQuestionLines(lines, true)}${ending}
  </section>`;
}

/** Renders a line so that a quoted text of the other direction does not reorder what is around it. */
export function renderQuotes(line = "") {
  return line.split(/(“[^”]*”)/).map((part) => (part.startsWith("“") ? html`<bdi>${part}</bdi>` : part));
}

function renderLine(line: string) {
  if (line.startsWith(irrevocable)) return html`<li class="notice error"><strong>${renderQuotes(line)}</strong></li>`;
  const [, name, before, after] = (classifyLine(line) === "change" && changePattern.exec(line)) || [];
  if (name === undefined) return html`<li>${renderQuotes(line)}</li>`;
  return html`<li>
    ${renderQuotes(name)}: <del>${renderQuotes(before)}</del> <span aria-hidden="true">→</span><span class="unseen">becomes</span>
    <ins>${renderQuotes(after)}</ins>
  </li>`;
}
