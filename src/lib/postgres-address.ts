const schemes = ["postgres://", "postgresql://"];

/** Whether this names a PostgreSQL database rather than a file. */
export function isPostgresAddress(database: string): boolean {
  return schemes.some((scheme) => database.startsWith(scheme));
}

/** Where a PostgreSQL database is, without who uses it: for messages and logs. */
export function placeOfDatabase(address: string): string {
  const { host, pathname } = new URL(address);
  return `${host || "localhost"}${pathname === "/" ? "" : pathname}`;
}
