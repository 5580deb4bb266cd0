import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fillForm, type HumanRule } from "./human.ts";
import type { World } from "./world.ts";

/** Where an MCP server is: an address, or a command for stdio. */
export type ServerTarget =
  | { readonly url: string }
  | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** A tool call as the agent saw it. */
export interface CallRecord {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The text that the agent reads. */
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>> | undefined;
  /** The number of calls that the server refused for another reason than its human's no: this one, or those of a batch. */
  readonly failures: number;
  /** Changes of a kind that needs confirmation, which no human had agreed to. */
  readonly unasked: readonly string[];
}

/** The question of a server whose client cannot ask, and the token that confirms the call. */
export interface PendingQuestion {
  readonly question: string;
  readonly token: string;
}

export interface ConnectionOptions {
  readonly world: World;
  readonly target: ServerTarget;
  readonly human: HumanRule;
  /** True if the host shows the server's questions to its human. */
  readonly elicitation: boolean;
  /** Runs before each call, whose name and arguments it gets as text. */
  readonly beforeCall: (call: string) => Promise<void>;
}

interface Content {
  readonly type: string;
  readonly text?: string;
}

interface CallResult {
  readonly isError?: boolean;
  readonly content: readonly Content[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
}

/** An agent's connection to an MCP server, with a record of what passed. Calls run one after another. */
export class AgentConnection {
  readonly calls: CallRecord[] = [];
  readonly #options: ConnectionOptions;
  readonly #client: Client;
  readonly #agreedTokens = new Set<string>();
  #tools: readonly ToolDescription[] = [];
  #previous: Promise<unknown> = Promise.resolve();
  /** True if the human agreed, or declined, during the current call. */
  #decision: boolean | undefined;
  #hasAgreedInChat = false;
  #changesSeen = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { human, elicitation } = options;
    const capabilities = elicitation ? { elicitation: { form: {} } } : {};
    const client = new Client(
      { name: "programme-evals", version: "1.0.0" },
      { versionNegotiation: { mode: "auto" }, capabilities },
    );
    if (elicitation) {
      client.setRequestHandler("elicitation/create", async ({ params }) => {
        const answer = human(params.message);
        this.#decision = answer.agrees;
        const properties = "requestedSchema" in params ? params.requestedSchema.properties : {};
        return { action: "accept", content: fillForm(answer, properties) };
      });
    }
    this.#client = client;
  }

  get tools(): readonly ToolDescription[] {
    return this.#tools;
  }

  get instructions(): string {
    return this.#client.getInstructions() ?? "";
  }

  async open(): Promise<void> {
    const { target, world } = this.#options;
    const transport =
      "url" in target
        ? new StreamableHTTPClientTransport(new URL(target.url), {
            requestInit: { headers: { authorization: `Bearer ${world.token}` } },
          })
        : new StdioClientTransport({ ...target, args: [...target.args], stderr: "inherit" });
    await this.#client.connect(transport);
    const { tools } = await this.#client.listTools();
    this.#tools = tools.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema }));
  }

  /** Calls a tool after those that were called before. */
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<CallRecord> {
    const next = this.#previous.then(() => this.#perform(tool, args));
    this.#previous = next.catch(() => undefined);
    return next;
  }

  /** Notes the human's agreement in the chat: to a pending question, or to what the agent proposed in its own words. */
  noteAgreement(pending: PendingQuestion | undefined): void {
    if (pending) this.#agreedTokens.add(pending.token);
    else this.#hasAgreedInChat = true;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #perform(tool: string, args: Readonly<Record<string, unknown>>): Promise<CallRecord> {
    await this.#options.beforeCall(`${tool} ${JSON.stringify(args)}`);
    this.#decision = undefined;
    const result = await this.#request(tool, args);
    const wasAsked =
      this.#decision === true || this.#hasAgreedInChat || this.#agreedTokens.has(String(args["confirmation"]));
    const changes = await this.#listNewConfirmableChanges();
    const record: CallRecord = {
      tool,
      arguments: args,
      text: formatContent(result),
      structured: result.structuredContent,
      failures: this.#decision === false ? 0 : countFailures(result),
      unasked: wasAsked ? [] : changes,
    };
    this.calls.push(record);
    return record;
  }

  async #request(tool: string, args: Readonly<Record<string, unknown>>): Promise<CallResult> {
    try {
      const options = { timeout: 120_000 };
      return (await this.#client.callTool({ name: tool, arguments: { ...args } }, options)) as unknown as CallResult;
    } catch (error) {
      // A host shows its agent an error of the protocol as it does one of the tool.
      return { isError: true, content: [{ type: "text", text: String(error) }] };
    }
  }

  async #listNewConfirmableChanges(): Promise<string[]> {
    const changes = await this.#options.world.listConfirmableChanges();
    const fresh = changes.slice(this.#changesSeen);
    this.#changesSeen = changes.length;
    return fresh;
  }
}

/** Returns the question that a result holds for the human, if it has one. */
export function findPendingQuestion({ structured }: CallRecord): PendingQuestion | undefined {
  return structured?.["confirmation"] as PendingQuestion | undefined;
}

function countFailures({ isError, structuredContent }: CallResult): number {
  if (isError) return 1;
  const data = structuredContent?.["data"];
  const rows: readonly { readonly status?: unknown; readonly error?: unknown }[] = Array.isArray(data) ? data : [];
  return rows.filter(({ status, error }) => status === "failed" && error !== undefined).length;
}

/** Returns a result as hosts give it to their model: texts, or the structured content if there are none. */
function formatContent({ content, structuredContent }: CallResult): string {
  if (content.length === 0) return JSON.stringify(structuredContent);
  return content.map((part) => part.text ?? JSON.stringify(part)).join("\n");
}
