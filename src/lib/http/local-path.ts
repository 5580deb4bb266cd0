/**
 * Returns a path of this server from an untrusted address: the path and query only. Returns the fallback for anything
 * that a browser might take for another server's address.
 */
export function parseLocalPath(address: string | undefined, fallback: string): string {
  if (address === undefined || !/^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(address) || address.includes("\\")) {
    return fallback;
  }
  const local = "http://local.invalid";
  const url = URL.parse(address, local);
  return url?.origin === local ? `${url.pathname}${url.search}` : fallback;
}
