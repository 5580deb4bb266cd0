import { expect } from "vitest";

/** Values that differ from one run to the next, and do not matter: ids, secrets, times, the demonstration's years. */
function settled(text: string): string {
  return text
    .replace(/\b([a-z]{3})_(?:[0-9A-HJKMNP-TV-Z]{26}|…)/g, "$1_ID")
    .replace(/\b[0-9a-f]{64}\b|<the printed token>/g, "TOKEN")
    .replace(/\b20\d\d\b/g, "YEAR")
    .replace(/[\s\\]+/g, "");
}

/** The parts of a text that follow one another in what was printed; `…` stands for what is between them. */
function partsOf(text: string): string[] {
  return settled(text)
    .split("…")
    .filter((part) => part !== "");
}

/**
 * Expects that a text was printed as a page shows it.
 * @returns what was printed after it
 */
export function expectPrinted(shown: string, printed: string, path: string): string {
  const parts = partsOf(shown);
  expect(parts, path).not.toEqual([]);
  return parts.reduce((rest, part) => {
    const at = rest.indexOf(part);
    if (at < 0) expect(rest, path).toContain(part);
    return rest.slice(at + part.length);
  }, settled(printed));
}
