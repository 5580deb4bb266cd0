/** Returns the known word that is most similar to a misspelt one, unless more than half of it would have to change. */
export function findSimilar(word: string, known: readonly string[]): string | undefined {
  // A difference in length costs at least as many edits.
  const possible = known.filter((each) => Math.abs(word.length - each.length) <= each.length / 2);
  const distances = possible.map((each) => ({ each, distance: editDistance(word, each) }));
  const [nearest] = distances.toSorted((one, other) => one.distance - other.distance);
  return nearest && nearest.distance <= nearest.each.length / 2 ? nearest.each : undefined;
}

/** Returns the question "Did you mean …?" with a space before it, or an empty text if no known word is similar. */
export function suggestWord(word: string, known: readonly string[]): string {
  const meant = findSimilar(word, known);
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
}

/** Computes the Levenshtein distance of two texts. */
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
