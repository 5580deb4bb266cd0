import { globSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** Tests that start the built program or several processes, end them, or run for long: `npm run test:slow`. */
const slow = [
  "test/{browser,conformance,crash,e2e,model,packaging,replicas}/**/*.test.ts",
  "test/*/{commands,crash,tutorials}.test.ts",
  "test/commands/{doctor-callers,examples,first-start,postgres,streams}.test.ts",
  "test/demo/seed.test.ts",
  "test/matrix/mcp-tenancy.test.ts",
  "test/portal/simulate.test.ts",
  "test/privacy/planted-surfaces.test.ts",
  "test/store/{copy,postgres*,rolling}.test.ts",
  "test/telemetry/shutdown.test.ts",
  "test/tools/command.test.ts",
  "test/upstream/{doctor,faults,unreliable-service,wrong-configurations}.test.ts",
];

/** Folders whose tests run in one process and wait for nothing: `npm run test:quick`. */
const quickFolders =
  "{architecture,blobs,config,contract,demo,domain,lib,matrix,pipeline,privacy,service,store,tools,transport}";

/** Tests of these folders that start a process or a server, or wait. */
const isolated = [
  "test/lib/log.test.ts",
  "test/pipeline/{access-log,rate-limiter}.test.ts",
  "test/store/{distribution,sqlite}.test.ts",
  "test/tools/await-export.test.ts",
  "test/transport/{caller-resolver,gateway-keys,oauth-token-verifier,oauth,tenants}.test.ts",
];

const quick = {
  // Half of the time would otherwise be spent on loading modules.
  isolate: false,
  include: [`test/${quickFolders}/**/*.test.ts`],
  exclude: [...isolated, ...slow],
};

/** Tests of the service that also run through a remote upstream; `npm run test:remote` runs all of them. */
const throughRemote = [
  "season",
  "persons/persons-redaction",
  "reviews/assignments-bulk",
  "reviews/reviewers-invite",
  "submissions/submissions-states",
];

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
        test: {
          name: "isolated",
          include: ["test/**/*.test.ts"],
          exclude: [...listQuickFiles(), ...slow, "test/clients/**"],
        },
      },
      {
        extends: true,
        test: {
          name: "remote",
          include: throughRemote.map((name) => `test/service/${name}.test.ts`),
          env: { TEST_UPSTREAM: "remote" },
        },
      },
      { extends: true, test: { name: "slow", include: slow } },
    ],
    // Processes, not threads: tests handle signals, start servers and run the program itself.
    pool: "forks",
    // Many tests wait for a process or a socket: three at a time keep two cores busy.
    maxWorkers: 3,
    setupFiles: ["test/support/matchers.ts"],
    // These only end a test that hangs: a loaded machine must stay below them.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
    restoreMocks: true,
  },
});

function listQuickFiles(): string[] {
  return globSync(quick.include, { exclude: quick.exclude }).map((path) => path.replaceAll("\\", "/"));
}
