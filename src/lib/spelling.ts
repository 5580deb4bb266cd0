/** The known word that is nearest to a misspelt one, ties by order; nothing where there are none. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  return known.toSorted((left, right) => editDistance(word, left) - editDistance(word, right))[0];
}

/** The nearest known word, unless more than half of it would have to change. */
export function similar(word: string, known: readonly string[]): string | undefined {
  const found = nearest(word.slice(0, maxChars), known);
  return found !== undefined && editDistance(word.slice(0, maxChars), found) <= found.length / 2 ? found : undefined;
}

/** Longer words are compared by their beginning: the work grows with the square of the length. */
const maxChars = 100;

/** How many characters to insert, delete or replace to turn one text into the other (Levenshtein). */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [i, character] of [...left].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...right].entries()) {
      const replace = (row[j] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replace, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
