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

/**
 * Returns the known names that a field's name may stand for: those with the same letters, else those that end with it as
 * a word and the nearest ones, with at most a third of their letters changed.
 */
export function findNearNames(name: string, known: readonly string[]): readonly string[] {
  const letters = toLetters(name);
  if (letters === "") return [];
  const same = known.filter((each) => toLetters(each) === letters);
  if (same.length > 0) return same;
  const lastWord = name.slice(0, 1).toUpperCase() + name.slice(1);
  const distances = new Map(
    known
      .filter((each) => Math.abs(letters.length - each.length) <= each.length / 3)
      .map((each) => [each, editDistance(letters, toLetters(each))]),
  );
  const nearest = Math.min(...distances.values());
  const isNear = (each: string) => distances.get(each) === nearest && nearest <= Math.ceil(each.length / 3);
  return known.filter((each) => each.endsWith(lastWord) || isNear(each));
}

/** Returns the letters of a name in lower case, with one word for `state` and `status`. */
function toLetters(name: string): string {
  const letters = name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  return letters === "status" ? "state" : letters;
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
