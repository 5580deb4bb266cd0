import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Processes, not threads: tests handle signals, start servers and run the program itself.
    pool: "forks",
    setupFiles: ["test/support/matchers.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    restoreMocks: true,
  },
});
