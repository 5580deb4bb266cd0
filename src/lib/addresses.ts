/** An email address found in a text. */
interface FoundAddress {
  readonly start: number;
  readonly end: number;
  /** The address in its normal form, even if the text disguises it. */
  readonly address: string;
}

const space = String.raw`[ \t\u00a0]`;
const opening = `[[({<]${space}{0,3}`;
const closing = `${space}{0,3}[\\])}>]`;
const spelledDot = `${space}{1,3}dot${space}{1,3}|${space}{0,3}${opening}(?:dot|\\.)${closing}${space}{0,3}`;
/** Matches `at` in `ann at x dot org`. The word alone proves nothing; together with `dot` it does. */
const spelledAt = `(?<=${space})at(?=${space}{1,3}[\\p{L}\\p{N}-]{1,63}(?:${spelledDot}))`;
const disguisedAt = String.raw`[\uff20\ufe6b]|%(?:25){0,3}40|&#0{0,8}64;|&#x0{0,8}40;|&commat;|\\u0040`;

/** Matches `@` in its other forms: other widths, URL and HTML encodings, and words. */
const disguise = new RegExp(`${opening}(?:at|@)${closing}|${disguisedAt}|${spelledAt}`, "iu");
/** Matches `@` in all its forms. */
const atSign = new RegExp(`${disguise.source}|@`, "giu");

/** Matches the dot of a domain, in the same disguises. */
const dot = new RegExp(`${spelledDot}|[.。．｡]|%(?:25){0,3}2e|&#0{0,8}46;|&#x0{0,8}2e;|&period;`, "iuy");

/** Matches a domain label: letters of any script with their marks, digits, hyphens, underscores, joiners. */
const label = /(?:[\p{L}\p{M}\p{N}_-]|\u200c|\u200d)+/uy;
const comment = /\([^()]{0,100}\)/uy;
/** Matches an IP address in brackets. */
const literal = /\[[\da-z:.-]{2,60}\]/iuy;

/** Matches the beginning of a top-level domain. */
const topLevel = /^(?:xn--[a-z\d-]+|\p{L}(?:[\p{L}\p{M}]|\u200c|\u200d)*\p{L}\p{M}*)/iu;
const octets = /^(?:\d{1,3}\.){3}\d{1,3}$/;
const commonTop = /\.(?:com|org|net|edu|gov|int|mil|info|biz|example|invalid|test|[a-z]{2})$/i;

