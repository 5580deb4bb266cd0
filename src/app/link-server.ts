import type { Config } from "../config/load.ts";
import type { HttpServer, HttpSurfaces } from "../transport/http/server.ts";

/** A port of this machine's for links alone, opened when the first is made: over stdio nothing else listens. */
export interface LinkServer {
  open(): Promise<HttpServer>;
  close(): Promise<void>;
}

export function createLinkServer(config: Config, surfaces: () => HttpSurfaces): LinkServer {
  let opened: Promise<HttpServer> | undefined;
  return {
    open() {
      opened ??= import("../transport/http/server.ts").then(({ listenHttp }) =>
        listenHttp({ ...config, host: "127.0.0.1", port: 0 }, surfaces()),
      );
      return opened;
    },
    async close() {
      await (await opened)?.close();
    },
  };
}
