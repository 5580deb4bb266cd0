/** Before and after the digits: `tel:`, `Mobile: `, ` ext. 12`. */
const lead = /^(?:tel(?:ephone|efon)?|phone|mobile|mob|cell|fax)?[.:]?\s*/iu;
const extension = /[\s,;]*(?:ext(?:ension)?[.=:]?|x|#)\s*\d{1,6}$/iu;
const digitsAndSeparators = /^[+＋]?[\p{Nd}\s()[\]./\-\u2010-\u2015]+$/u;

/** Values of digits that are something else. */
const others: readonly RegExp[] = [
  // dates, times after them, and years from one to the other
  /^\d{4}([-./])\d{1,2}\1\d{1,2}(?:\s.*)?$/,
  /^\d{1,2}([-./ ])\d{1,2}\1\d{2,4}$/,
  /^[12]\d{3}\s?[-/\u2013]\s?[12]\d{3}$/,
  // decimals, and amounts in groups of three
  /^\d+\.\d+$/,
  /^[1-9]\d?([ .\u00a0\u202f])\d{3}(?:\1\d{3})+$/,
];

/** Longest text that can be a number with all that stands around it. */
const maxChars = 60;

/**
 * What a number begins with, at the start of a text or of one in JSON; a time as it goes out is none. Whatever is not
 * ASCII may be a digit: to tell which is one takes several times as long.
 */
const suspicion =
  /\+[1-9]|(?:^|")\s*(?!\d{4}-\d\d-\d\dT)(?:tel|phone|mob|cell|fax|(?:[:+\d\s()[\]./\u0080-\uffff-]|\\[tnr]){7})/i;

/** Whether a text, which may be JSON, may hold a number. */
export function mayHoldPhoneNumber(text: string): boolean {
  return suspicion.test(text);
}

/** Whether a text is a telephone number and nothing else. */
function isPhoneNumber(text: string): boolean {
  if (text.length < 7 || text.length > maxChars) return false;
  const number = text.trim().replace(lead, "").replace(extension, "").trim();
  if (!digitsAndSeparators.test(number)) return false;
  const digits = number.match(/\p{Nd}/gu)?.length ?? 0;
  if (digits < 7) return false;
  if (/^(?:[+＋]|\(\+|00[1-9])/.test(number)) return digits <= 17;
  if (digits > 15 || others.some((form) => form.test(number))) return false;
  // Digits alone: fewer than ten are as well an amount or a number of something.
  return digits < number.length || digits >= 10 || number.startsWith("0");
}

/** A number with its country, in the middle of a text too. */
export const internationalNumber = /(?<![\w.+])\+[1-9](?:[ ().-]{0,2}\d){7,14}(?!\d)/g;

/** Replaces the numbers in a text: one that is all of it, and those with their country in the middle of others. */
export function replacePhoneNumbers(text: string, replace: (number: string) => string): string {
  return isPhoneNumber(text) ? replace(text) : text.replace(internationalNumber, replace);
}
