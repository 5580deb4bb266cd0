import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { issueToken } from "../../src/app/access/issue-token.ts";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { type Scope, scopes } from "../../src/contract/access/scopes.ts";
import type { AuditEntry } from "../../src/contract/audit.ts";
import { operations } from "../../src/contract/index.ts";
import type { PortalActionArguments, PortalActionName } from "../../src/contract/portal.ts";
import { seedDemo } from "../../src/demo/seed.ts";
import { createRestClient, type RestClient } from "./rest-client.ts";

/** The day on which the demonstration data ends. Equal dates give equal data, so results can be compared. */
const demoDay = "2026-11-20T09:00:00.000Z";

export interface WorldOptions {
  /** The present, ISO. Default: the day on which the demonstration data ends. */
  readonly now?: string | undefined;
  /** Scopes of the agent's token. Default: all. */
  readonly scopes?: readonly Scope[] | undefined;
  /** The port of the service; 0 picks a free one. */
  readonly port?: number | undefined;
}

/** The service with a copy of the demonstration data, for one task. */
export interface World {
  readonly origin: string;
  /** The agent's token. */
  readonly token: string;
  readonly scopes: readonly Scope[];
  readonly now: () => Date;
  /** A colleague who uses the interface with all scopes. */
  readonly rest: RestClient;
  /** Acts as an applicant, a reviewer or staff in the portal. */
  act<Name extends PortalActionName>(name: Name, input: PortalActionArguments<Name>): Promise<unknown>;
  /** Returns what the agent has changed so far, oldest first. */
  listAgentChanges(): Promise<AuditEntry[]>;
  /** Returns the agent's changes so far that a human has to confirm, one line for each request. */
  listConfirmableChanges(): Promise<string[]>;
  close(): Promise<void>;
}

/** Creates worlds from one seeded database. */
export interface WorldFactory {
  /** Starts the service on a copy of the database. */
  open(options?: WorldOptions): Promise<World>;
  close(): Promise<void>;
}

export async function createWorldFactory(): Promise<WorldFactory> {
  const template = await createDirectory();
  const app = await createApp(loadWorldConfig(template, 0), { log: pino({ level: "silent" }) });
  await seedDemo(app.store, app.content, { now: new Date(demoDay) });
  await app.close();
  return {
    open: (options = {}) => openWorld(template, options),
    close: () => rm(template, { recursive: true }),
  };
}

async function openWorld(template: string, options: WorldOptions): Promise<World> {
  const { now = demoDay, scopes: granted = scopes, port = 0 } = options;
  const directory = await createDirectory();
  await cp(template, directory, { recursive: true });
  const offsetMs = Date.parse(now) - Date.now();
  const clock = { now: () => new Date(Date.now() + offsetMs) };
  const app = await createApp(loadWorldConfig(directory, port), { clock, log: pino({ level: "silent" }) });
  const { origin } = await app.listen();
  app.startWorkers();
  const [{ businessId } = { businessId: "" }] = await app.store.listBusinesses();
  const issue = (name: string, chosen: readonly Scope[]) =>
    issueToken(app.store, { businessId, name, scopes: chosen, expiresAt: null });
  const [agent, colleague] = [await issue("Agent", granted), await issue("Programme desk", scopes)];
  const rest = createRestClient(origin, colleague.token);
  const openedAt = clock.now().toISOString();
  const listAgentChanges = async () => {
    const entries = await rest.list<AuditEntry>("/audit", ({ occurredAt }) => occurredAt >= openedAt);
    return entries.filter(({ tokenId }) => tokenId === agent.tokenId).reverse();
  };
  return {
    origin,
    token: agent.token,
    scopes: granted,
    now: clock.now,
    rest,
    async act(name, input) {
      if (!app.portalServices) throw new Error("The service has no portal");
      return app.portalServices.portal.act(businessId, name, input);
    },
    listAgentChanges,
    async listConfirmableChanges() {
      const changes = (await listAgentChanges()).filter(needsConfirmation);
      return [...new Set(changes.map(({ action, requestId }) => `${action} (${requestId})`))];
    },
    async close() {
      await app.close();
      await rm(directory, { recursive: true });
    },
  };
}

function createDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "programme-evals-"));
}

const confirmable = Object.values(operations).filter(({ confirm }) => confirm !== undefined);

/** Returns whether a change is of an operation that needs confirmation, with the values that were set. */
function needsConfirmation({ action, changes }: AuditEntry): boolean {
  const values = Object.fromEntries(changes.map(({ path, to }) => [path, to]));
  return confirmable.some(({ audit, confirm }) => audit === action && confirm?.(values) !== undefined);
}

function loadWorldConfig(directory: string, port: number) {
  return loadConfig({
    PROGRAMME_DATABASE: join(directory, "programme.db"),
    PROGRAMME_PORT: String(port),
    // Scripts call as fast as they can.
    PROGRAMME_REQUESTS_PER_MINUTE: "100000",
  });
}
