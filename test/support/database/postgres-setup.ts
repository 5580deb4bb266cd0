import type { TestProject } from "vitest/node";
import { openDatabases } from "./database-server.ts";

/** Starts one server for all test files, with a migrated database of which each test server gets a copy. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { postgres, isolation } = project.config.provide;
  const { address, template, stop } = await openDatabases({ given: postgres, isolation });
  project.provide("databases", { address, template });
  return stop;
}
