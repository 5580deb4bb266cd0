import { connect, type DetailedPeerCertificate } from "node:tls";
import type { connectRemote } from "../../app/remote-wiring.ts";
import type { Config } from "../../config/load.ts";
import { Problem } from "../../contract/errors.ts";
import { isObject } from "../../lib/json-value.ts";
import { version } from "../../lib/version.ts";
import { createFailure, createPass, createSkip, createWarning, type DoctorCheck } from "./check.ts";

type Remote = ReturnType<typeof connectRemote>;
type Response = Awaited<ReturnType<Remote["client"]["send"]>>;

const tryTimeoutMs = 15_000;

/** Checks that the product's service answers with a valid certificate, accepts the token and has the same time. */
export async function checkService(config: Config, baseUrl: string, { client }: Remote): Promise<DoctorCheck[]> {
  const url = new URL(baseUrl);
  const path = `${url.pathname.replace(/\/$/, "")}/integrations/v1/programs`;
  const authorization = config.token === undefined ? {} : { authorization: `Bearer ${config.token}` };
  const headers = { ...authorization, accept: "application/json", "user-agent": `programme-mcp/${version}` };
  const signal = AbortSignal.timeout(tryTimeoutMs);
  const ask = (address: string) => client.send({ method: "GET", path: address, headers, signal });
  try {
    const startedMs = performance.now();
    const listed = await ask(`${path}?limit=1`);
    const tookMs = performance.now() - startedMs;
    // Some servers answer every path alike.
    const unknown = listed.status === 200 ? await ask(`${path}/no-such-record`) : undefined;
    const service = checkAnswer(config, url, { listed, unknown, tookMs });
    return [
      service,
      await checkCertificate(config, url, client.proxied),
      checkClock(listed, tookMs),
      ...(service.status === "ok" ? [checkToken(config, listed)] : []),
    ];
  } catch (error) {
    return [checkFailure(url, error)];
  }
}

interface Answers {
  /** The response to the list of programmes. */
  readonly listed: Response;
  /** The response for a programme that does not exist, if the list succeeded. */
  readonly unknown: Response | undefined;
  readonly tookMs: number;
}

/** Checks that the responses are those of the programme service. */
function checkAnswer({ token }: Config, url: URL, { listed, unknown, tookMs }: Answers): DoctorCheck {
  const name = "service";
  const { origin, pathname } = url;
  const { status, headers } = listed;
  const took = `${origin} answers in ${Math.round(tookMs)} ms`;
  if (status >= 300 && status < 400) {
    const fix = "Set PROGRAMME_BASE_URL to the address that it redirects to: the token is never sent on.";
    return createFailure(
      name,
      `${took}, but redirects (${status}) to ${resolveOrigin(headers["location"], origin)}.`,
      fix,
    );
  }
  if (status >= 500)
    return createFailure(name, `${took}, but with status ${status}.`, "Try again later, or ask its operator.");
  if (!isList(listed) && !(isRefusal(listed) && [401, 403, 429].includes(status))) {
    const added = /\/(?:integrations\/v1|mcp)(?=\/|$).*/.exec(pathname)?.[0];
    const fix = added
      ? `Take ${added} off the end of PROGRAMME_BASE_URL.`
      : "Check PROGRAMME_BASE_URL: it is the address without /integrations/v1.";
    return createFailure(name, `${took}, but not as the programme service does (status ${status}).`, fix);
  }
  if (unknown && (token === undefined || !isRefusal(unknown))) {
    const requestKind = token === undefined ? "a caller without a token" : "a request for what does not exist";
    const found = `${took}, but not as the programme service does: ${requestKind} gets status ${unknown.status}.`;
    return createFailure(name, found, "Check PROGRAMME_BASE_URL: something else answers there.");
  }
  return createPass(name, `${took}.`);
}

function checkFailure({ origin }: URL, error: unknown): DoctorCheck {
  const { code, details, message } = error instanceof Problem ? error : new Problem("upstream_timeout");
  const cause = String(details?.["cause"] ?? message);
  const fixes: Readonly<Record<string, string>> = {
    upstream_untrusted: "If it is signed by an authority of your own, name its certificate in PROGRAMME_CA_FILE.",
    upstream_unreachable: "Check PROGRAMME_BASE_URL, the network, and HTTPS_PROXY if there is a proxy.",
  };
  return createFailure(
    "service",
    `${origin} cannot be used: ${cause}.`,
    fixes[code] ?? "Try again; then ask its operator.",
  );
}

