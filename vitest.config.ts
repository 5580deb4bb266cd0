import { defineConfig } from "vitest/config";

/** Of the service's own tests, those that are worth running through a remote upstream each time; `test:remote` runs all. */
const throughRemote = ["season", "submissions-states", "persons-redaction", "assignments-bulk", "reviewers-invite"];

// The program, which some tests start, refuses variables that it does not know.
const { PROGRAMME_TEST_POSTGRES_URL: postgres } = process.env;
delete process.env["PROGRAMME_TEST_POSTGRES_URL"];

export default defineConfig({
  test: {
    provide: { postgres: postgres || undefined },
    projects: [
      { extends: true, test: { name: "main", include: ["test/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "remote",
          include: throughRemote.map((name) => `test/service/${name}.test.ts`),
          env: { TEST_UPSTREAM: "remote" },
        },
      },
    ],
    // Processes, not threads: tests handle signals, start servers and run the program itself.
    pool: "forks",
    // Many tests wait for a process, a clock or a socket: two at a time suit two cores.
    maxWorkers: 2,
    setupFiles: ["test/support/matchers.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    restoreMocks: true,
  },
});
