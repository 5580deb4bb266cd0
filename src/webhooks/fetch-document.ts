import type { AddressGuard } from "./address-guard.ts";
import { AddressRefused, createSafeConnector, type Resolve } from "./safe-connector.ts";

export interface DocumentFetcherOptions {
  readonly isBlocked: AddressGuard;
  readonly resolve: Resolve;
  readonly userAgent: string;
}

const timeoutMs = 5_000;
export const maxDocumentBytes = 16 * 1024;

export interface DocumentFetcher {
  /**
   * Fetches a small JSON document from an https address that a stranger has named. Follows no redirect, and reaches no
   * private address.
   */
  fetchDocument(url: string): Promise<unknown>;
  /** Returns false if an attempt has failed and no address has ever answered: this network may have no way out. */
  isOnline(): boolean;
}

export function createDocumentFetcher({ isBlocked, resolve, userAgent }: DocumentFetcherOptions): DocumentFetcher {
  let hasAnswered = false;
  let hasFailed = false;

  async function fetchDocument(url: string): Promise<unknown> {
    const { origin, pathname, search, protocol } = new URL(url);
    if (protocol !== "https:") throw new Error("The address is not one of https");
    const { Client } = await import("undici");
    const connect = await createSafeConnector(isBlocked, resolve, timeoutMs);
    const client = new Client(origin, { connect, maxResponseSize: maxDocumentBytes });
    try {
      const headers = { accept: "application/json", "user-agent": userAgent };
      const request = { method: "GET", path: pathname + search, headers, reset: true } as const;
      const { statusCode, body } = await client.request({ ...request, signal: AbortSignal.timeout(timeoutMs) });
      hasAnswered = true;
      if (statusCode !== 200) throw new Error(`The address answered ${statusCode}`);
      return await body.json();
    } catch (error) {
      hasFailed ||= !(error instanceof AddressRefused);
      throw error;
    } finally {
      void client.destroy();
    }
  }

  return { fetchDocument, isOnline: () => hasAnswered || !hasFailed };
}
