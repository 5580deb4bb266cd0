/** A type and subtype, with parameters of plain characters (RFC 9110, section 8.3.1). */
const pattern = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w-]{1,40}=[\w.+-]{1,100}){0,3}$/;

/** Returns whether a text is a media type that can be sent in a header. */
export function isMediaType(text: string): boolean {
  return pattern.test(text);
}