/** Checks for the envelope of a list (specification 2.1). */
function isList({ text }: Response): boolean {
  const { success, data } = parseObject(text);
  return success === true && Array.isArray(data);
}

/** Checks for the envelope of an error (specification 7). */
function isRefusal({ text }: Response): boolean {
  const { success, error } = parseObject(text);
  return success === false && isObject(error) && typeof error["code"] === "string";
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function resolveOrigin(location: string | undefined, base: string): string {
  return location !== undefined && URL.canParse(location, base) ? new URL(location, base).origin : "nowhere";
}

const dayMs = 86_400_000;
const soonDays = 14;

/** Checks when the certificate expires. A request has already accepted it. */
async function checkCertificate(
  { caFile }: Config,
  { protocol, hostname, port }: URL,
  proxied: boolean,
): Promise<DoctorCheck> {
  const name = "certificate";
  if (protocol !== "https:") return createSkip(name, "The service is on this machine, without encryption.");
  const trusted = `It is trusted${caFile === undefined ? "" : " by PROGRAMME_CA_FILE"}`;
  const expiresMs = proxied
    ? undefined
    : await readCertificateExpiry(hostname.replace(/^\[|\]$/g, ""), Number(port || 443));
  if (expiresMs === undefined) return createPass(name, `${trusted}.`);
  const days = Math.floor((expiresMs - Date.now()) / dayMs);
  const found = `${trusted} and expires in ${days} days.`;
  return days >= soonDays
    ? createPass(name, found)
    : createWarning(name, found, "Ask the service's operator to renew it.");
}

function readCertificateExpiry(host: string, port: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  // Nothing is sent on this connection. The earlier request has already verified the certificate.
  const socket = connect({ host, port, servername: host, rejectUnauthorized: false, timeout: 5_000 }, () => {
    const { valid_to: validTo } = socket.getPeerCertificate() as Partial<DetailedPeerCertificate>;
    const expiresMs = Date.parse(validTo ?? "");
    resolve(Number.isFinite(expiresMs) ? expiresMs : undefined);
    socket.destroy();
  });
  for (const event of ["error", "timeout", "close"] as const) socket.once(event, () => resolve(undefined));
  return promise.finally(() => socket.destroy());
}

const [noticeableSeconds, harmfulSeconds] = [30, 300];

/** Checks the clock, on which confirmations, export quotas and webhook signatures depend. */
function checkClock({ headers }: Response, tookMs: number): DoctorCheck {
  const name = "clock";
  const theirsMs = Date.parse(headers["date"] ?? "");
  if (!Number.isFinite(theirsMs)) return createSkip(name, "The service does not say what time it is.");
  // The header has whole seconds and was written during the request.
  const apartSeconds = Math.abs(Date.now() - tookMs / 2 - (theirsMs + 500)) / 1000;
  const found = `This machine and the service are ${Math.round(apartSeconds)} seconds apart.`;
  const fix = "Set this machine's clock by NTP; if it is right, tell the service's operator.";
  if (apartSeconds > harmfulSeconds) return createFailure(name, found, fix);
  return apartSeconds > noticeableSeconds ? createWarning(name, found, fix) : createPass(name, found);
}

function checkToken({ token }: Config, { status }: Response): DoctorCheck {
  const name = "token";
  if (token === undefined) {
    const fix = "Over stdio set PROGRAMME_TOKEN; over HTTP each caller brings its own.";
    return createWarning(name, "There is no PROGRAMME_TOKEN: calls that need one were not tried.", fix);
  }
  if (status === 401) {
    const fix = "Make a new token in the product's Integrations area and set PROGRAMME_TOKEN to it.";
    return createFailure(name, "The service does not know the token: it is wrong, expired or revoked.", fix);
  }
  if (status === 429) return createWarning(name, "The service had no time for this token.", "Try again in a minute.");
  return createPass(name, "The service knows the token.");
}
