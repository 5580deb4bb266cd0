import { onTestFinished } from "vitest";
import type { App } from "../../src/app/app.ts";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, TestClock, type TestServer } from "../support/servers/test-server.ts";
import { newSecret } from "./event-sender.ts";

/** The program beside a product's own service, which it serves to two organisations over HTTP. */
export interface RemoteProgram {
  /** The program's address and tools, on the service's data. */
  readonly server: TestServer;
  readonly app: App;
  readonly clock: TestClock;
  readonly acme: Tenant;
  readonly beta: Tenant;
  /** A token that nothing comes in for. */
  readonly stranger: Tenant;
  /** Closes the service behind. */
  cut(): Promise<void>;
}

/** An organisation of the service, its token, and the webhook that is for it. */
export interface Tenant {
  /** As the service has it. */
  readonly server: TestServer;
  readonly token: string;
  readonly secret: string;
}

interface Given {
  readonly granted?: readonly Scope[];
  readonly environment?: Readonly<Record<string, string>>;
}

export async function openRemoteProgram({ granted, environment }: Given = {}): Promise<RemoteProgram> {
  const { server: service, close } = await openTestServer();
  let closed: Promise<void> | undefined;
  const cut = () => {
    closed ??= close();
    return closed;
  };
  onTestFinished(cut);
  const tenantOf = async (server: TestServer): Promise<Tenant> => ({
    server,
    token: await server.token(granted),
    secret: newSecret(),
  });
  const acme = await tenantOf(service);
  const beta = await tenantOf(await service.other());
  const stranger = await tenantOf(await service.other());
  const clock = new TestClock();
  const settings = {
    PROGRAMME_SCOPES: "",
    PROGRAMME_WEBHOOK_SECRETS: `acme=${acme.secret},beta=${beta.secret}`,
    PROGRAMME_WEBHOOK_READERS: `acme=${hashSha256Hex(acme.token)},beta=${hashSha256Hex(beta.token)}`,
    ...environment,
  };
  const app = await openRemote(service.origin, settings, { clock });
  onTestFinished(() => app.close());
  const { origin } = await app.listen();
  return { server: { ...service, app, origin, clock }, app, clock, acme, beta, stranger, cut };
}
