import { Writable } from "node:stream";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { App } from "../../src/app/app.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestClock, type TestServer } from "../support/servers/test-server.ts";
import { type Agent, type Finishing, openAgent } from "./agent.ts";
import { type MisbehavingProxy, openMisbehaving } from "./misbehaving-proxy.ts";

/** An agent on a portal's service, with something in between that may misbehave, and all that is logged. */
export interface RemoteSetup {
  readonly server: TestServer;
  readonly proxy: MisbehavingProxy;
  readonly app: App;
  readonly token: string;
  readonly agent: Agent;
  readonly lines: string[];
}

interface Setting {
  /** Of the program that the agent uses. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Of the program that the agent uses; the service has its own. */
  readonly clock?: TestClock;
  /** The service's own settings. */
  readonly service?: Record<string, string>;
  readonly finishing?: Finishing;
}

export async function openRemoteSetup({
  environment,
  clock,
  service,
  finishing = onTestFinished,
}: Setting = {}): Promise<RemoteSetup> {
  const { server, close } = await openTestServer(service);
  const proxy = await openMisbehaving(server.origin);
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => done(void lines.push(String(chunk))) });
  const log = pino({ level: "trace" }, stream);
  const app = await openRemote(proxy.origin, environment, clock ? { clock, log } : { log });
  finishing(async () => {
    await app.close();
    await proxy.close();
    await close();
  });
  const token = await server.token();
  return { server, proxy, app, token, agent: await openAgent(app, token, finishing), lines };
}
