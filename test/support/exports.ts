import { onTestFinished } from "vitest";
import type { Desk } from "./desk.ts";
import { openDesk } from "./desk.ts";
import { openFileDesks } from "./files.ts";
import { type RawAnswer, send } from "./raw.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
type Data = any;

/** A service of its own for one test, on a database file. */
export async function fileDesk(environment: Record<string, string> = {}) {
  const { desks, database, close } = await openFileDesks(1, environment);
  onTestFinished(close);
  return { desk: desks[0] as Desk, database };
}

export async function memoryDesk(environment: Record<string, string> = {}): Promise<Desk> {
  const { desk, close } = await openDesk(environment);
  onTestFinished(close);
  return desk;
}

/** Works off what waits. */
export async function workOff({ app }: Desk): Promise<void> {
  while (await app.exports?.step());
}

/** The job as a token that may read exports sees it. */
export async function jobOf(desk: Desk, exportId: string): Promise<Data> {
  return (await desk.as("REST", ["exports:read"])).get_export({ exportId });
}

export async function download(desk: Desk, exportId: string): Promise<RawAnswer> {
  const { downloadUrl } = await jobOf(desk, exportId);
  return send(downloadUrl, {});
}

/** Asks for an export as a token with these scopes (all by default), works it off and gives its file. */
export async function exported(
  desk: Desk,
  input: Record<string, unknown>,
  granted?: Parameters<Desk["as"]>[1],
): Promise<Data> {
  const { exportId } = await (await desk.as("REST", granted)).create_export(input);
  await workOff(desk);
  return (await download(desk, exportId)).body;
}
