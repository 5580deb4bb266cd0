import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { openCounted, scrape } from "./scrape.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");

/** Every metric of the program's own, by its declaration. */
function declared(text: string): Map<string, string> {
  const types = [...text.matchAll(/^# TYPE (programme_\w+) (\w+)$/gm)];
  return new Map(types.map(([, name = "", type = ""]) => [name, type]));
}

test("the page lists exactly the existing metrics, with type and labels", async () => {
  const { server, scrape: own } = await openCounted();
  const app = await openRemote(server.origin, { PROGRAMME_METRICS: "127.0.0.1:0" });
  onTestFinished(() => app.close());
  const beside = await scrape((await app.serveMetrics()) ?? "");
  const there = new Map([...declared((await own()).text), ...declared(beside.text)]);
  const rows = [...page.matchAll(/^\| `(programme_\w+)` \| (\w+) \|/gm)];
  const documented = new Map(rows.map(([, name = "", type = ""]) => [name, type]));
  expect([...documented].sort()).toEqual([...there].sort());
});

test("alerts use existing metrics", async () => {
  const { scrape: own } = await openCounted();
  const { text } = await own();
  const rules = /```yaml\ngroups:[\s\S]*?```/.exec(page)?.[0] ?? "";
  const names = [...rules.matchAll(/\b(?:programme|nodejs)_\w+/g)].map(([name]) => name.replace(/_bucket$/, ""));
  expect(names.length).toBeGreaterThan(7);
  for (const name of names) {
    if (name !== "programme_upstream_breaker") expect(text, name).toContain(`# TYPE ${name} `);
  }
});

test("the page shows the actual answer of /readyz", async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const { server, close } = await openTestServer({ PROGRAMME_DATABASE: join(path, "programme.db") });
  onTestFinished(close);
  server.app.startWorkers();
  const shown = /^\{"status":"ready".*$/m.exec(page)?.[0] ?? "";
  expect(await (await fetch(`${server.origin}/readyz`)).json()).toEqual(JSON.parse(shown));
});
