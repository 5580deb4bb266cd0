import { isAddressHandle } from "../../src/upstream/privacy/pseudonyms.ts";

/** Returns whether a text holds an e-mail address that is not a handle. */
export function hasAddress(text: string): boolean {
  return (text.match(/[\w.+-]+@[\w.-]+/g) ?? []).some((found) => !isAddressHandle(found));
}
