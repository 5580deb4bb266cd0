/** Puts an entry into a map that holds at most so many: a new one pushes out the one that was put there first. */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, maxEntries: number): void {
  if (!map.has(key) && map.size >= maxEntries) map.delete(map.keys().next().value as K);
  map.set(key, value);
}

/** What a map has under a key; made, and remembered so, where it has nothing. */
export function getOrCreate<K, V extends object | string>(
  map: Map<K, V>,
  key: K,
  maxEntries: number,
  make: () => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  remember(map, key, made, maxEntries);
  return made;
}
