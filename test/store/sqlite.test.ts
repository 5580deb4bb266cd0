import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port.ts";
import { conformance } from "./conformance.ts";

describe("in memory", () => conformance(() => opened(":memory:")));
describe("in a file", () => conformance(() => opened(databaseFile())));

async function opened(database: string): Promise<Store> {
  const store = await openStore({ database });
  onTestFinished(() => store.close());
  return store;
}

function databaseFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "programme-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "data", "programme.db");
}
