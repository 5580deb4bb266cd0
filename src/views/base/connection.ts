import type { CallToolResult, ReadResourceResult } from "@modelcontextprotocol/client";
import type {
  LATEST_PROTOCOL_VERSION,
  McpUiInitializeRequest,
  McpUiInitializeResult,
} from "@modelcontextprotocol/ext-apps";
import { applyHostContext } from "./theme.ts";

export type Values = Readonly<Record<string, unknown>>;

/** The messages of a host to a view. */
export interface HostEvents {
  onInput(input: Values): void;
  onResult(result: CallToolResult): void;
  onCancelled(): void;
}

/** The host that shows a view. */
export interface ViewHost extends Pick<McpUiInitializeResult, "hostCapabilities"> {
  /** @throws Error if the host refuses or the server does not answer */
  callTool(name: string, args: Values): Promise<CallToolResult>;
  /** Asks the host to open an address in the person's browser. */
  openLink(url: string): Promise<unknown>;
  /** Reads a JSON resource of the server. */
  readResource<Content>(uri: string): Promise<Content>;
  /** Adds text to what the model knows, if the host supports that. */
  updateModelContext(content: CallToolResult["content"]): Promise<unknown>;
}

interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Values;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** The revision of the extension that views speak. The type is that of the extension's package. */
const revision: typeof LATEST_PROTOCOL_VERSION = "2026-01-26";

/**
 * Connects a view to its host by messages between windows (SEP-1865): follows the host's theme, and reports the document's
 * height. The package's own class would take 58 KB of a view's 60 (docs/decisions/0010-libraries.md).
 */
export async function connectToHost(name: string, events: HostEvents): Promise<ViewHost> {
  const waiting = new Map<unknown, (answer: Message) => void>();
  let lastId = 0;
  const post = (message: Omit<Message, "jsonrpc">) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  function request<Result>(method: string, params: object): Promise<Result> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result as Result)));
      post({ id, method, params: { ...params } });
    });
  }

  const root = document.documentElement;
  const heights = new ResizeObserver(() => {
    const height = Math.ceil(root.getBoundingClientRect().height);
    post({ method: "ui/notifications/size-changed", params: { height } });
  });

  window.addEventListener("message", ({ source, data }: MessageEvent<Message>) => {
    if (source !== window.parent || data?.jsonrpc !== "2.0") return;
    const { id, method, params = {} } = data;
    if (method === undefined) {
      waiting.get(id)?.(data);
      waiting.delete(id);
    } else if (id === undefined) notify(events, method, params);
    else {
      if (method === "ui/resource-teardown") heights.disconnect();
      post({ id, result: {} });
    }
  });

  const params: McpUiInitializeRequest["params"] = {
    appInfo: { name, version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    protocolVersion: revision,
  };
  const { hostCapabilities, hostContext } = await request<McpUiInitializeResult>("ui/initialize", params);
  applyHostContext(hostContext);
  post({ method: "ui/notifications/initialized" });
  heights.observe(root);
  return {
    hostCapabilities,
    callTool: (tool, args) => request("tools/call", { name: tool, arguments: args }),
    openLink: (url) => request("ui/open-link", { url }),
    async readResource(uri) {
      const { contents } = await request<ReadResourceResult>("resources/read", { uri });
      const [content] = contents;
      return JSON.parse(content && "text" in content ? content.text : "null");
    },
    updateModelContext: async (content) =>
      hostCapabilities.updateModelContext && request("ui/update-model-context", { content }),
  };
}

function notify(events: HostEvents, method: string, params: Values): void {
  if (method === "ui/notifications/tool-input") events.onInput((params["arguments"] ?? {}) as Values);
  else if (method === "ui/notifications/tool-result") events.onResult(params as CallToolResult);
  else if (method === "ui/notifications/tool-cancelled") events.onCancelled();
  else if (method === "ui/notifications/host-context-changed") applyHostContext(params);
}
