import type { IncomingMessage, ServerResponse } from "node:http";

/** Whether requests should come here, and what that was judged by. */
export interface Readiness {
  readonly ready: boolean;
  /** `draining` from when the program was told to stop. */
  readonly status: "ready" | "not_ready" | "draining";
  /** Each thing by its name, in a word: it is told to anybody. */
  readonly checks: Readonly<Record<string, string>>;
}

/** Answers `/healthz` (the process lives) and `/readyz`; false where the request is neither. */
export type Probes = (request: IncomingMessage, response: ServerResponse) => boolean;

/** @param look - never rejects */
export function createProbes(look: () => Promise<Readiness>): Probes {
  return (request, response) => {
    const { url, method = "" } = request;
    if ((url !== "/healthz" && url !== "/readyz") || !["GET", "HEAD"].includes(method)) return false;
    if (url === "/healthz") sendJson(response, 200, { status: "ok" });
    else void look().then(({ ready, ...told }) => sendJson(response, ready ? 200 : 503, told));
    return true;
  };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
