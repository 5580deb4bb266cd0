const joiner = String.raw`(?:\u200c|\u200d)`;
const selector = String.raw`(?:\ufe0e|\ufe0f)`;
/** Scripts whose letters are never joined: there a joiner could only hide. */
const plainScript = String.raw`\p{sc=Latn}|\p{sc=Grek}|\p{sc=Cyrl}|\p{sc=Hani}|\p{sc=Hang}|\p{sc=Hira}|\p{sc=Kana}`;
/** What joiners hold together: letters of the other scripts, emoji. */
const joined = String.raw`(?:(?!${plainScript})\p{L}|\p{M}|\p{Extended_Pictographic}|\ufe0f)`;
/** What selectors choose the look of. */
const selected = String.raw`(?:\p{Extended_Pictographic}|[0-9#*])`;

/**
 * Characters that a reader does not see but a model does, or that turn text around: controls, bidirectional overrides
 * and isolates, zero-width marks, tag characters, variation selectors, fillers, interlinear annotations; joiners and
 * selectors where they have nothing to join or to select.
 */
const hidden = new RegExp(
  [
    String.raw`(?!\t|\n|\r|${joiner}|${selector})(?:\p{Cc}|\p{Bidi_Control}|\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb])`,
    `(?<!${joined})${joiner}`,
    `${joiner}(?!${joined})`,
    `(?<!${selected})${selector}`,
  ].join("|"),
  "gu",
);

/** Most texts: nothing in them is hidden, and to see that costs little. */
const plain = /^[\t\n\r -~]*$/;

/** Text as its reader sees it: what is invisible or turns text around is taken out. */
export function sanitizeText(text: string): string {
  return plain.test(text) ? text : text.replace(hidden, "");
}

/** Changes a text, given the name of the property that it is the value of or an item in. */
export type TextChange = (text: string, name?: string) => string;

/** Applies a change to every text in a JSON value, names of properties too. What has nothing to change stays as it is. */
export function mapTexts(value: unknown, change: TextChange, name?: string): unknown {
  if (typeof value === "string") return change(value, name);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mapTexts(item, change, name));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let same = true;
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    const before = (value as Readonly<Record<string, unknown>>)[key];
    const entry: [string, unknown] = [change(key), mapTexts(before, change, key)];
    same &&= entry[0] === key && entry[1] === before;
    entries.push(entry);
  }
  return same ? value : Object.fromEntries(entries);
}
