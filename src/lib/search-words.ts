import { replaceAddresses } from "./addresses.ts";
import { replacePhoneNumbers } from "./phone-numbers.ts";

/** The words of a search, each of which must be found. */
export function splitSearch(search: string): string[] {
  return search.split(/\s+/u).filter((word) => word !== "");
}

/**
 * Whether each word of a search is in one of some texts, without regard to case, as far as somebody sees the texts from
 * whom addresses and telephone numbers are hidden: what is hidden cannot be found out by searching for it.
 */
export function matchesShown(search: string, texts: readonly (string | null | undefined)[]): boolean {
  const shown = texts.map((text) => withoutContacts(text ?? "").toLowerCase());
  return splitSearch(search.toLowerCase()).every((word) => shown.some((text) => text.includes(word)));
}

function withoutContacts(text: string): string {
  return replacePhoneNumbers(replaceAddresses(text, blankMatch), blankMatch);
}

/** Words do not hold it: so nothing is found across what is hidden. */
const blankMatch = () => " ";
