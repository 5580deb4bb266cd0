import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface MetricsServer {
  /** `http://127.0.0.1:9464/metrics` */
  readonly url: string;
  close(): Promise<void>;
}

export interface MetricsPage {
  readonly contentType: string;
  readonly text: string;
}

/** Scrapers are few. */
export const maxMetricsConnections = 16;
const timeoutMs = 5_000;

/**
 * Serves `GET /metrics` on an address of its own: not everyone who may call tools may read metrics, and metrics are needed
 * most when the main server is overloaded.
 */
export async function serveMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  render: () => Promise<MetricsPage>,
): Promise<MetricsServer> {
  const limits = { headersTimeout: timeoutMs, requestTimeout: timeoutMs, connectionsCheckingInterval: timeoutMs };
  const server = createServer(limits, (request, response) => {
    if (request.url !== "/metrics" || request.method !== "GET") {
      response.writeHead(404).end();
      return;
    }
    render().then(
      ({ contentType, text }) => response.writeHead(200, { "content-type": contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.maxConnections = maxMetricsConnections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { address, port: bound, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${bound}/metrics`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
