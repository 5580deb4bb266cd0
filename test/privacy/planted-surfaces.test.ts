import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Scope, scopes } from "../../src/contract/access/scopes.ts";
import { isOperationName, type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { type BrowserSession, openAs } from "../identity/browser-session.ts";
import { listInputs } from "../matrix/foreign-values.ts";
import { type Arguments, buildMatrixData, type MatrixData } from "../matrix/matrix-data.ts";
import { fillPath, listRoutes, openTenant } from "../matrix/tenant-pages.ts";
import { rest, send } from "../support/clients/raw-http.ts";
import { runDueExports } from "../support/data/exports.ts";
import { listAudit } from "../support/data/state.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { openCollector } from "../telemetry/collector.ts";
import { openReceiver } from "../webhooks/receiver.ts";
import { findSecrets, openPlantedServer, type Secret, selectSecrets } from "./planting.ts";

async function openSetup(environment: Record<string, string> = {}) {
  const log: string[] = [];
  const opened = await openTestServer(environment, {
    log: pino({ level: "trace" }, { write: (line: string) => void log.push(line) }),
  });
  const planted = openPlantedServer(opened.server, 0);
  return { ...planted, close: opened.close, log, data: await buildMatrixData(planted.server) };
}

/** Returns what a token is answered: to operations over REST, to workflows as tools. Reads are asked with as little as possible too. */
async function readAnswers(data: MatrixData, granted: readonly Scope[]): Promise<string> {
  const { server } = data;
  const token = await server.token(granted);
  const agent = await server.with("MCP", token);
  const answers = new Set<string>();
  for (const [name, input] of listInputs(data)) {
    if (isOperationName(name)) {
      const { effect, params } = operations[name];
      const least = Object.fromEntries(Object.keys(params.shape).map((key) => [key, input[key]]));
      const inputs: Arguments[] = effect === "read" ? [input, least] : [input];
      for (const each of inputs) answers.add((await rest(server, token, name, each)).text);
    } else {
      const answer = agent.call(name as OperationName, input);
      answers.add(JSON.stringify(await answer.catch((error: Error) => error.message)));
    }
  }
  return [...answers].join("\n");
}

/** Returns the records, or with `depth` 2 the fields, whose texts are found. */
function listShown(text: string, secrets: readonly Secret[], depth = 1): string[] {
  const paths = findSecrets(text, secrets).map((found) => found.replace(/:.*/, ""));
  return [...new Set(paths.map((path) => path.split(".").slice(0, depth).join(".")))].toSorted();
}

/** The records whose texts each scope shows. All other scopes show none. */
const recordsByScope: Partial<Record<Scope, string[]>> = {
  "applicants:read": ["applicants"],
  "assignments:read": ["assignments"],
  "assignments:write": ["assignments"],
  "emails:read": ["emailSends"],
  "feedback:read": ["feedbacks"],
  "feedback:write": ["feedbacks"],
  "files:read": ["files"],
  "payments:read": ["payments"],
  "person-fields:read": ["personSchemas"],
  "persons:read": ["persons"],
  "persons:write": ["persons"],
  "programs:read": ["programs"],
  "programs:write": ["programs"],
  "reviewers:read": ["reviewers"],
  "reviews:read": ["reviews"],
  "rounds:read": ["rounds"],
  "rounds:write": ["rounds"],
  "rubrics:read": ["rubrics"],
  "schemas:read": ["schemas"],
  "submissions:read": ["submissions"],
  "submissions:write": ["submissions"],
  "supplements:read": ["supplements"],
  "supplements:write": ["supplements"],
  "tracks:read": ["tracks"],
  "tracks:write": ["tracks"],
};

test("each scope alone shows texts of its own records, and the scope of sensitive data none", async () => {
  const { data, secrets, close } = await openSetup();
  onTestFinished(close);
  const shown: Partial<Record<Scope, string[]>> = {};
  for (const scope of scopes) {
    const records = listShown(await readAnswers(data, [scope]), secrets);
    if (records.length > 0) shown[scope] = records;
  }
  expect(shown).toEqual(recordsByScope);
});

test("every scope together shows every text but those of messages that were sent", async () => {
  const { data, secrets, close } = await openSetup();
  onTestFinished(close);
  const all = listShown(JSON.stringify(secrets.map(({ parts }) => parts)), secrets, 2);
  const shown = listShown(await readAnswers(data, scopes), secrets, 2);
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter((field) => !shown.includes(field))).toEqual(["emailSends.body"]);
});

