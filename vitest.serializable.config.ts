import { mergeConfig } from "vitest/config";
import onPostgres from "./vitest.postgres.config.ts";

/** The tests on PostgreSQL, with every transaction serializable. */
export default mergeConfig(onPostgres, { test: { provide: { isolation: "serializable" } } });
