import { createServer, type IncomingMessage, type ServerResponse, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** One request on its way through. */
export interface PassingRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Lets the real service do what was asked; at most once. */
  forward(): Promise<Forwarded>;
}

interface Forwarded {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

export type Behaviour = (passing: PassingRequest, proxy: MisbehavingProxy) => Promise<void> | void;

/** A service that stands before a real one and behaves as a test says. */
export interface MisbehavingProxy {
  readonly origin: string;
  /** Where redirects lead. */
  readonly elsewhere: { readonly origin: string; readonly requests: IncomingMessage[] };
  readonly requests: IncomingMessage[];
  /** Says how each request is treated; nothing is good behaviour. */
  behave(choose: (request: IncomingMessage) => Behaviour | undefined): void;
  close(): Promise<void>;
}

export async function openMisbehaving(target: string): Promise<MisbehavingProxy> {
  let choose: (request: IncomingMessage) => Behaviour | undefined = () => undefined;
  const requests: IncomingMessage[] = [];
  const stray: IncomingMessage[] = [];
  const strays = createServer((request, response) => {
    stray.push(request);
    response.writeHead(200, json).end(JSON.stringify({ success: true, data: [] }));
  });
  const server = createServer(async (request, response) => {
    requests.push(request);
    const behaviour = choose(request) ?? well;
    let forwarded: Promise<Forwarded> | undefined;
    // What is done must not depend on whether the client waits for it.
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    const forward = () => (forwarded ??= forwardTo(target, request, body));
    await Promise.resolve(behaviour({ request, response, forward }, proxy)).catch(() => response.destroy());
  });
  const proxy: MisbehavingProxy = {
    origin: await listening(server),
    elsewhere: { origin: await listening(strays), requests: stray },
    requests,
    behave(chosen) {
      choose = chosen;
    },
    async close() {
      for (const each of [server, strays]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
    },
  };
  return proxy;
}

const json = { "content-type": "application/json" };

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function forwardTo(target: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Forwarded> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = { ...headers, host: new URL(target).host };
  send(`${target}${url}`, { method: method ?? "GET", headers: sent }, resolve)
    .on("error", reject)
    .end(body);
  const answer = await promise;
  const text = (await buffer(answer)).toString();
  return { status: answer.statusCode ?? 0, headers: answer.headers as Record<string, string>, text };
}

const well: Behaviour = async ({ response, forward }) => {
  const { status, headers, text } = await forward();
  response.writeHead(status, headers).end(text);
};

const status =
  (code: number, headers: Record<string, string> = {}, text = ""): Behaviour =>
  ({ response }) => {
    response.writeHead(code, headers).end(text);
  };

/** Behaves badly only once the request was carried out. */
const after =
  (behaviour: Behaviour): Behaviour =>
  async (passing, proxy) => {
    await passing.forward();
    await behaviour(passing, proxy);
  };

const changed =
  (change: (text: string) => string): Behaviour =>
  async ({ response, forward }) => {
    const answer = await forward();
    response.writeHead(answer.status, json).end(change(answer.text));
  };

const drop: Behaviour = ({ request }) => void request.socket.destroy();
const silence: Behaviour = () => undefined;

const drip: Behaviour = ({ response }) => {
  response.writeHead(200, json);
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
};

const garbage: Behaviour = ({ request }) => void request.socket.end("\u0000\u0001 this was never HTTP\r\n\r\n");

const cutInHalf: Behaviour = async ({ request, response, forward }) => {
  const { text } = await forward();
  response.writeHead(200, { ...json, "content-length": String(text.length + 10) });
  response.write(text.slice(0, text.length / 2), () => setTimeout(() => request.socket.destroy(), 10));
};

/** The answer that was asked for, behind more than anybody wants to read. */
const huge: Behaviour = async ({ response, forward }) => {
  const { text } = await forward();
  response.writeHead(200, json);
  const piece = " ".repeat(1024 * 1024);
  let sent = 0;
  const more = () => {
    while (!response.destroyed && sent++ < 20) if (!response.write(piece)) return void response.once("drain", more);
    response.end(text);
  };
  more();
};

const redirect =
  (code: number): Behaviour =>
  ({ response, request }, { elsewhere }) => {
    response.writeHead(code, { location: `${elsewhere.origin}${request.url}` }).end();
  };

const html = "<!doctype html><html><title>Maintenance</title><p>Back soon</p></html>";
const htmlType = { "content-type": "text/html" };
const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;

/** Everything that a service, or what stands before it, does wrong now and then. */
export const passingFaults = {
  "drops the connection before": drop,
  "drops the connection after": after(drop),
  "cuts an answer in half": cutInHalf,
  "is silent": silence,
  "is silent after": after(silence),
  drips: drip,
  "drips after": after(drip),
  "talks garbage": garbage,
  "talks garbage after": after(garbage),
  "answers bytes": status(200, json, "\u00ff\u00fe\u0000"),
  "answers 429": status(429),
  "answers 429 for a second": status(429, { "retry-after": "1" }),
  "answers 502": status(502, htmlType, html),
  "answers 502 after": after(status(502)),
  "answers 503": status(503),
  "answers 503 for a second": status(503, { "retry-after": "1" }),
  "answers 504 after": after(status(504)),
  "answers an HTML page": status(200, htmlType, html),
  "answers an HTML page after": after(status(200, json, html)),
  "answers truncated JSON": changed((text) => text.slice(0, -5)),
  "answers too much": huge,
  "answers success: false with 200": status(200, json, '{"success":false,"error":{"code":"OOPS","message":"no"}}'),
  "answers success: false with 200 after": after(status(200, json, '{"success":false}')),
  "answers nothing": status(200, json),
  "answers nothing after": after(status(204)),
  "answers without an envelope": status(200, json, "[]"),
  "answers without data": status(200, json, '{"success":true}'),
  "answers other types": changed((text) => JSON.stringify({ ...JSON.parse(text), data: "a text" })),
  "answers other types inside": changed((text) => text.replaceAll(/"(createdAt|name)":"/g, '"$1":[1],"x":"')),
  "answers what is too deep": changed((text) => text.replace(/\{"(programId|personId)"/, `{"x":${deep},"$1"`)),
  "redirects for now": redirect(302),
  "redirects for now, method kept": redirect(307),
} as const satisfies Record<string, Behaviour>;

export const lastingFaults = {
  "redirects for good": redirect(308),
  "answers 500": status(500, json, '{"success":false,"error":{"code":"internal_error","message":"at db.js:12"}}'),
  "answers 403 as a gateway does": status(403, htmlType, html),
  "answers 404 as a gateway does": status(404, htmlType, html),
} as const satisfies Record<string, Behaviour>;

/** Good behaviour but for the JSON of the answer. */
export function answering(
  change: (answer: { data: never; meta?: object } & Record<string, unknown>) => unknown,
): Behaviour {
  return changed((text) => JSON.stringify(change(JSON.parse(text))));
}

export { drop, status };
