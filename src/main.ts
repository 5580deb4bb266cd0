#!/usr/bin/env node
// Every Node since 14 must be able to read this file: what needs a newer one is imported only once that is known.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { enableCompileCache } from "./lib/node/compile-cache.ts";
import { isSupported, relaunch } from "./lib/node/node-relaunch.ts";

const script = fileURLToPath(import.meta.url);

if (isSupported(process.versions.node)) run();
else relaunch(dirname(dirname(script)), script);

function run() {
  muteSqliteWarning();
  enableCompileCache(process.env, process.platform);
  import("./cli/cli.ts").then(({ runCli }) => runCli(process.argv));
}

/** Node calls its SQLite experimental in every process that opens a database; other warnings stay. */
function muteSqliteWarning() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).startsWith("SQLite is an experimental feature")) {
      Reflect.apply(emitWarning, process, [warning, ...rest]);
    }
  };
}
