import { readdirSync } from "node:fs";
import { expect } from "vitest";

/** The names of the migrations, which are those of their files. */
export const migrations = readdirSync(new URL("../../src/store/migrations", import.meta.url))
  .filter((file) => /^\d/.test(file))
  .map((file) => file.replace(/\.ts$/, ""))
  .sort();

/** The expectations of a database of this version. */
export const allApplied = {
  applied: migrations.map((name) => ({ name, appliedAt: expect.any(String) })),
  pending: [],
  unknown: [],
  incompatible: [],
};
