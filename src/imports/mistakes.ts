import { type Issue, Problem } from "../contract/errors.ts";
import type { Mistake } from "../contract/set-up/set-up-plan.ts";
import { toHeaderLine } from "../lib/http/header-line.ts";

/** Mistakes that are listed; a hostile file could have a million. */
const maxListedMistakes = 100;

/** A file that cannot be imported. Nothing was written. */
export class InvalidImport extends Error {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    const count = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
    super(`The file has ${count}; nothing was written.\n${formatMistakes(mistakes)}`);
    this.name = "InvalidImport";
    this.mistakes = mistakes;
  }
}

/** Formats mistakes for people, a line each, in the order of the file. */
export function formatMistakes(mistakes: readonly Mistake[]): string {
  const listed = mistakes
    .toSorted((one, other) => one.line - other.line || one.column - other.column)
    .slice(0, maxListedMistakes)
    .map(({ line, column, path, message }) => `line ${line}, column ${column}${path && `, ${path}`}: ${message}`);
  const rest = mistakes.length - listed.length;
  const more = rest > 0 ? [`and ${rest} more`] : [];
  return [...listed, ...more].map((text) => `  ${toHeaderLine(text)}`).join("\n");
}

/** Returns the issues of a refused change, or undefined for other errors. */
export function listIssues(error: unknown): readonly Issue[] | undefined {
  if (!(error instanceof Problem) || error.code !== "validation_failed") return undefined;
  return error.details?.["issues"] as readonly Issue[] | undefined;
}
