import {
  type AuthInfo,
  type InitializeRequestParams,
  isInitializeRequest,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type MessageExtraInfo,
  type Server,
  type Transport,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Elicitations } from "./elicitations.ts";
import type { SessionTerms } from "./session-id.ts";

export interface ExchangeDeps {
  /** Makes the server that answers. */
  readonly serve: () => GreetedServer;
  readonly questions: Elicitations;
  /** Requests that are being answered, by session and id. */
  readonly running: Map<string, SessionRequest>;
  readonly maxBodyBytes: number;
}

/** A server that can be made to know a client without anybody noticing. */
export interface GreetedServer extends Server {
  unwatched(work: () => Promise<void>): Promise<void>;
}

const greetingId = "greeting";

/**
 * One HTTP request of a session, with a server of its own: it is told what client and server agreed on when the session
 * was opened, in whichever process that was.
 */
export class SessionRequest implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #deps: ExchangeDeps;
  readonly #inner: WebStandardStreamableHTTPServerTransport;
  /** Questions that this exchange waits for, by the server's own number, and their names. */
  readonly #asked = new Map<unknown, string>();
  readonly #terms: SessionTerms | undefined;
  #opened = "";
  #server: Promise<void> | undefined;
  #greeted: (() => void) | undefined;

  /** @param terms - nothing for the request that opens the session */
  constructor(deps: ExchangeDeps, terms: SessionTerms | undefined) {
    this.#deps = deps;
    this.#terms = terms;
    this.#inner = new WebStandardStreamableHTTPServerTransport({
      maxRequestBodySize: deps.maxBodyBytes,
      ...(terms ? {} : { sessionIdGenerator: () => this.#opened }),
    });
    this.#inner.onmessage = (message, extra) => this.#take(message, extra);
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => this.#end();
  }

  /**
   * Answers the request that opens a session.
   * @param seal - gives the session its id
   */
  async open(request: Request, opening: SessionOpening, seal: (server: Server) => string): Promise<Response> {
    const { parsedBody, authInfo } = opening;
    const server = await this.#serve(parsedBody.params);
    this.#opened = seal(server);
    return this.#inner.handleRequest(request, { parsedBody, authInfo });
  }

  /** Answers a request within a session. */
  answer(request: Request, given: { readonly authInfo: AuthInfo; readonly parsedBody?: unknown }): Promise<Response> {
    this.#inner.sessionId = request.headers.get("mcp-session-id") ?? "";
    return this.#inner.handleRequest(request, given);
  }

  async start(): Promise<void> {
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#greeted && isJSONRPCResponse(message) && message.id === greetingId) {
      this.#greeted();
      this.#greeted = undefined;
      return;
    }
    if (isJSONRPCResponse(message)) this.#deps.running.delete(this.#key(message.id));
    const { relatedRequestId } = options ?? {};
    await this.#inner.send(this.#named(message), relatedRequestId === undefined ? {} : { relatedRequestId });
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Calls off a request that is being answered. */
  cancel(message: JSONRPCMessage): void {
    this.onmessage?.(message);
  }

  /** What the server asks gets a name that is known wherever the answer arrives: its own number is another one's too. */
  #named(message: JSONRPCMessage): JSONRPCMessage {
    const terms = this.#terms;
    if (!terms || !("method" in message)) return message;
    if (isJSONRPCRequest(message)) {
      const { id } = message;
      const name = this.#deps.questions.ask(terms, (answer) => this.#hear({ ...answer, id }));
      this.#asked.set(id, name);
      return { ...message, id: name };
    }
    const asked = message.method === "notifications/cancelled" ? message.params?.["requestId"] : undefined;
    const name = this.#asked.get(asked);
    if (name === undefined) return message;
    this.#forget(asked);
    return { ...message, params: { ...message.params, requestId: name } };
  }

  #hear(answer: JSONRPCResponse): void {
    this.#asked.delete(answer.id);
    this.onmessage?.(answer);
  }

  #take(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    const terms = this.#terms;
    if (!terms) this.onmessage?.(message, extra);
    else if (isJSONRPCRequest(message)) void this.#run(message, extra, terms).catch((error) => this.onerror?.(error));
    else if (isJSONRPCResponse(message)) this.#deps.questions.answer(terms, message);
    else if (message.method === "notifications/cancelled") {
      this.#deps.running.get(this.#key(message.params?.["requestId"]))?.cancel(message);
    }
  }

  async #run(request: JSONRPCRequest, extra: MessageExtraInfo | undefined, terms: SessionTerms): Promise<void> {
    const { id } = request;
    if (isInitializeRequest(request)) {
      const error = { code: -32_600, message: "Invalid Request: Server already initialized" };
      await this.#inner.send({ jsonrpc: "2.0", id, error });
      return;
    }
    this.#deps.running.set(this.#key(id), this);
    const { revision: protocolVersion, elicitation } = terms;
    const capabilities = elicitation ? { elicitation } : {};
    this.#server ??= this.#serve({ protocolVersion, capabilities, clientInfo: unknownClient }).then(() => undefined);
    await this.#server;
    this.onmessage?.(request, extra);
  }

  async #serve(params: InitializeRequestParams): Promise<Server> {
    const server = this.#deps.serve();
    await server.connect(this);
    await server.unwatched(
      () =>
        new Promise((resolve) => {
          this.#greeted = resolve;
          this.onmessage?.({ jsonrpc: "2.0", id: greetingId, method: "initialize", params: { ...params } });
        }),
    );
    return server;
  }

  #key(requestId: unknown): string {
    return `${this.#terms?.sessionId} ${JSON.stringify(requestId)}`;
  }

  #forget(asked: unknown): void {
    const name = this.#asked.get(asked);
    if (name !== undefined) this.#deps.questions.drop(name);
    this.#asked.delete(asked);
  }

  #end(): void {
    for (const asked of [...this.#asked.keys()]) this.#forget(asked);
    for (const [key, exchange] of this.#deps.running) if (exchange === this) this.#deps.running.delete(key);
    this.onclose?.();
  }
}

/** What opens a session, and who. */
export interface SessionOpening {
  readonly parsedBody: { readonly params: InitializeRequestParams };
  readonly authInfo: AuthInfo;
}

/** What it is called is of no use to any server. */
const unknownClient = { name: "", version: "" };
