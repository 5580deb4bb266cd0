import { globSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** Rooms of what works in one process and waits for no other, nor for a clock: most of what a change can break. */
const quickRooms = [
  "architecture",
  "config",
  "blobs",
  "contract",
  "demo",
  "domain",
  "pipeline",
  "lib",
  "matrix",
  "privacy",
  "service",
  "store",
  "tools",
  "transport",
];

/** In these rooms, what starts a program or a server, or waits for long. */
const others = [
  "demo/seed",
  "pipeline/{access-log,rate-limiter}",
  "lib/log",
  "store/{postgres*,copy,distribution,rolling,sqlite}",
  "transport/{caller-resolver,gateway-keys,oauth-token-verifier,oauth,tenants}",
  "tools/command",
  "tools/await-export",
];

/** `npm run test:quick`. */
const quick = {
  // What a process loads serves the files after it, too: half of the time is otherwise spent on loading.
  isolate: false,
  include: quickRooms.map((room) => `test/${room}/**/*.test.ts`),
  exclude: others.map((name) => `test/${name}.test.ts`),
};

/** Of the service's own tests, those that are worth running through a remote upstream each time; `test:remote` runs all. */
const throughRemote = ["season", "submissions-states", "persons-redaction", "assignments-bulk", "reviewers-invite"];

// The program, which some tests start, refuses variables that it does not know.
const { PROGRAMME_TEST_POSTGRES_URL: postgres } = process.env;
delete process.env["PROGRAMME_TEST_POSTGRES_URL"];

export default defineConfig({
  test: {
    provide: { postgres: postgres || undefined },
    projects: [
      { extends: true, test: { name: "quick", ...quick } },
      {
        extends: true,
        test: { name: "slow", include: ["test/**/*.test.ts"], exclude: [...filesOf(quick), "test/clients/**"] },
      },
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
    // Many tests wait for a process, a clock or a socket: three at a time keep two cores busy.
    maxWorkers: 3,
    setupFiles: ["test/support/matchers.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    restoreMocks: true,
  },
});

function filesOf({ include, exclude }: typeof quick): string[] {
  return globSync(include, { exclude }).map((path) => path.replaceAll("\\", "/"));
}
