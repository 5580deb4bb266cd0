import type { IncomingMessage, ServerResponse } from "node:http";

/** The readiness of the program, with the checks behind it. */
export interface Readiness {
  readonly ready: boolean;
  /** `draining` once the program has been asked to stop. */
  readonly status: "ready" | "not_ready" | "draining";
  /** The result of each check in a word. It is public. */
  readonly checks: Readonly<Record<string, string>>;
}

/** Answers `/healthz` (the process runs) and `/readyz`. Returns false for any other request. */
export type Probes = (request: IncomingMessage, response: ServerResponse) => boolean;

/** @param checkReadiness - never rejects */
export function createProbes(checkReadiness: () => Promise<Readiness>): Probes {
  return (request, response) => {
    const { url, method = "" } = request;
    if ((url !== "/healthz" && url !== "/readyz") || !["GET", "HEAD"].includes(method)) return false;
    if (url === "/healthz") sendJson(response, 200, { status: "ok" });
    else void checkReadiness().then(({ ready, ...body }) => sendJson(response, ready ? 200 : 503, body));
    return true;
  };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
