import type { AddressGuard } from "./address-guard.ts";
import { createSafeConnector, type Resolve } from "./safe-connector.ts";

export interface DocumentFetcherOptions {
  readonly isBlocked: AddressGuard;
  readonly resolve: Resolve;
  readonly userAgent: string;
}

const timeoutMs = 5_000;
export const maxDocumentBytes = 16 * 1024;

/**
 * Returns a function that fetches a small JSON document from an https address that a stranger has named. It follows no
 * redirect, and reaches no private address.
 */
export function createDocumentFetcher({ isBlocked, resolve, userAgent }: DocumentFetcherOptions) {
  return async (url: string): Promise<unknown> => {
    const { origin, pathname, search, protocol } = new URL(url);
    if (protocol !== "https:") throw new Error("The address is not one of https");
    const { Client } = await import("undici");
    const connect = await createSafeConnector(isBlocked, resolve, timeoutMs);
    const client = new Client(origin, { connect, maxResponseSize: maxDocumentBytes });
    try {
      const headers = { accept: "application/json", "user-agent": userAgent };
      const request = { method: "GET", path: pathname + search, headers, reset: true } as const;
      const { statusCode, body } = await client.request({ ...request, signal: AbortSignal.timeout(timeoutMs) });
      if (statusCode !== 200) throw new Error(`The address answered ${statusCode}`);
      return await body.json();
    } finally {
      void client.destroy();
    }
  };
}
