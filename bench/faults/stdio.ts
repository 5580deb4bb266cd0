import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Answer, toToolAnswer } from "./client.ts";
import { type Installation, onEnd } from "./program.ts";

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** The built program as a client starts it over stdio. */
export interface StdioProgram {
  readonly pid: number;
  /** Resolves to undefined if the program ends first. */
  callTool(name: string, args: object, key?: string): Promise<Answer | undefined>;
  kill(): Promise<void>;
}

export async function startStdio(
  { directory, settings, token }: Installation,
  nodeArguments: readonly string[] = [],
): Promise<StdioProgram> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: directory, ...settings, PROGRAMME_TOKEN: token };
  const child = spawn(process.execPath, [...nodeArguments, main, "stdio"], { env, stdio: ["pipe", "pipe", "ignore"] });
  onEnd(() => child.kill("SIGKILL"));
  const closed = once(child, "close").then(() => undefined);
  // biome-ignore lint/suspicious/noExplicitAny: messages of JSON-RPC
  const waiting = new Map<number, (message: any) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let lastId = 0;
  const ask = (method: string, params: object) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    lastId += 1;
    waiting.set(lastId, resolve);
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params })}\n`);
    return Promise.race([promise, closed]);
  };
  const clientInfo = { name: "faults", version: "1.0.0" };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return {
    pid: child.pid ?? 0,
    async callTool(name, args, key) {
      const meta = key === undefined ? {} : { _meta: { "programme-mcp/idempotencyKey": key } };
      const message = await ask("tools/call", { name, arguments: args, ...meta });
      return message === undefined ? undefined : toToolAnswer(message);
    },
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
