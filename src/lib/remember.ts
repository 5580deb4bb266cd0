/** Puts an entry into a map that holds at most so many: a new one pushes out the one that was put there first. */
export function remember<K, V>(map: Map<K, V>, key: K, value: V, maxEntries: number): void {
  if (!map.has(key) && map.size >= maxEntries) map.delete(map.keys().next().value as K);
  map.set(key, value);
}
