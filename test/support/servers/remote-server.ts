import { pino } from "pino";
import { type App, createApp } from "../../../src/app/app.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { scopes } from "../../../src/contract/access/scopes.ts";
import type { Clock } from "../../../src/lib/clock.ts";
import type { Log } from "../../../src/lib/log.ts";

/** True if tools work on the portal's service over HTTP, as on a product's own, instead of inside it. */
export const throughRemote = process.env["TEST_UPSTREAM"] === "remote";

interface Surroundings {
  readonly clock?: Clock;
  readonly log?: Log;
}

/** The program with tools on the service at this address; it must be closed. */
export function openRemote(
  baseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  { clock, log = pino({ level: "silent" }) }: Surroundings = {},
): Promise<App> {
  const config = loadConfig({
    PROGRAMME_REQUESTS_PER_MINUTE: "100000",
    PROGRAMME_PRIVACY: "off",
    PROGRAMME_CONFIRM: "off",
    PROGRAMME_RESULT_BYTES: "10000000",
    PROGRAMME_SCOPES: scopes.join(),
    PROGRAMME_PORT: "0",
    ...environment,
    PROGRAMME_DATABASE: ":memory:",
    PROGRAMME_BASE_URL: baseUrl,
  });
  return createApp(config, { ...(clock ? { clock } : {}), log });
}
