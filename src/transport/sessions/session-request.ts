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
  type RequestId,
  type Result,
  type Server,
  type Transport,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Elicitations } from "./elicitations.ts";
import type { SessionTerms } from "./session-id.ts";

export interface SessionRequestDeps {
  /** Creates the server that answers. */
  readonly createServer: () => InitializableServer;
  readonly elicitations: Elicitations;
  /** Requests that are being answered, by session and id. */
  readonly running: Map<string, SessionRequest>;
  readonly maxBodyBytes: number;
}

/** A server that can be initialized without a trace in telemetry. */
export interface InitializableServer extends Server {
  unwatched(work: () => Promise<void>): Promise<void>;
}

interface AskedQuestion {
  readonly questionId: string;
  /** Id of the request that asks. */
  readonly requestId: RequestId | undefined;
}

const initializeId = "initialize";

/**
 * Answers one HTTP request of a session with a server of its own. The server is initialized with the terms that client
 * and server negotiated when the session was opened, in any process.
 */
export class SessionRequest implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #deps: SessionRequestDeps;
  readonly #inner: WebStandardStreamableHTTPServerTransport;
  /** Questions that this request waits for, by the id that the server gave them. */
  readonly #questions = new Map<unknown, AskedQuestion>();
  /** Ids of the requests of this HTTP request that are neither answered nor cancelled. */
  readonly #open = new Set<unknown>();
  #hasCancelled = false;
  readonly #terms: SessionTerms | undefined;
  #newSessionId = "";
  #server: Promise<void> | undefined;
  #initialized: (() => void) | undefined;

  /** @param terms - undefined for the request that opens the session */
  constructor(deps: SessionRequestDeps, terms: SessionTerms | undefined) {
    this.#deps = deps;
    this.#terms = terms;
    this.#inner = new WebStandardStreamableHTTPServerTransport({
      maxRequestBodySize: deps.maxBodyBytes,
      ...(terms ? {} : { sessionIdGenerator: () => this.#newSessionId }),
    });
    this.#inner.onmessage = (message, extra) => this.#receive(message, extra);
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => this.#end();
  }

  /**
   * Answers the request that opens a session.
   * @param issueId - returns the session's id
   */
  async open(request: Request, opening: SessionOpening, issueId: (server: Server) => string): Promise<Response> {
    const { parsedBody, authInfo } = opening;
    const server = await this.#initialize(parsedBody.params);
    this.#newSessionId = issueId(server);
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
    if (this.#initialized && isJSONRPCResponse(message) && message.id === initializeId) {
      this.#initialized();
      this.#initialized = undefined;
      return;
    }
    if (isJSONRPCResponse(message)) this.#settle(message.id);
    const { relatedRequestId } = options ?? {};
    await this.#inner.send(
      this.#replaceId(message, relatedRequestId),
      relatedRequestId === undefined ? {} : { relatedRequestId },
    );
  }

  /** The session whose client owes this request an answer. */
  get askedSession(): SessionTerms | undefined {
    return this.#questions.size > 0 ? this.#terms : undefined;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Gives the requests that wait for a human this result, and stops waiting. The calls are not made. */
  async answerWaiting(result: Result): Promise<void> {
    const requestIds = new Set([...this.#questions.values()].map(({ requestId }) => requestId));
    for (const id of requestIds) {
      if (id === undefined || !this.#open.has(id)) continue;
      this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      this.#settle(id);
      await this.#inner.send({ jsonrpc: "2.0", id, result });
    }
  }

  /** Cancels a request that is being answered. */
  cancel(message: JSONRPCMessage, requestId: unknown): void {
    this.onmessage?.(message);
    this.#hasCancelled = true;
    this.#settle(requestId);
  }

  /**
   * Ends the answer if a cancelled request was the last one in it. The SDK ends it with the responses to all its requests,
   * and a cancelled one has none: the answer would keep its connection.
   */
  #settle(requestId: unknown): void {
    this.#open.delete(requestId);
    this.#deps.running.delete(this.#key(requestId));
    if (!this.#hasCancelled) return;
    // The other messages of a batch, and the response that is being sent, come first.
    queueMicrotask(() => {
      if (this.#open.size === 0) void this.close();
    });
  }

  /** Gives each question of the server an id that is unique in all processes: the server's own ids are not. */
  #replaceId(message: JSONRPCMessage, requestId: RequestId | undefined): JSONRPCMessage {
    const terms = this.#terms;
    if (!terms || !("method" in message)) return message;
    if (isJSONRPCRequest(message)) {
      const { id } = message;
      const questionId = this.#deps.elicitations.ask(terms, (answer) => this.#deliverAnswer({ ...answer, id }));
      this.#questions.set(id, { questionId, requestId });
      return { ...message, id: questionId };
    }
    const cancelled = message.method === "notifications/cancelled" ? message.params?.["requestId"] : undefined;
    const questionId = this.#questions.get(cancelled)?.questionId;
    if (questionId === undefined) return message;
    this.#dropQuestion(cancelled);
    return { ...message, params: { ...message.params, requestId: questionId } };
  }

  #deliverAnswer(answer: JSONRPCResponse): void {
    this.#questions.delete(answer.id);
    this.onmessage?.(answer);
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    const terms = this.#terms;
    if (!terms) this.onmessage?.(message, extra);
    else if (isJSONRPCRequest(message)) void this.#run(message, extra, terms).catch((error) => this.onerror?.(error));
    else if (isJSONRPCResponse(message)) this.#deps.elicitations.answer(terms, message);
    else if (message.method === "notifications/cancelled") {
      const requestId = message.params?.["requestId"];
      this.#deps.running.get(this.#key(requestId))?.cancel(message, requestId);
    }
  }

  async #run(request: JSONRPCRequest, extra: MessageExtraInfo | undefined, terms: SessionTerms): Promise<void> {
    const { id } = request;
    if (isInitializeRequest(request)) {
      const error = { code: -32_600, message: "Invalid Request: Server already initialized" };
      await this.#inner.send({ jsonrpc: "2.0", id, error });
      return;
    }
    this.#open.add(id);
    this.#deps.running.set(this.#key(id), this);
    const { revision: protocolVersion, capabilities } = terms;
    this.#server ??= this.#initialize({ protocolVersion, capabilities, clientInfo: unknownClient }).then(
      () => undefined,
    );
    await this.#server;
    if (this.#open.has(id)) this.onmessage?.(request, extra);
  }

  async #initialize(params: InitializeRequestParams): Promise<Server> {
    const server = this.#deps.createServer();
    await server.connect(this);
    await server.unwatched(
      () =>
        new Promise((resolve) => {
          this.#initialized = resolve;
          this.onmessage?.({ jsonrpc: "2.0", id: initializeId, method: "initialize", params: { ...params } });
        }),
    );
    return server;
  }

  #key(requestId: unknown): string {
    return `${this.#terms?.sessionId} ${JSON.stringify(requestId)}`;
  }

  #dropQuestion(serverId: unknown): void {
    const questionId = this.#questions.get(serverId)?.questionId;
    if (questionId !== undefined) this.#deps.elicitations.drop(questionId);
    this.#questions.delete(serverId);
  }

  #end(): void {
    for (const serverId of [...this.#questions.keys()]) this.#dropQuestion(serverId);
    for (const id of this.#open) {
      const key = this.#key(id);
      // Another HTTP request may have used the id since.
      if (this.#deps.running.get(key) === this) this.#deps.running.delete(key);
    }
    this.onclose?.();
  }
}

/** A parsed `initialize` request and its caller. */
export interface SessionOpening {
  readonly parsedBody: { readonly params: InitializeRequestParams };
  readonly authInfo: AuthInfo;
}

/** No server uses the client's name. */
const unknownClient = { name: "", version: "" };
