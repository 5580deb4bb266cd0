import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { RawAnswer } from "../clients/raw-http.ts";
import { temporaryDirectory } from "../processes/directory.ts";
import { freePort } from "../processes/free-port.ts";
import { type Behind, listTools, openGateway, postMcp } from "./gateway.ts";
import { openIssuer, type TestIssuer } from "./issuer.ts";
import { openTestServer, TestClock } from "./test-server.ts";

/** A service whose MCP takes tokens of an issuer, and knows its subjects by a file of keys. */
export async function openGuardedServer(behind: Behind = "embedded", environment: Record<string, string> = {}) {
  const port = await freePort();
  const issuer = await openIssuer(new TestClock(), `${addressAt(port)}/mcp`);
  return { ...(await openGuardedAt(port, behind, issuer, environment)), issuer };
}

/** The same with an issuer that is there already. */
export async function openServerGuardedBy(issuer: TestIssuer, environment: Record<string, string>) {
  return openGuardedAt(await freePort(), "embedded", issuer, environment);
}

async function openGuardedAt(port: number, behind: Behind, issuer: TestIssuer, environment: Record<string, string>) {
  const gateway = await openGateway(behind, { ...settingsAt(port, issuer), ...environment });
  const product = await gateway.server.token();
  const tokenFile = await gateway.keep(product);
  await gateway.admit({ name: "anna", subject: "anna", tokenFile });
  return { ...gateway, product, tokenFile };
}

const addressAt = (port: number) => `http://127.0.0.1:${port}`;

function settingsAt(port: number, issuer: TestIssuer): Record<string, string> {
  return {
    PROGRAMME_PORT: String(port),
    PROGRAMME_PUBLIC_URL: addressAt(port),
    PROGRAMME_OAUTH_ISSUER: issuer.address,
  };
}

/** A service for whose MCP a single token of its own stands behind all subjects. */
export async function openShared() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const database = join(directory.path, "programme.db");
  const first = await openTestServer({ PROGRAMME_DATABASE: database });
  const product = await first.server.token();
  await first.close();
  const port = await freePort();
  const issuer = await openIssuer(first.server.clock, `${addressAt(port)}/mcp`);
  const { server, close } = await openTestServer({
    PROGRAMME_DATABASE: database,
    PROGRAMME_TOKEN: product,
    ...settingsAt(port, issuer),
  });
  onTestFinished(close);
  return { server, issuer };
}

export const readStatus = async (server: { origin: string }, token: string) =>
  (await postMcp(server, token, listTools)).status;

export function readChallenge({ headers }: RawAnswer): Record<string, string> {
  const header = headers.get("www-authenticate") ?? "";
  return Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
}

export async function expectRefused(server: { origin: string }, token: string): Promise<void> {
  const answer = await postMcp(server, token, listTools);
  expect([answer.status, answer.body?.error.data.code], token).toEqual([401, "invalid_token"]);
  expect(readChallenge(answer)).toMatchObject({
    error: "invalid_token",
    resource_metadata: `${server.origin}/.well-known/oauth-protected-resource/mcp`,
  });
}
