/** Texts before and after the digits: `tel:`, `Mobile: `, ` ext. 12`. */
const lead = /^(?:tel(?:ephone|efon)?|phone|mobile|mob|cell|fax)?[.:]?\s*/iu;
const extension = /[\s,;]*(?:ext(?:ension)?[.=:]?|x|#)\s*\d{1,6}$/iu;
const digitsAndSeparators = /^[+＋]?[\p{Nd}\s()[\]./\-\u2010-\u2015]+$/u;

/** Groups of digits that are something else. */
const others: readonly RegExp[] = [
  // dates, dates with times, and ranges of years
  /^\d{4}([-./])\d{1,2}\1\d{1,2}(?:\s.*)?$/,
  /^\d{1,2}([-./ ])\d{1,2}\1\d{2,4}$/,
  /^[12]\d{3}\s?[-/\u2013]\s?[12]\d{3}$/,
  // decimals, and amounts with groups of three digits
  /^\d+\.\d+$/,
  /^[1-9]\d?([ .\u00a0\u202f])\d{3}(?:\1\d{3})+$/,
];

/** Longest text that can be a telephone number. */
const maxChars = 60;

const countryCode = /\+[1-9]/;

/**
 * Matches the beginning of a number, at the start of a text or of a string in compact JSON, except dates, times and
 * handles as this program writes them. Any character outside ASCII counts as a digit, because an exact test takes
 * several times as long.
 */
const beginning =
  /(?:^"?|[:[,{]")\s*(?!\d{4}-\d\d-\d\dT|[12]\d{3}-\d\d-\d\d(?:"|$))(?:tel|phone(?!~)|mob|cell|fax|(?:[:+\d\s()[\]./\u0080-\uffff-]|\\[tnr]){7})/i;

/** Returns whether a text, which may be JSON, may contain a telephone number. */
export function mayHoldPhoneNumber(text: string): boolean {
  // Most texts have no plus sign, and the search for it costs next to nothing.
  return (text.includes("+") && countryCode.test(text)) || beginning.test(text);
}

/** Returns whether the whole text is a telephone number. */
function isPhoneNumber(text: string): boolean {
  if (text.length < 7 || text.length > maxChars) return false;
  const number = text.trim().replace(lead, "").replace(extension, "").trim();
  if (!digitsAndSeparators.test(number)) return false;
  const digits = number.match(/\p{Nd}/gu)?.length ?? 0;
  if (digits < 7) return false;
  if (/^(?:[+＋]|\(\+|00[1-9])/.test(number)) return digits <= 17;
  if (digits > 15 || others.some((form) => form.test(number))) return false;
  // Fewer than ten digits without separators may as well be an amount or a count.
  return digits < number.length || digits >= 10 || number.startsWith("0");
}

/** Matches a number with a country code, also within a text. */
export const internationalNumber = /(?<![\w.+])\+[1-9](?:[ ().-]{0,2}\d){7,14}(?!\d)/g;

/** Replaces telephone numbers: a number that is the whole text, and numbers with a country code within the text. */
export function replacePhoneNumbers(text: string, replace: (number: string) => string): string {
  return isPhoneNumber(text) ? replace(text) : text.replace(internationalNumber, replace);
}
