import { mayHoldAddress, replaceAddresses } from "./addresses.ts";
import { internationalNumber } from "./phone-numbers.ts";

const mark = "[redacted]";

/** Longer texts are truncated, because some of them come from outside. */
export const maxLogTextChars = 16_384;

/** Matches keys whose values are secrets or personal data, by their last words. */
const secretKey =
  /(?:authorization|cookie|token|secret|password|passphrase|credentials?|apikey|privatekey|secretkey|accesskey|signature|email|phone|mobile|firstname|lastname|fullname|innovatorname|recipientname|contactdetails|customfields)s?$/;

/**
 * Matches secrets and personal data by their form: tokens and other hexadecimal strings of that length, values after
 * `Bearer` and `Basic`, signing secrets, JSON Web Tokens, private keys, credentials and secrets in URLs, email
 * addresses, and telephone numbers with a country code. Each search is linear, because a match begins where a run of
 * its characters begins, or has a fixed length.
 */
const secretForms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g, mark],
  [/[0-9a-f]{64,}/gi, mark],
  [/\b(bearer|basic)(\s{1,3}|%20)[\w.~+/=-]{1,20000}/gi, `$1 ${mark}`],
  [/\bwhsec_[\w+/=-]{1,1000}/gi, mark],
  [/\beyJ[\w-]{4,20000}\.[\w-]{1,20000}(?:\.[\w-]{0,20000})?/g, mark],
  [/(?<=:\/\/)[^\s/?#"'<>]{0,2000}@/g, `${mark}@`],
  [
    /(?<=[?&;](?:x-amz-|x-goog-)?(?:signature|sig|credential|security-token|(?:access_|refresh_|id_)?token|secret|client_secret|password|api_?key|code|confirmation)=)[^&#\s"'<>]{1,20000}/gi,
    mark,
  ],
  [/(?<=\/invitations\/)[^/?#\s"'<>]{1,2000}/g, mark],
  [/\b((?:set-)?cookie|authorization)("?\s{0,3}[:=]\s{0,3}"?)[^\r\n"]{1,20000}/gi, `$1$2${mark}`],
  [
    /\b(passw(?:or)?d|passphrase|pwd|(?:client_)?secret|api[-_]?key)("?\s{0,3}[:=]\s{0,3}"?)[^\s"',;]{1,20000}/gi,
    `$1$2${mark}`,
  ],
  [internationalNumber, mark],
];

/** A cheap test: a text without a match contains no secret. */
const suspicion =
  /[0-9a-f]{64}|bearer|basic|whsec_|eyJ|PRIVATE KEY|[?&;][\w-]{1,40}=|\/invitations\/|\+[1-9]|authorization|cookie|token|secret|passw|passphrase|pwd|credential|key|signature|mail|phone|mobile|(?:name|detail|field)s?"/i;

/** Masks secrets and personal data in a line of the log, which is JSON. */
export function maskLine(line: string): string {
  if (line.length <= maxLogTextChars && !mayHoldSecret(line)) return line;
  return `${JSON.stringify(maskValue(JSON.parse(line)))}\n`;
}

function maskValue(value: unknown): unknown {
  if (typeof value === "string") return maskText(value);
  if (Array.isArray(value)) return value.map(maskValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [maskText(key), isSecret(key, inner) ? mark : maskValue(inner)]),
  );
}

/** Returns whether a value must be masked. Its absence need not be. */
function isSecret(key: string, value: unknown): boolean {
  if (value === null || value === "" || typeof value === "boolean") return false;
  return secretKey.test(key.toLowerCase().replace(/[^a-z]/g, ""));
}

/** Masks secrets and personal data that can be recognised by their form. */
export function maskText(text: string): string {
  // Truncated after masking, because part of a secret has another form.
  const shown = mayHoldSecret(text) ? maskAddresses(text) : text;
  return shown.length > maxLogTextChars ? `${shown.slice(0, maxLogTextChars)}… (${text.length} characters)` : shown;
}

function mayHoldSecret(text: string): boolean {
  return suspicion.test(text) || mayHoldAddress(text);
}

function maskAddresses(text: string): string {
  const rest = secretForms.reduce((before, [form, instead]) => before.replace(form, instead), text);
  return replaceAddresses(rest, () => mark);
}
