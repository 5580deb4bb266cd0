// Says on stderr which files of the program and which modules of Node are loaded.
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, next) {
    process.stderr.write(`loaded ${url.slice(url.lastIndexOf("/") + 1)}\n`);
    return next(url, context);
  },
});
