import type { Config } from "../config/load.ts";
import type { McpEndpoint } from "../transport/http/mcp-endpoint.ts";
import type { HttpServer, HttpSurfaces } from "../transport/http/server.ts";
import type { CallerCheck } from "./callers.ts";
import type { CoreServices } from "./core-services.ts";
import type { HttpWiring } from "./http-wiring.ts";

/** The HTTP servers of this process: one for callers, and one for signed links alone if no other listens. */
export class HttpServers {
  readonly #config: Config;
  readonly #surfaces: HttpSurfaces;
  #main: { readonly server: HttpServer; readonly callerCheck?: CallerCheck } | undefined;
  #linkServer: Promise<HttpServer> | undefined;

  /** @param surfaces - what every server serves */
  constructor(config: Config, surfaces: HttpSurfaces) {
    this.#config = config;
    this.#surfaces = surfaces;
  }

  /** The server for callers, once it listens. */
  get http(): HttpServer | undefined {
    return this.#main?.server;
  }

  /** The MCP endpoint of the server for callers, once it listens. */
  get mcp(): McpEndpoint | undefined {
    return this.#main?.callerCheck?.mcp;
  }

  /** Returns the origin of links: the public address, or a server of this process, which is started if none listens. */
  async getOrigin(): Promise<string> {
    return this.#config.publicUrl ?? (this.http ?? (await this.#openLinkServer())).origin;
  }

  /**
   * Serves REST and MCP on the configured host and port.
   * @throws UsageError when the gateway keys cannot be used
   */
  async listen(wiring: Omit<HttpWiring, "surfaces">, services: CoreServices): Promise<HttpServer> {
    const { serveSurfaces } = await import("./http-wiring.ts");
    this.#main = await serveSurfaces(this.#config, { ...wiring, surfaces: this.#surfaces }, services);
    return this.#main.server;
  }

  /** Serves the pages for people alone on the configured host and port. */
  async listenForPeople(wiring: Omit<HttpWiring, "surfaces">, services: CoreServices): Promise<HttpServer> {
    const { servePages } = await import("./http-wiring.ts");
    const server = await servePages(this.#config, { ...wiring, surfaces: this.#surfaces }, services);
    this.#main = { server };
    return server;
  }

  /** Reads the file of gateway keys again, if there is one. */
  reloadKeys(): void {
    this.#main?.callerCheck?.keys?.reload();
  }

  /**
   * Accepts no new connections, and answers calls that wait for a human, who would hold up the stop. Resolves when the
   * open connections have ended.
   */
  async stopListening(): Promise<void> {
    await Promise.all([
      this.mcp?.answerWaiting(),
      this.http?.close(),
      this.#linkServer?.then((server) => server.close()),
    ]);
  }

  /** Ends the streams of MCP, which would otherwise last as long as their clients listen. */
  async closeStreams(): Promise<void> {
    await this.mcp?.close();
    await this.#main?.callerCheck?.issuer?.close();
  }

  #openLinkServer(): Promise<HttpServer> {
    this.#linkServer ??= import("../transport/http/server.ts").then(({ listenHttp }) =>
      listenHttp({ ...this.#config, host: "127.0.0.1", port: 0 }, this.#surfaces),
    );
    return this.#linkServer;
  }
}
