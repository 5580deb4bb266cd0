import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** The two ways by which a plain request is answered: beside the SDK, or by it. */
export const answerPaths = ["fast path", "SDK"] as const;
export type AnswerPath = (typeof answerPaths)[number];

/** A member that no revision knows: a message with it is left to the SDK, which lets it pass. */
const unknownMeta = { "com.example/path": "SDK" };

type Message = { readonly method?: string; readonly params?: { readonly _meta?: object } };

/** A message that takes that path. */
export function byAnswerPath<M extends Message>(answerPath: AnswerPath, message: M): M {
  if (answerPath === "fast path" || !message.method?.startsWith("tools/")) return message;
  return { ...message, params: { ...message.params, _meta: { ...message.params?._meta, ...unknownMeta } } };
}

export interface Listener {
  readonly origin: string;
  close(): Promise<void>;
}

/** Forwards requests to a server by one path, with a token that their sender has no option for. */
export async function listenFor(origin: string, token: string, answerPath: AnswerPath): Promise<Listener> {
  const server = createServer(async (incoming, response) => {
    const body = await bodyOf(incoming, answerPath);
    const length = body.length > 0 ? { "content-length": String(body.length) } : {};
    const headers = { ...incoming.headers, ...length, authorization: `Bearer ${token}` };
    // A page of this address is the server's own page, as behind any proxy.
    if (headers.origin === `http://${headers.host}`) headers.origin = origin;
    const options = { method: incoming.method, headers, setHost: false };
    const outgoing = httpRequest(`${origin}${incoming.url}`, options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    outgoing.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(incoming: IncomingMessage, answerPath: AnswerPath): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  try {
    return Buffer.from(JSON.stringify(byAnswerPath(answerPath, JSON.parse(body.toString()))));
  } catch {
    return body;
  }
}
