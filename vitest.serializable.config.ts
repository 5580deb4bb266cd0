import { mergeConfig } from "vitest/config";
import onPostgres from "./vitest.postgres.config.ts";

/** The same with every transaction of the server at the strictest level of isolation. */
export default mergeConfig(onPostgres, { test: { provide: { isolation: "serializable" } } });
