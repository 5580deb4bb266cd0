/** fastmcp with the tools of an OpenAPI document: `node fastmcp-server.mjs stdio|http DOCUMENT BASE_URL TOKEN [PORT]`. */
import { fromOpenAPI } from "fastmcp/openapi";

const [transport, spec, baseUrl, token, port] = process.argv.slice(2);
const server = await fromOpenAPI({ spec, baseUrl, headers: { authorization: `Bearer ${token}` }, maxTools: 100 });
await server.start(
  transport === "stdio"
    ? { transportType: "stdio" }
    : { transportType: "httpStream", httpStream: { port: Number(port), host: "127.0.0.1" } },
);
