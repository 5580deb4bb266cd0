import { mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

const { projects: _, ...test } = shared.test ?? {};

/** Folders whose tests depend on the database; here they use PostgreSQL instead of SQLite. `replicas` always does. */
const suites = [
  "approvals",
  "blobs",
  "browser",
  "crash",
  "demo",
  "exports",
  "identity",
  "imports",
  "mail",
  "matrix",
  "model",
  "pipeline",
  "portal",
  "privacy",
  "resources",
  "retention",
  "service",
  "telemetry",
  "tools",
  "transport",
  "upstream",
  "webhook-receiver",
  "webhooks",
  "workflows",
];

/** Tests that run the built program on its own files, or choose their database themselves. */
const onTheirOwn = [
  "test/*/commands.test.ts",
  "test/crash/{database-outage,full-disk}.test.ts",
  "test/portal/simulate.test.ts",
  "test/telemetry/shutdown.test.ts",
  "test/upstream/doctor.test.ts",
];

export default mergeConfig(
  { test },
  {
    test: {
      include: suites.map((suite) => `test/${suite}/**/*.test.ts`),
      exclude: onTheirOwn,
      globalSetup: ["test/support/database/postgres-setup.ts"],
      env: { TEST_DATABASE: "postgres" },
    },
  },
);
