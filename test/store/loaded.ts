import { createRequire } from "node:module";
import { openStore } from "../../src/store/open.ts";

/** Opens a database, `loaded.ts <database>`, and prints which drivers were loaded for it. */
const [database = ""] = process.argv.slice(2);
const store = await openStore({ database });
await store.close();
const { cache } = createRequire(import.meta.url);
const { moduleLoadList } = process as unknown as { moduleLoadList: readonly string[] };
const drivers = {
  pg: Object.keys(cache).some((path) => /[\\/]node_modules[\\/]pg[\\/]/.test(path)),
  sqlite: moduleLoadList.some((name) => name.endsWith(" sqlite")),
};
process.stdout.write(JSON.stringify(drivers));
