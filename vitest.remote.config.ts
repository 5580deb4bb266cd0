import { mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

const { projects: _, ...test } = shared.test ?? {};

/** The whole of the service's tests, with the remote upstream in place of the embedded service. */
export default mergeConfig(
  { test },
  { test: { include: ["test/service/**/*.test.ts"], env: { TEST_UPSTREAM: "remote" } } },
);
