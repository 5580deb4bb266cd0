import { Client, type McpSubscription, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstMajorClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstMajorTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import { namingMethods } from "../support/clients/clients.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";
import type { TestServer } from "../support/servers/test-server.ts";

/** The notifications of a client. */
export interface ReceivedNotifications {
  /** URIs, once for each notification. */
  readonly updated: string[];
  /** `tools`, `resources` or `prompts`. */
  readonly lists: string[];
}

/** A host that reads resources, whatever its client's protocol revision. */
export interface Browser {
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
  readonly client: any;
  readonly notifications: ReceivedNotifications;
  /** Returns the parsed text of a resource. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
  read(uri: string): Promise<any>;
  /** Subscribes to resources and to all lists. Returns what the server agreed to. */
  follow(...uris: string[]): Promise<readonly string[]>;
  unfollow(): Promise<void>;
}

const info = { name: "test", version: "1.0.0" };

type Connect = (server: TestServer, token: string) => Promise<Browser>;

/** The clients of hosts: both protocol revisions, both transports, both majors of the SDK. */
export const browsers: Readonly<Record<string, Connect>> = {
  "2026-07-28 over HTTP": (server, token) => secondMajor({ pin: "2026-07-28" }, http(server, token)),
  "2026-07-28 over stdio": (server, token) => secondMajor({ pin: "2026-07-28" }, stdio(server, token)),
  "2025-era over HTTP": (server, token) => secondMajor("legacy", http(server, token)),
  "2025-era that names methods in headers over HTTP": (server, token) =>
    secondMajor("legacy", http(server, token, namingMethods)),
  "2025-era over stdio": (server, token) => secondMajor("legacy", stdio(server, token)),
  "first major over HTTP": firstMajor,
};

/** The default client, for tests that do not depend on it. */
export const connectBrowser = browsers["2026-07-28 over stdio"] as Connect;

function http(server: TestServer, token: string, send: typeof fetch = fetch) {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), { requestInit, fetch: send });
}

function stdio(server: TestServer, token: string) {
  const [here, there] = createStdioPair();
  server.app.connectStdio(token, there);
  return here;
}

async function secondMajor(
  mode: "legacy" | { pin: string },
  transport: ReturnType<typeof http | typeof stdio>,
): Promise<Browser> {
  const client = new Client(info, { versionNegotiation: { mode } });
  const notifications: ReceivedNotifications = { updated: [], lists: [] };
  client.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => void notifications.updated.push(params.uri),
  );
  for (const list of ["tools", "resources", "prompts"] as const) {
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => void notifications.lists.push(list));
  }
  await client.connect(transport);
  onTestFinished(() => client.close());
  const subscriptions: McpSubscription[] = [];
  const subscribed: string[] = [];
  return {
    client,
    notifications,
    read: async (uri) => parsed(await client.readResource({ uri })),
    async follow(...uris) {
      if (mode === "legacy") return subscribeAll(client, uris, subscribed);
      const lists = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };
      const subscription = await client.listen({ resourceSubscriptions: uris, ...lists });
      subscriptions.push(subscription);
      return subscription.honoredFilter.resourceSubscriptions ?? [];
    },
    async unfollow() {
      for (const uri of subscribed) await client.unsubscribeResource({ uri });
      for (const subscription of subscriptions) await subscription.close();
    },
  };
}

async function firstMajor(server: TestServer, token: string): Promise<Browser> {
  const client = new FirstMajorClient(info);
  const notifications: ReceivedNotifications = { updated: [], lists: [] };
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void notifications.updated.push(params.uri),
  );
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void notifications.lists.push("tools"));
  client.setNotificationHandler(
    ResourceListChangedNotificationSchema,
    () => void notifications.lists.push("resources"),
  );
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => void notifications.lists.push("prompts"));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new FirstMajorTransport(new URL(`${server.origin}/mcp`), { requestInit });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  const subscribed: string[] = [];
  return {
    client,
    notifications,
    read: async (uri) => parsed(await client.readResource({ uri })),
    follow: (...uris) => subscribeAll(client, uris, subscribed),
    async unfollow() {
      for (const uri of subscribed) await client.unsubscribeResource({ uri });
    },
  };
}

async function subscribeAll(
  client: { subscribeResource(params: { uri: string }): Promise<unknown> },
  uris: readonly string[],
  subscribed: string[],
): Promise<readonly string[]> {
  const agreed: string[] = [];
  for (const uri of uris) {
    await client.subscribeResource({ uri }).then(
      () => agreed.push(uri),
      () => undefined,
    );
  }
  subscribed.push(...agreed);
  return agreed;
}

function parsed({ contents }: { contents: readonly unknown[] }): unknown {
  const [content] = contents as [{ text: string; mimeType: string }];
  if (content.mimeType !== "application/json") throw new Error(`A resource of type ${content.mimeType}`);
  return JSON.parse(content.text);
}

/** Returns the error of a refused request. */
export async function catchRefusal(
  request: Promise<unknown>,
): Promise<{ code: number; message: string; data: Record<string, unknown> }> {
  try {
    await request;
  } catch (error) {
    const { code, message, data } = error as { code: number; message: string; data: Record<string, unknown> };
    return { code, message, data };
  }
  throw new Error("The request was not refused");
}

/** The longest time until a notification arrives, plus a margin. After it, none is expected. */
export const notificationWindowMs = 1_000;

export function waitForLateNotifications(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, notificationWindowMs));
}
