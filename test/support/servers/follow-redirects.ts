/**
 * Follows redirects with cookies, as a browser does, up to the first address for which `isEnd` is true. Returns that
 * address.
 * @throws Error for an answer that does not redirect
 */
export async function followRedirects(start: string, isEnd: (address: string) => boolean): Promise<string> {
  const cookies = new Map<string, string>();
  let next = start;
  while (!isEnd(next)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(next, { redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`The provider answered ${response.status}: ${await response.text()}`);
    next = new URL(location, next).href;
  }
  return next;
}
