import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser, FrameLocator, Page } from "playwright-core";
import { rolldown } from "rolldown";
import { expect } from "vitest";
import { viewCapabilities } from "../../src/views/catalog.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { findBarriers, openPage, screenshotFolder } from "./browser.ts";
import type { HostPage, ShownView } from "./view-host/messages.ts";

export interface ViewOptions {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly context?: ShownView["context"];
  readonly capabilities?: ShownView["capabilities"];
  readonly width?: number;
}

export interface OpenedView {
  readonly page: Page;
  readonly view: FrameLocator;
  /** The calls that the view has made. */
  readonly calls: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined }[];
  /** The other messages of the view to the host. */
  readonly events: { readonly kind: string; readonly details: unknown }[];
  readonly client: Client;
  /** Calls the tool again and passes its result to the view. */
  callAgain(input: Record<string, unknown>): Promise<void>;
  host<Name extends keyof HostPage>(name: Name, ...args: Parameters<HostPage[Name]>): Promise<void>;
}

/** The policy of hosts whose views name no address, from the specification of the extension. */
const hostPolicy =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";
const hostAddress = "http://host.example/";

/** The capabilities of a host that supports all that views use. */
const fullCapabilities = { serverTools: {}, serverResources: {}, openLinks: {}, updateModelContext: {} };

let script: Promise<string> | undefined;

async function bundlePage(): Promise<string> {
  const input = new URL("view-host/page.ts", import.meta.url).pathname;
  const bundle = await rolldown({ input, platform: "browser" });
  const { output } = await bundle.generate({ format: "iife", codeSplitting: false, minify: true });
  return output[0].code;
}

/** Connects a client that shows views. */
async function connectViewClient(server: TestServer, token: string) {
  const client = new Client(
    { name: "view-host", version: "1.0.0" },
    { versionNegotiation: { mode: "auto" }, capabilities: viewCapabilities },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), { requestInit }));
  return client;
}

/** Calls a tool as a host does, and shows its view in a sandboxed frame. */
export async function openView(
  browser: Browser,
  server: TestServer,
  token: string,
  { tool, input, context = { theme: "light" }, capabilities = fullCapabilities, width }: ViewOptions,
): Promise<OpenedView> {
  const client = await connectViewClient(server, token);
  const { tools } = await client.listTools();
  const metaOf = (name: string) =>
    tools.find((each) => each.name === name)?._meta?.["ui"] as { resourceUri?: string; visibility: string[] };
  const { contents } = await client.readResource({ uri: String(metaOf(tool).resourceUri) });
  const call = (args: Record<string, unknown>) => client.callTool({ name: tool, arguments: args });
  const result = (await call(input)) as ShownView["result"];

  const page = await openPage(browser, { viewport: { width: width ?? 900, height: 900 } });
  const calls: OpenedView["calls"] = [];
  const events: OpenedView["events"] = [];
  page.on("request", (request) => {
    if (request.url() !== hostAddress) throw new Error(`The view asks for ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    throw new Error(`A text of the data ran: ${dialog.message()}`);
  });
  await page.exposeFunction("callServer", (params: Parameters<HostPage["callServer"]>[0]) => {
    calls.push(params);
    if (!metaOf(params.name)?.visibility.includes("app")) throw new Error(`Views may not call ${params.name}`);
    return client.callTool(params);
  });
  await page.exposeFunction("readServer", (uri: string) => client.readResource({ uri }));
  await page.exposeFunction("record", (kind: string, details: unknown) => void events.push({ kind, details }));
  script ??= bundlePage();
  const body = `<!doctype html><html lang="en"><head><title>Host</title><meta http-equiv="Content-Security-Policy" content="${hostPolicy}"></head><body style="margin: 0"><script>${await script}</script></body></html>`;
  await page.route(hostAddress, (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body }));
  await page.goto(hostAddress);
  const host: OpenedView["host"] = (name, ...args) =>
    page.evaluate(
      ({ method, values }) =>
        (globalThis as unknown as Record<string, (...all: unknown[]) => Promise<void>>)[method]?.(...values),
      { method: name as string, values: args as unknown[] },
    ) as Promise<void>;
  const [content] = contents;
  const document = content && "text" in content ? content.text : "";
  await host("showView", { document, input, result, context, capabilities });
  const callAgain = async (args: Record<string, unknown>) =>
    host("sendResult", (await call(args)) as ShownView["result"]);
  return { page, view: page.frameLocator("iframe"), calls, events, client, callAgain, host };
}

const themes = ["light", "dark"] as const;

/** Expects that axe-core finds nothing that hinders people in the view, in the host's light and dark theme. */
export async function expectViewAccessible({ page, view, host }: OpenedView): Promise<void> {
  for (const theme of themes) {
    await host("changeContext", { theme });
    await view.locator(`html[style*="color-scheme: ${theme}"]`).waitFor();
    const [, frame] = page.frames();
    expect([theme, frame && (await findBarriers(frame))]).toEqual([theme, []]);
  }
}

const maxPictureHeight = 1_000;

/** Writes screenshots of a view in light and in dark to `TEST_SCREENSHOTS`, if that names a folder. */
export async function takeViewScreenshots({ page, view, host }: OpenedView, name: string): Promise<void> {
  if (screenshotFolder === undefined) return;
  for (const theme of themes) {
    await host("changeContext", { theme });
    await view.locator(`html[style*="color-scheme: ${theme}"]`).waitFor();
    const { width, height } = (await page.locator("iframe").boundingBox()) ?? { width: 0, height: 0 };
    const clip = { x: 0, y: 0, width, height: Math.min(height, maxPictureHeight) };
    await page.screenshot({ path: `${screenshotFolder}/${name}-${theme}.png`, clip, fullPage: true });
  }
}
