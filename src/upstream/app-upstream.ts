import { isAppToken } from "../pipeline/steps/authenticate.ts";
import type { Upstream } from "./port.ts";

/** Sends calls with the token of a connected app to one upstream, and all others to the other. */
export function createAppUpstream(apps: Upstream, others: Upstream): Upstream {
  const choose = (token: string | undefined) => (isAppToken(token) ? apps : others);
  const { watch: watchAsApp } = apps;
  const { watch, watchesRecords = false } = others;
  return {
    admit: (head) => choose(head.token).admit(head),
    check: (call) => choose(call.token).check(call),
    call: (call) => choose(call.token).call(call),
    dryRun: (call) => choose(call.token).dryRun(call),
    identify: (token) => choose(token).identify(token),
    describe: (call) => choose(call.token).describe(call),
    ...(watch && watchAsApp
      ? { watch: (token, watcher) => (isAppToken(token) ? watchAsApp : watch)(token, watcher) }
      : {}),
    watchesRecords,
  };
}
