/** An e-mail address in a text. */
interface FoundAddress {
  readonly start: number;
  readonly end: number;
  /** The address as mail programs write it, whatever the text disguises it as. */
  readonly address: string;
}

const space = String.raw`[ \t\u00a0]`;
const opening = `[[({<]${space}{0,3}`;
const closing = `${space}{0,3}[\\])}>]`;
const spelledDot = `${space}{1,3}dot${space}{1,3}|${space}{0,3}${opening}(?:dot|\\.)${closing}${space}{0,3}`;
/** `ann at x dot org`: the word alone says nothing, together with the other it does. */
const spelledAt = `(?<=${space})at(?=${space}{1,3}[\\p{L}\\p{N}-]{1,63}(?:${spelledDot}))`;
const encodedAt = String.raw`[@\uff20\ufe6b]|%(?:25){0,3}40|&#0{0,8}64;|&#x0{0,8}40;|&commat;|\\u0040`;

/** `@` as it is, in other widths, encoded for addresses and HTML, and spelled out. */
const atSign = new RegExp(`${opening}(?:at|@)${closing}|${encodedAt}|${spelledAt}`, "giu");

/** Something of every address: text without any of it need not be looked into. */
const suspicion = new RegExp(atSign.source, "iu");

/** The dot of a domain, in the same disguises. */
const dot = new RegExp(`${spelledDot}|[.。．｡]|%(?:25){0,3}2e|&#0{0,8}46;|&#x0{0,8}2e;|&period;`, "iuy");

/** Letters of any script with their marks, digits, hyphens, underscores, joiners. */
const label = /(?:[\p{L}\p{M}\p{N}_-]|\u200c|\u200d)+/uy;
const comment = /\([^()]{0,100}\)/uy;
/** An address of the network in brackets. */
const literal = /\[[\da-z:.-]{2,60}\]/iuy;

/** What the last label of a domain begins with. */
const topLevel = /^(?:xn--[a-z\d-]+|\p{L}(?:[\p{L}\p{M}]|\u200c|\u200d)*\p{L}\p{M}*)/iu;
const octets = /^(?:\d{1,3}\.){3}\d{1,3}$/;
const commonTop = /\.(?:com|org|net|edu|gov|int|mil|info|biz|example|invalid|test|[a-z]{2})$/i;

/** What ends a local part that is not quoted: spaces, controls, brackets, what separates the items of a list. */
const outside = /[\s\p{Cc}()<>[\]:;,"“”«»„‚‹›\\@＠﹫]/u;

/** What stands before an address in sentences and markup, and begins hardly any. */
const wrapping = /^[*_~'`=/.!?#&^$|{}-]+/;

/** Far more than mail knows: only a bound on how far is looked back. */
const maxQuotedChars = 1_000;

/** Whether a text may hold an address. */
export function mayHoldAddress(text: string): boolean {
  return suspicion.test(text);
}

/** Replaces the addresses in a text. */
export function replaceAddresses(text: string, replace: (address: string) => string): string {
  if (!mayHoldAddress(text)) return text;
  let [shown, done] = ["", 0];
  for (const { start, end, address } of findAddresses(text)) {
    shown += text.slice(done, start) + replace(address);
    done = end;
  }
  return done === 0 ? text : shown + text.slice(done);
}

/**
 * Finds the addresses in a text, disguised ones too: from each `@` outwards, so that the time goes with the length of
 * the text. Where an address cannot be told from something else, it counts as an address.
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

/** The address around an `@`, which reaches back to `from` at most. */
function findAddressAround(text: string, sign: { start: number; end: number }, from: number): FoundAddress | undefined {
  const before = countSpacesBefore(text, sign.start, from);
  const after = countSpacesAfter(text, sign.end);
  const domain = parseDomainAt(text, sign.end + after);
  if (!domain) return undefined;
  // In `follow us @some.body` only a domain that is surely one makes an address of that.
  const mention = sign.end - sign.start === 1 && before > 0 && after === 0;
  if (mention && !commonTop.test(domain.name)) return undefined;
  const localEnd = sign.start - before;
  let start = localStart(text, localEnd, from);
  if (start > 0 || domain.end < text.length) start += wrapping.exec(text.slice(start, localEnd))?.[0].length ?? 0;
  const local = text.slice(start, localEnd);
  // A path is no mailbox: `https://example.org/@name.surname`.
  if (local === "" || local.endsWith("/")) return undefined;
  return { start, end: domain.end, address: `${local}@${domain.name}` };
}

/** More spaces than this around `@` are not how anybody writes an address. */
const maxSpaces = 3;

function countSpacesBefore(text: string, at: number, from: number): number {
  const count = /[ \t\u00a0]*$/.exec(text.slice(Math.max(from, at - maxSpaces - 1), at))?.[0].length ?? 0;
  return count > maxSpaces ? 0 : count;
}

function countSpacesAfter(text: string, at: number): number {
  const count = /^[ \t\u00a0]*/.exec(text.slice(at, at + maxSpaces + 1))?.[0].length ?? 0;
  return count > maxSpaces ? 0 : count;
}

/** Where the local part that ends at a place begins: words, quoted strings and comments without a space between. */
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

/** Where the string begins that a quotation mark ends. */
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

/** The longest domain that labels begin with: its last one can be a top-level domain's, or all of them are numbers. */
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
