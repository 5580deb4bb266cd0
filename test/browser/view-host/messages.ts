import type { CallToolRequest, CallToolResult, ReadResourceResult } from "@modelcontextprotocol/client";
import type { McpUiHostCapabilities, McpUiHostContext } from "@modelcontextprotocol/ext-apps";

/** The content that the page is asked to show. */
export interface ShownView {
  readonly document: string;
  readonly input: Record<string, unknown>;
  readonly result: CallToolResult;
  readonly context: McpUiHostContext;
  readonly capabilities: McpUiHostCapabilities;
}

/** The functions that a test and the page of the host have for each other. */
export interface HostPage {
  /** Passes a call to the server. */
  callServer(params: CallToolRequest["params"]): Promise<CallToolResult>;
  readServer(uri: string): Promise<ReadResourceResult>;
  record(kind: string, details: unknown): Promise<void>;
  showView(view: ShownView): Promise<void>;
  changeContext(context: McpUiHostContext): Promise<void>;
  sendResult(result: CallToolResult): Promise<void>;
  teardown(): Promise<void>;
}
