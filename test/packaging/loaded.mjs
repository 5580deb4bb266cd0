// Says on stderr which of the program's files are loaded.
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) process.stderr.write(`loaded ${url.slice(url.lastIndexOf("/") + 1)}\n`);
    return next(url, context);
  },
});
