/**
 * Measures several processes on PostgreSQL under load while something around them changes: the version of the program
 * (`upgrade`), the server of the database (`promotion`), a pooler before it (`pooler`), standbys that answer lists
 * (`replicas`). Prints the results, and stores them for `docs/scaling.md`. Exits with 1 if an acknowledged change is
 * lost that should not be, there twice, or not shown by the next list.
 *
 * `node bench/cluster.ts [--cases upgrade,promotion,pooler,replicas] [--from REVISION]`
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { measurePooler } from "./cluster/pooler.ts";
import { endAll } from "./cluster/program.ts";
import { measurePromotion } from "./cluster/promotion.ts";
import { measureReplicas } from "./cluster/replicas.ts";
import { measureUpgrade } from "./cluster/upgrade.ts";

const { values: options } = parseArgs({
  options: { cases: { type: "string", default: "upgrade,promotion,pooler,replicas" }, from: { type: "string" } },
});

const cases = {
  upgrade: () => measureEach([() => measureUpgrade(options.from)]),
  promotion: () =>
    measureEach([
      () => measurePromotion(true, 0),
      () => measurePromotion(true, 500),
      () => measurePromotion(false, 0),
      () => measurePromotion(false, 500),
    ]),
  pooler: () => measureEach([() => measurePooler(false), () => measurePooler(true)]),
  replicas: () => measureEach([() => measureReplicas(false), () => measureReplicas(true)]),
} as const;

const file = new URL("results/cluster.json", import.meta.url);
let failed = false;
for (const name of options.cases.split(",") as (keyof typeof cases)[]) {
  const results = await cases[name]();
  console.log(name, results);
  for (const result of results) {
    const mayLose = "isSynchronous" in result && !result.isSynchronous;
    if (result.doubled > 0 || (!mayLose && result.lost + result.unseen > 0)) failed = true;
  }
  const stored = JSON.parse(readFileSync(file, { encoding: "utf8", flag: "a+" }) || "{}");
  writeFileSync(file, `${JSON.stringify({ ...stored, [name]: results }, null, 2)}\n`);
}
// Explicit, because the package that runs PostgreSQL exits with 0 whatever `process.exitCode` is.
process.exit(failed ? 1 : 0);

async function measureEach<R>(runs: readonly (() => Promise<R>)[]): Promise<R[]> {
  const results: R[] = [];
  for (const run of runs) {
    try {
      results.push(await run());
    } finally {
      await endAll();
    }
  }
  return results;
}
