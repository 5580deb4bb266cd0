import { mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

const { projects: _, ...test } = shared.test ?? {};

/** What goes by the data: services of these tests stand on PostgreSQL in place of SQLite. */
const suites = [
  "confirm",
  "content",
  "demo",
  "desk",
  "exports",
  "gate",
  "mail",
  "matrix",
  "privacy",
  "remote",
  "resources",
  "service",
  "tools",
  "transport",
  "webhooks",
  "webhooks-in",
];

/** These run the built program, on files of its own. */
const onFiles = ["test/*/commands.test.ts", "test/desk/simulate.test.ts", "test/remote/doctor.test.ts"];

export default mergeConfig(
  { test },
  {
    test: {
      include: suites.map((suite) => `test/${suite}/**/*.test.ts`),
      exclude: onFiles,
      globalSetup: ["test/support/postgres-setup.ts"],
      env: { TEST_DATABASE: "postgres" },
    },
  },
);