test("log, metrics, traces, webhooks and events have no text of a record or a call, audit values no personal one, and messages nothing confidential", async () => {
  const collector = await openCollector();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint);
  onTestFinished(() => void vi.unstubAllEnvs());
  const receiver = await openReceiver();
  const { data, secrets, plantInput, close, log } = await openSetup({
    PROGRAMME_METRICS: "127.0.0.1:0",
    PROGRAMME_WEBHOOK_LOOPBACK: "true",
  });
  const { server } = data;
  const { app, businessId } = server;
  await app.webhooks?.endpoints.add(businessId, receiver.url, []);
  const browser = await openAs(server, { email: "olga@example.org", seesSensitive: true });
  const agent = await server.as("MCP");
  const token = await server.token();
  const refused: string[] = [];
  for (const name of operationNames) {
    const input = plantInput(name, data.inputs[name]);
    const { status } = await rest(server, token, name, input);
    if (status >= 300) refused.push(name);
    for (const mistake of [{ version: 99 }, { unknown: "x" }]) {
      await agent.call(name, { ...input, ...mistake }).catch(() => undefined);
    }
  }
  // Planted parts of a reference name another reference.
  expect(refused).toEqual(["remove_person_external_ref"]);
  await agent.call("search_records" as OperationName, { words: secrets[0]?.parts[0] });
  for (const [method, path] of listRoutes()) {
    if (method === "GET" && !path.includes(":") && !path.startsWith("/live")) await browser.open(path);
  }
  await runDueExports(server);
  await app.webhooks?.deliveries.drain();
  await app.pipeline.flush();
  const metrics = await send((await app.serveMetrics()) ?? "", {});
  const actions = [undefined, ...operationNames.map((name) => operations[name].audit)];
  const audit = await Promise.all(actions.map((action) => listAudit(app.store, businessId, action)));
  const events = await server.outbox();
  const mails = await app.store.reader(businessId).find("emailSends", {}, { limit: 100 });
  // Closing sends the last traces.
  await close();

  // The name of a programme is nobody's.
  const personal = secrets.filter(({ personal: is, path }) => is || /^inputs\.(?!update_program\.name)/.test(path));
  const confidential = secrets.filter(({ kinds, path }) => {
    return kinds.has("sensitive") || kinds.has("answer") || /^(?:reviews|feedbacks|files)\./.test(path);
  });
  const surfaces: Readonly<Record<string, readonly [text: string, hidden: readonly Secret[]]>> = {
    log: [log.join("\n"), secrets],
    metrics: [metrics.text, secrets],
    traces: [collector.bodies.join("\n"), secrets],
    webhooks: [JSON.stringify(receiver.received.map(({ body, headers }) => [body, headers])), secrets],
    events: [JSON.stringify(events), secrets],
    "audit values": [JSON.stringify(audit.flat().map(({ reason: _, ...entry }) => entry)), personal],
  };
  for (const [name, [text, hidden]] of Object.entries(surfaces)) {
    expect(text.length, name).toBeGreaterThan(1000);
    expect(findSecrets(text, hidden), name).toEqual([]);
    expect(text.match(/[\w.]+@[\w.]*example[\w.]*/) ?? [], name).toEqual([]);
  }
  expect(findSecrets(JSON.stringify(mails), confidential)).toEqual([]);
});

describe("the pages of a person", () => {
  async function readPages(browser: BrowserSession, values: Readonly<Record<string, string>>): Promise<string> {
    const pages: string[] = [];
    for (const [method, path] of listRoutes()) {
      if (method !== "GET" || /^\/(?:live|auth|\.well-known)/.test(path)) continue;
      for (const query of ["", "?format=csv"]) {
        const { text, headers } = await browser.open(`${fillPath(path, values)}${query}`);
        pages.push(text, headers.get("location") ?? "");
      }
    }
    return pages.join("\n");
  }

  test("show contact details, sensitive data and personal answers to those alone who may see them", async () => {
    const { data, secrets, close, log } = await openSetup({
      PROGRAMME_CONFIRM: "human",
      PROGRAMME_WEBHOOK_LOOPBACK: "true",
    });
    onTestFinished(close);
    const { owner, values } = await openTenant(data, "ours");
    const hidden = selectSecrets(secrets, "handle", "sensitive", "answer");
    const trusted = await readPages(owner, values);
    expect(listShown(trusted, hidden, 2)).toEqual([
      "emailSends.recipientEmail",
      "reviewers.email",
      "submissions.fields",
      "submissions.innovatorEmail",
    ]);
    for (const role of ["owner", "staff", "viewer"] as const) {
      const browser = await openAs(data.server, { email: `${role}@ours.example`, role });
      const pages = await readPages(browser, values);
      expect(pages.length, role).toBeGreaterThan(10_000);
      expect(findSecrets(pages, hidden), role).toEqual([]);
    }
    expect(findSecrets(log.join("\n"), secrets)).toEqual([]);
  });
});
