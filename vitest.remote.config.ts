import { mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

const { projects: _, ...test } = shared.test ?? {};

/** All tests of the service, with the remote upstream instead of the embedded service. */
export default mergeConfig(
  { test },
  { test: { include: ["test/service/**/*.test.ts"], env: { TEST_UPSTREAM: "remote" } } },
);
