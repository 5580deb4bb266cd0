import { SERVER_INFO_META_KEY, Server, type ServerOptions } from "@modelcontextprotocol/server";
import { createHandshakeInfo, createServerInfo } from "./server-info.ts";

/** A server whose handshake has its icons. Other results identify it without them. */
export class IdentifiedServer extends Server {
  readonly #version: string;

  constructor(version: string, options: ServerOptions) {
    super(createHandshakeInfo(version), options);
    this.#version = version;
  }

  protected override _outboundServerInfo() {
    return createServerInfo(this.#version);
  }

  protected override _wrapHandler(...[method, handler]: Parameters<Server["_wrapHandler"]>) {
    const wrapped = super._wrapHandler(method, handler);
    if (method !== "server/discover") return wrapped;
    return async (...request: Parameters<typeof wrapped>) => {
      const identity = { [SERVER_INFO_META_KEY]: createHandshakeInfo(this.#version) };
      return { ...(await wrapped(...request)), _meta: identity };
    };
  }
}
