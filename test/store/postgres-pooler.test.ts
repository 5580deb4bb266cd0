import { connect, createServer, type Socket } from "node:net";
import { beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open.ts";
import { type Databases, openDatabases } from "../support/database/database-server.ts";
import { freePort } from "../support/processes/free-port.ts";

let databases: Databases;

beforeAll(async () => {
  databases = await openDatabases({ given: inject("postgres") });
  return () => databases.stop();
});

/** The startup parameters that PgBouncer accepts. It refuses others, unless it is configured to ignore them. */
const taken = ["user", "database", "client_encoding", "datestyle", "timezone", "standard_conforming_strings"];
const ignored = ["application_name", "fallback_application_name"];
const [encryptionRequest, protocolVersion] = [80_877_103, 196_608];

/** Opens a proxy that begins connections as PgBouncer in session mode does. */
async function openSessionPooler(database: string): Promise<string> {
  const { hostname, port: behind } = new URL(database);
  const sockets = new Set<Socket>();
  const pooler = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("data", begin);
    function begin(message: Buffer): void {
      const code = message.readInt32BE(4);
      if (code === encryptionRequest) return void socket.write("N");
      socket.off("data", begin);
      if (code !== protocolVersion) return void socket.destroy();
      const names = message
        .subarray(8)
        .toString()
        .split("\0")
        .filter((_, index) => index % 2 === 0);
      const unknown = names.find((name) => name !== "" && ![...taken, ...ignored].includes(name));
      if (unknown !== undefined) return void socket.end(refusal(`unsupported startup parameter: ${unknown}`));
      const server = connect(Number(behind), hostname);
      sockets.add(server);
      server.on("error", () => socket.destroy());
      server.write(message);
      socket.pipe(server).pipe(socket);
    }
  });
  const port = await freePort();
  await new Promise<void>((resolve) => pooler.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    pooler.close();
  });
  return Object.assign(new URL(database), { port: String(port) }).href;
}

function refusal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from("E"), length, fields]);
}

async function pooled(): Promise<string> {
  const { database, remove } = await databases.copy();
  onTestFinished(remove);
  return openSessionPooler(database);
}

test("a pooler in session mode works without a setting", async () => {
  const store = await openStore({ database: await pooled() });
  onTestFinished(() => store.close());
  await store.insertBusiness({ businessId: "biz_one", name: "One", createdAt: "2030-01-01T00:00:00.000Z" });
  expect(await store.listBusinesses()).toHaveLength(1);
});

test("a parameter that a pooler does not accept is refused with advice on what to set", async () => {
  const database = `${await pooled()}?options=-csearch_path%3Dprogramme`;
  await expect(openStore({ database })).rejects.toThrow(/does not take `options`.*ignore_startup_parameters = options/);
});
