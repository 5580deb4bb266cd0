import { defineConfig, type TestUserConfig } from "vitest/config";

const shared: TestUserConfig = {
  include: ["test/model/**/*.test.ts"],
  provide: { modelRequests: 200_000 },
  testTimeout: 3 * 3_600_000,
  pool: "forks",
  setupFiles: ["test/support/matchers.ts"],
};

/** The reference model against many more requests, on both databases. */
export default defineConfig({
  test: {
    maxWorkers: 1,
    projects: [
      { test: { name: "sqlite", ...shared } },
      {
        test: {
          name: "postgres",
          ...shared,
          globalSetup: ["test/support/database/postgres-setup.ts"],
          env: { TEST_DATABASE: "postgres" },
        },
      },
    ],
  },
});
