import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { addOptions } from "../config/options.ts";
import { addExamples } from "./help.ts";

export function addStdio(command: Command): void {
  addOptions(command, "stdio").action(async (options) => {
    const { serveStdio } = await import("../commands/stdio.ts");
    await serveStdio(loadConfig(process.env, options));
  });
  addExamples(
    command,
    ["stdio --database programme.db", "serve a database of your own"],
    ["stdio --read-only --toolsets programs,submissions", "offer some tools, read-only"],
  );
}

export function addConsole(command: Command): void {
  addOptions(command, "console").action(async (options) => {
    const { serveConsole } = await import("../commands/serve.ts");
    await serveConsole(loadConfig(process.env, options));
  });
  addExamples(command, ["console --database programme.db", "approve what agents over stdio want to do"]);
}

export function addHttp(command: Command): void {
  addOptions(command, "http").action(async (options) => {
    const { serveHttp } = await import("../commands/serve.ts");
    await serveHttp(loadConfig(process.env, options));
  });
  addExamples(
    command,
    ["http --port 8080 --database programme.db", "serve a database of your own on another port"],
    [
      "http --host 0.0.0.0 --public-url https://mcp.example.org",
      "serve other machines, behind a proxy that terminates TLS",
    ],
  );
}
