#!/usr/bin/env node
// Every Node since 14 must be able to read this file: what needs a newer one is imported only once that is known.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { keepCompiled } from "./lib/compile-cache.ts";
import { handOver, isSupported } from "./lib/runtime.ts";

const script = fileURLToPath(import.meta.url);

if (isSupported(process.versions.node)) run();
else handOver(dirname(dirname(script)), script);

function run() {
  muteSqliteWarning();
  keepCompiled(process.env, process.platform);
  import("./cli.ts").then(({ main }) => main(process.argv));
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
