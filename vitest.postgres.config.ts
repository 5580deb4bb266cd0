import { mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

const { projects: _, ...test } = shared.test ?? {};

/** What goes by the data: services of these tests stand on PostgreSQL in place of SQLite. `replicas` always do. */
const suites = [
  "confirm",
  "content",
  "crash",
  "demo",
  "desk",
  "exports",
  "gate",
  "mail",
  "matrix",
  "operation",
  "privacy",
  "remote",
  "resources",
  "service",
  "tools",
  "transport",
  "webhooks",
  "webhooks-in",
];

/** These run the built program on files of its own, or choose their database themselves. */
const onTheirOwn = [
  "test/*/commands.test.ts",
  "test/crash/{database-away,full-disk}.test.ts",
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
      globalSetup: ["test/support/postgres-setup.ts"],
      env: { TEST_DATABASE: "postgres" },
    },
  },
);
