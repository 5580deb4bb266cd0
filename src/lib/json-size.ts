/** The size of a value as JSON. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

/** How many rows from the first one come to no more than `maxBytes` in a JSON list. */
export function rowsThatFit(rows: readonly unknown[], maxBytes: number): number {
  let bytes = 2;
  const over = rows.findIndex((row) => {
    bytes += bytesOf(row) + 1;
    return bytes - 1 > maxBytes;
  });
  return over < 0 ? rows.length : over;
}
