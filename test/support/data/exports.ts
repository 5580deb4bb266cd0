import { onTestFinished } from "vitest";
import { type RawAnswer, send } from "../clients/raw-http.ts";
import { openServersOnOneDatabase } from "../database/shared-database.ts";
import type { TestServer } from "../servers/test-server.ts";
import { openTestServer } from "../servers/test-server.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
type Data = any;

/** A service of its own for one test, on a database file. */
export async function openFileServer(environment: Record<string, string> = {}) {
  const { servers, database, close } = await openServersOnOneDatabase(1, environment);
  onTestFinished(close);
  return { server: servers[0] as TestServer, database };
}

export async function openMemoryServer(environment: Record<string, string> = {}): Promise<TestServer> {
  const { server, close } = await openTestServer(environment);
  onTestFinished(close);
  return server;
}

/** Works off what waits. */
export async function runDueExports({ app }: TestServer): Promise<void> {
  while (await app.exports?.step());
}

/** The job as a token with all scopes sees it: any other may get no link to its file. */
export async function loadJob(server: TestServer, exportId: string): Promise<Data> {
  return (await server.as("REST")).get_export({ exportId });
}

export async function download(server: TestServer, exportId: string): Promise<RawAnswer> {
  const { downloadUrl } = await loadJob(server, exportId);
  return send(downloadUrl, {});
}

/** Asks for an export as a token with these scopes (all by default), works it off and gives its file. */
export async function runExport(
  server: TestServer,
  input: Record<string, unknown>,
  granted?: Parameters<TestServer["as"]>[1],
): Promise<Data> {
  const { exportId } = await (await server.as("REST", granted)).create_export(input);
  await runDueExports(server);
  return (await download(server, exportId)).body;
}
