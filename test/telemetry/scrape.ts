import { onTestFinished } from "vitest";
import { send } from "../support/clients/raw-http.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

type Labels = Readonly<Record<string, string>>;

/** The metrics at one moment. */
export interface Scrape {
  readonly text: string;
  /** The value of a series; 0 where there is none, as for whatever has not happened yet. */
  value(name: string, labels?: Labels): number;
  /** All values that a label has. */
  labels(name: string, label: string): string[];
}

export interface Counted {
  readonly server: TestServer;
  readonly url: string;
  scrape(): Promise<Scrape>;
}

/** A service that is counted. */
export async function openCounted(environment: Record<string, string> = {}): Promise<Counted> {
  const { server, close } = await openTestServer({ PROGRAMME_METRICS: "127.0.0.1:0", ...environment });
  onTestFinished(close);
  const url = (await server.app.serveMetrics()) ?? "";
  return { server, url, scrape: () => scrape(url) };
}

export async function scrape(url: string): Promise<Scrape> {
  const { text } = await send(url, {});
  const series = text.split("\n").flatMap((line) => {
    const [, name = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name === "" ? [] : [{ name, labels: labelsOf(labels), value: Number(value) }];
  });
  return {
    text,
    value(name, wanted = {}) {
      const fits = (labels: Labels) => Object.entries(wanted).every(([label, value]) => labels[label] === value);
      return series.find((each) => each.name === name && fits(each.labels))?.value ?? 0;
    },
    labels: (name, label) => [
      ...new Set(series.filter((each) => each.name === name).map(({ labels }) => labels[label] ?? "")),
    ],
  };
}

function labelsOf(text: string): Labels {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]));
}