/** Matches what ends an unquoted local part: spaces, controls, brackets, and list separators. */
const outside = /[\s\p{Cc}()<>[\]:;,"“”«»„‚‹›\\@＠﹫]/u;

/** Characters that stand before an address in sentences and markup, but rarely begin one. */
const wrapping = /^[*_~'`=/.!?#&^$|{}-]+/;

/** Limits the search for the beginning of a quoted string. Much longer than mail allows. */
const maxQuotedChars = 1_000;

/** Returns whether a text may contain an email address: a cheap test. */
export function mayHoldAddress(text: string): boolean {
  return text.includes("@") || mayHoldDisguisedAddress(text);
}

/** Returns whether a text may contain an email address without a plain `@`. */
export function mayHoldDisguisedAddress(text: string): boolean {
  return disguise.test(text);
}

/** Replaces the email addresses in a text. `replace` receives the address in its normal form, and as it is written. */
export function replaceAddresses(text: string, replace: (address: string, written: string) => string): string {
  if (!mayHoldAddress(text)) return text;
  let [shown, done] = ["", 0];
  for (const { start, end, address } of findAddresses(text)) {
    shown += text.slice(done, start) + replace(address, text.slice(start, end));
    done = end;
  }
  return done === 0 ? text : shown + text.slice(done);
}

/**
 * Finds email addresses in a text, including disguised ones. Searches outwards from each `@`, in linear time. A text
 * that may or may not be an address counts as one.
 */
function findAddresses(text: string): FoundAddress[] {
  const found: FoundAddress[] = [];
  let done = 0;
  for (const match of text.matchAll(atSign)) {
    const [start, end] = [match.index, match.index + match[0].length];
    if (start < done) continue;
    const address = findAddressAround(text, { start, end }, done);
    if (address) found.push(address);
    done = address?.end ?? end;
  }
  return found;
}

/** Finds the address around an `@`, no further back than `from`. */
function findAddressAround(text: string, sign: { start: number; end: number }, from: number): FoundAddress | undefined {
  const before = countSpacesBefore(text, sign.start, from);
  const after = countSpacesAfter(text, sign.end);
  const domain = parseDomainAt(text, sign.end + after);
  if (!domain) return undefined;
  // `follow us @some.body` is an address only if its domain certainly is one.
  const mention = sign.end - sign.start === 1 && before > 0 && after === 0;
  if (mention && !commonTop.test(domain.name)) return undefined;
  const localEnd = sign.start - before;
  let start = localStart(text, localEnd, from);
  if (start > 0 || domain.end < text.length) start += wrapping.exec(text.slice(start, localEnd))?.[0].length ?? 0;
  const local = text.slice(start, localEnd);
  // A path is not an address: `https://example.org/@name.surname`.
  if (local === "" || local.endsWith("/")) return undefined;
  return { start, end: domain.end, address: `${local}@${domain.name}` };
}

/** Nobody writes an address with more spaces around `@`. */
const maxSpaces = 3;

function countSpacesBefore(text: string, at: number, from: number): number {
  const count = /[ \t\u00a0]*$/.exec(text.slice(Math.max(from, at - maxSpaces - 1), at))?.[0].length ?? 0;
  return count > maxSpaces ? 0 : count;
}

function countSpacesAfter(text: string, at: number): number {
  const count = /^[ \t\u00a0]*/.exec(text.slice(at, at + maxSpaces + 1))?.[0].length ?? 0;
  return count > maxSpaces ? 0 : count;
}

/**
 * Returns the beginning of the local part that ends at a position: words, quoted strings and comments without spaces
 * between them.
 */
function localStart(text: string, end: number, from: number): number {
  let start = end;
  for (;;) {
    const next = findPartStart(text, start, end, from);
    if (next === start) return start;
    start = next;
  }
}

function findPartStart(text: string, end: number, localEnd: number, from: number): number {
  const last = end > from ? (text[end - 1] ?? "") : "";
  const joins = end === localEnd || text[end] === ".";
  if (last === '"' && joins) return quoteStart(text, end - 1, Math.max(from, end - maxQuotedChars)) ?? end;
  if (last === ")" && joins) {
    const within = Math.max(from, end - maxQuotedChars);
    const opened = text.slice(within, end).lastIndexOf("(");
    return opened < 0 ? end : within + opened;
  }
  let start = end;
  while (start > from && !outside.test(text[start - 1] ?? "")) start--;
  return start;
}

/** Returns the beginning of the string that a quotation mark ends. */
function quoteStart(text: string, closing: number, from: number): number | undefined {
  for (let at = closing - 1; at >= from; at--) {
    if (text[at] === '"' && text[at - 1] !== "\\") return at;
  }
  return undefined;
}

interface Domain {
  readonly name: string;
  readonly end: number;
}

function parseDomainAt(text: string, at: number): Domain | undefined {
  const from = at + (matchAt(comment, text, at)?.length ?? 0);
  const bracketed = matchAt(literal, text, from);
  if (bracketed) return { name: bracketed, end: from + bracketed.length };
  const labels: { readonly text: string; readonly start: number }[] = [];
  let place = from;
  for (let next = matchAt(label, text, place); next !== undefined; next = matchAt(label, text, place)) {
    labels.push({ text: next, start: place });
    const separator = matchAt(dot, text, place + next.length);
    if (separator === undefined) break;
    place += next.length + separator.length;
  }
  return chooseDomain(labels);
}

/**
 * Returns the longest prefix of the labels that is a domain: its last label can be a top-level domain, or all labels
 * are numbers.
 */
function chooseDomain(labels: { readonly text: string; readonly start: number }[]): Domain | undefined {
  const names = labels.map(({ text }) => text);
  for (let count = names.length; count > 0; count--) {
    const last = labels[count - 1];
    const text = last?.text ?? "";
    const top = count > 1 || /^localhost$/i.test(text) ? (topLevel.exec(text)?.[0].length ?? 0) : 0;
    const length = count === 4 && octets.test(names.slice(0, 4).join(".")) ? text.length : top;
    if (length === 0) continue;
    const name = [...names.slice(0, count - 1), text.slice(0, length)].join(".");
    return { name, end: (last?.start ?? 0) + length };
  }
  return undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
