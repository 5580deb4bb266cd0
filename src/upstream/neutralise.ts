/**
 * Characters that a reader does not see but a model does, or that turn text around: controls, bidirectional
 * overrides and isolates, zero-width marks, tag characters, supplementary variation selectors, soft hyphens,
 * interlinear annotations, invisible operators, and blanks that look like nothing.
 */
const invisible =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Joiners hold emoji and several scripts together; anywhere else they only hide. */
const strayJoiner =
  /(?<![\p{L}\p{M}\p{Extended_Pictographic}\ufe0f])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{Extended_Pictographic}])/gu;

/** Text as its reader sees it: what is invisible or turns text around is taken out. */
export function neutralise(text: string): string {
  return text.replace(invisible, "").replace(strayJoiner, "");
}

/** Applies a change to every text in a JSON value, names of properties too. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [change(key), mapTexts(inner, change)]));
}
