/** Changes the values and names of an object. Returns the object itself if none of them changes. */
export function mapProperties(
  value: Readonly<Record<string, unknown>>,
  changeValue: (inner: unknown, name: string) => unknown,
  changeName: (name: string) => string = (name) => name,
): Readonly<Record<string, unknown>> {
  let same = true;
  const entries: [string, unknown][] = [];
  for (const name of Object.keys(value)) {
    const inner = value[name];
    const entry: [string, unknown] = [changeName(name), changeValue(inner, name)];
    same &&= entry[0] === name && entry[1] === inner;
    entries.push(entry);
  }
  return same ? value : Object.fromEntries(entries);
}
