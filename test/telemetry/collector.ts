import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { waitFor } from "../support/wait.ts";

/** A span as it came in. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** As OTLP numbers them: 1 internal, 2 server, 3 client, 4 producer. */
  readonly kind: number;
  /** 2 where it failed. */
  readonly status: number;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Collector {
  readonly endpoint: string;
  /** Everything that came in, as it came. */
  readonly bodies: string[];
  readonly requests: { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[];
  readonly resources: Readonly<Record<string, unknown>>[];
  readonly spans: ReceivedSpan[];
  /** The spans of a trace by name, once this one is among them. */
  trace(name: string): Promise<ReadonlyMap<string, ReceivedSpan>>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
// biome-ignore lint/suspicious/noExplicitAny: tests read OTLP without types
type Otlp = any;

/** Receives traces by OTLP over HTTP, in JSON. */
export async function openCollector(): Promise<Collector> {
  const [bodies, requests, resources, spans] = [[], [], [], []] as unknown as [
    string[],
    Collector["requests"],
    Collector["resources"][number][],
    ReceivedSpan[],
  ];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Otlp;
    bodies.push(JSON.stringify(body));
    requests.push({ path: request.url ?? "", headers: request.headers });
    for (const { resource, scopeSpans } of body.resourceSpans) {
      resources.push(attributesOf(resource.attributes));
      for (const { spans: received } of scopeSpans) spans.push(...received.map(spanOf));
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    requests,
    resources,
    spans,
    async trace(name) {
      const found = await waitFor(
        () => spans.find((span) => span.name === name) ?? Promise.reject(new Error(`No span ${name}`)),
      );
      return new Map(spans.filter(({ traceId }) => traceId === found.traceId).map((span) => [span.name, span]));
    },
  };
}

function spanOf({
  name,
  traceId,
  spanId,
  parentSpanId = "",
  kind,
  status,
  links = [],
  attributes,
}: Otlp): ReceivedSpan {
  const linked = links.map(({ spanId: linkedTo }: { spanId: string }) => linkedTo);
  return {
    name,
    traceId,
    spanId,
    parentSpanId,
    kind,
    status: status?.code ?? 0,
    links: linked,
    attributes: attributesOf(attributes),
  };
}

function attributesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
