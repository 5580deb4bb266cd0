import { Writable } from "node:stream";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { App } from "../../src/app/app.ts";
import { type Desk, openDesk, type TestClock } from "../support/desk.ts";
import { openRemote } from "../support/remote.ts";
import { type Agent, agentOf, type Finishing } from "./agent.ts";
import { type MisbehavingProxy, openMisbehaving } from "./misbehaving.ts";

/** An agent on a desk's service, with something in between that may misbehave, and all that is logged. */
export interface Stage {
  readonly desk: Desk;
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

export async function openStage({
  environment,
  clock,
  service,
  finishing = onTestFinished,
}: Setting = {}): Promise<Stage> {
  const { desk, close } = await openDesk(service);
  const proxy = await openMisbehaving(desk.origin);
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => done(void lines.push(String(chunk))) });
  const log = pino({ level: "trace" }, stream);
  const app = await openRemote(proxy.origin, environment, clock ? { clock, log } : { log });
  finishing(async () => {
    await app.close();
    await proxy.close();
    await close();
  });
  const token = await desk.token();
  return { desk, proxy, app, token, agent: await agentOf(app, token, finishing), lines };
}
