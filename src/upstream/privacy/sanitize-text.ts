import { mapProperties } from "../../lib/collections/map-properties.ts";

const joiner = String.raw`(?:\u200c|\u200d)`;
const selector = String.raw`(?:\ufe0e|\ufe0f)`;
/** Scripts without joined letters, where a joiner could only hide text. */
const plainScript = String.raw`\p{sc=Latn}|\p{sc=Grek}|\p{sc=Cyrl}|\p{sc=Hani}|\p{sc=Hang}|\p{sc=Hira}|\p{sc=Kana}`;
/** Characters whose appearance selectors may choose. */
const selected = String.raw`(?:\p{Extended_Pictographic}|[0-9#*])`;
/**
 * Characters that joiners may connect: letters of the other scripts, marks and emoji. None of them is removed, so what
 * stays beside one would stay again.
 */
const joined = String.raw`(?:(?!\p{Default_Ignorable_Code_Point}|${plainScript})\p{L}|(?!\p{Default_Ignorable_Code_Point})\p{M}|\p{Extended_Pictographic})`;

/**
 * Characters that a reader does not see but a model does, or that reorder text: controls, bidirectional overrides and
 * isolates, zero-width marks, tag characters, variation selectors, fillers, interlinear annotations, and joiners and
 * selectors without anything to join or select.
 */
const hidden = new RegExp(
  [
    String.raw`(?!\t|\n|\r|${joiner}|${selector})(?:\p{Cc}|\p{Bidi_Control}|\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb])`,
    `(?<!${joined}|${selected}${selector})${joiner}`,
    `${joiner}(?!${joined})`,
    `(?<!${selected})${selector}`,
  ].join("|"),
  "gu",
);

/** Matches most texts, which contain nothing hidden, at little cost. */
const plain = /^[\t\n\r -~]*$/;

/** Removes characters that are invisible or reorder text. */
export function sanitizeText(text: string): string {
  return plain.test(text) ? text : text.replace(hidden, "");
}

/** Changes a text. `name` is the property that the text, or the list around it, belongs to. */
export type TextChange = (text: string, name?: string) => string;

/** Applies a change to every text in a JSON value, including property names. Returns unchanged parts as they are. */
export function mapTexts(value: unknown, change: TextChange, name?: string): unknown {
  if (typeof value === "string") return change(value, name);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mapTexts(item, change, name));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  return mapProperties(
    value as Readonly<Record<string, unknown>>,
    (inner, key) => mapTexts(inner, change, key),
    change,
  );
}
