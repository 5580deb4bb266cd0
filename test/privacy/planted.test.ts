import { Client } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { excludeSensitiveScopes, type Scope, scopes } from "../../src/contract/access/scopes.ts";
import { fillTemplate } from "../../src/contract/definition/operation.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { buildMatrixData, type MatrixData } from "../matrix/matrix-data.ts";
import { rest, send } from "../support/clients/raw-http.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";
import { runDueExports } from "../support/data/exports.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { findSecrets, openPlantedServer, selectSecrets } from "./planting.ts";

const ordinary = [...excludeSensitiveScopes(new Set(scopes))];
const reads = operationNames.filter((name) => operations[name].effect === "read");
const writes = operationNames.filter((name) => operations[name].effect !== "read");

async function createSetup(turn: number, environment: Record<string, string>) {
  const opened = await openTestServer(environment);
  onTestFinished(opened.close);
  const { server, secrets } = openPlantedServer(opened.server, turn);
  const tenantData = await buildMatrixData(server);
  return { server, secrets, tenantData };
}

/** Everything that a client is sent, while everything is asked for that can be. */
async function overMcp(
  server: TestServer,
  tenantData: MatrixData,
  granted: readonly Scope[],
  selecting = true,
): Promise<string> {
  const traffic: string[] = [];
  const [here, there] = createStdioPair();
  const send = there.send.bind(there);
  there.send = (message) => {
    traffic.push(JSON.stringify(message));
    return send(message);
  };
  server.app.connectStdio(await server.token(granted), there);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(here);
  onTestFinished(() => client.close());

  let answered = 0;
  const call = async (name: string, args: object) => {
    const result = await client.callTool({ name, arguments: { ...args } });
    if (result.isError !== true) answered += 1;
    return result.structuredContent as { data: { recipientEmail: string; email: string }[] };
  };
  traffic.push(await exportOver(client, server, tenantData));
  await getPrompts(client, tenantData);
  await readAll(call, tenantData);
  // What is said is given back: so nothing is called by its own name.
  const [sent] = (await call("list_email_sends", tenantData.inputs.list_email_sends)).data;
  const mailing = tenantData.inputs.send_bulk_email as { reviewers: object; applicants: object };
  const applicantEmails = (await call("list_applicants", {})).data.map(({ email }) => email);
  const inputs = {
    ...tenantData.inputs,
    list_email_sends: { recipientEmail: sent?.recipientEmail },
    send_bulk_email: { ...mailing, applicants: { ...mailing.applicants, applicantEmails } },
  };
  for (const name of writes) await call(name, inputs[name]);
  for (const [name, args] of selecting ? tenantData.more : []) await call(name, args);
  // Refusals: stale, incomplete, of the wrong kind, and not of this person.
  for (const name of writes) {
    await call(name, { ...inputs[name], version: 99 });
    await call(name, {});
  }
  const { personId } = tenantData.inputs.get_person;
  if (selecting) await call("create_submission", { ...tenantData.inputs.create_submission, personId });
  await readAll(call, tenantData);
  await call("list_events", {});
  for (const words of ["a", "write", "ask"]) await call("search_records", { words, limit: 500 });
  await call("find_duplicate_persons", {});
  await call("get_connection", {});
  expect(answered).toBeGreaterThan(100);

  for (const name of reads) {
    const { resource, params } = operations[name];
    if (!resource) continue;
    const { ...query } = inputs[name] as Record<string, unknown>;
    const path = fillTemplate(resource, (variable) => {
      const value = String(query[variable]);
      delete query[variable];
      return encodeURIComponent(value);
    });
    expect(Object.keys(params.shape).some((variable) => variable in query)).toBe(false);
    const search = new URLSearchParams(
      Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
    );
    await client.readResource({ uri: `${path}${search.size > 0 ? `?${search}` : ""}` }).catch(() => undefined);
  }
  for (const { uriTemplate } of (await client.listResourceTemplates()).resourceTemplates) {
    const variables = uriTemplate.match(/\w+(?=[,}*])/g) ?? [];
    for (const argument of variables) {
      const request = {
        ref: { type: "ref/resource", uri: uriTemplate },
        argument: { name: argument, value: "" },
      } as const;
      await client.complete(request).catch(() => undefined);
    }
  }
  return traffic.join("\n");
}

/** Creates an export as an agent does, confirming it where it is asked, and returns the file behind the agent's link. */
async function exportOver(client: Client, server: TestServer, { inputs }: MatrixData): Promise<string> {
  const call = async (name: string, args: object) => {
    const result = await client.callTool({ name, arguments: { ...args } });
    return result.structuredContent as { data: Record<string, string>; confirmation?: { token: string } };
  };
  const { programId } = inputs.create_export;
  const request = await call("create_export", { programId });
  const confirmation = request.confirmation?.token;
  const { data } = confirmation ? await call("create_export", { programId, confirmation }) : request;
  await runDueExports(server);
  const { exportId } = data;
  const { downloadUrl } = (await call("get_export", { exportId })).data;
  const { status, text } = await send(String(downloadUrl), {});
  expect(status).toBe(200);
  expect(text.length).toBeGreaterThan(1_000);
  return text;
}

async function getPrompts(client: Client, { inputs }: MatrixData): Promise<void> {
  const { prompts } = await client.listPrompts();
  expect(prompts.length).toBeGreaterThan(5);
  const known: Readonly<Record<string, unknown>> = {
    ...inputs.get_program,
    ...inputs.get_submission,
    ...inputs.get_reviewer,
    ...inputs.get_person,
  };
  for (const { name, arguments: wanted = [] } of prompts) {
    const given = wanted.flatMap((each) => (known[each.name] ? [[each.name, String(known[each.name])]] : []));
    await client.getPrompt({ name, arguments: Object.fromEntries(given) }).catch(() => undefined);
  }
}

async function readAll(call: (name: string, args: object) => Promise<unknown>, { inputs }: MatrixData): Promise<void> {
  for (const name of reads) await call(name, inputs[name]);
  for (const name of reads.filter((each) => operations[each].paginated && each !== "list_payments")) {
    await call(name, { limit: 100 });
    await call("list_audit_entries", { action: operations[name].audit, limit: 100 });
  }
}

describe.each([0, 1, 2, 3])("sensitive texts planted in every field, variant %i", (turn) => {
  test.each([
    ["pseudonymize", "every scope", scopes, ["contact"]],
    ["pseudonymize", "no sensitive scope", ordinary, ["contact", "sensitive", "answer"]],
    ["redact", "every scope", scopes, ["contact", "sensitive", "answer"]],
  ] as const)("are not shown to agents in privacy mode %s with %s", async (privacy, _, granted, hidden) => {
    const confirm = turn === 0 ? "off" : "ask";
    const { server, secrets, tenantData } = await createSetup(turn, {
      PROGRAMME_PRIVACY: privacy,
      PROGRAMME_CONFIRM: confirm,
    });
    expect(secrets.length).toBeGreaterThan(300);
    const traffic = await overMcp(server, tenantData, granted);
    expect(findSecrets(traffic, selectSecrets(secrets, ...hidden))).toEqual([]);
  });
});

test("agents in privacy mode off without the scope see nothing sensitive", async () => {
  const { server, secrets, tenantData } = await createSetup(0, { PROGRAMME_PRIVACY: "off" });
  // A person who is selected fills in the name and the address of a submission (specification 4.2).
  const traffic = await overMcp(server, tenantData, ordinary, false);
  expect(findSecrets(traffic, selectSecrets(secrets, "sensitive"))).toEqual([]);
  // That they are found where they may be shows that they would be.
  const open = await overMcp(server, tenantData, scopes);
  expect(findSecrets(open, selectSecrets(secrets, "sensitive")).length).toBeGreaterThan(20);
  expect(findSecrets(open, selectSecrets(secrets, "answer")).length).toBeGreaterThan(20);
});

test("REST shows nothing sensitive without the scope, and audit changes and events contain nothing personal", async () => {
  const { server, secrets, tenantData } = await createSetup(0, {});
  const token = await server.token(ordinary);
  const answers: string[] = [];
  const changes: unknown[] = [];
  const call = async (name: string, args: object) => {
    const { text, body } = await rest(server, token, name as OperationName, { ...args });
    answers.push(text);
    if (name === "list_audit_entries" && body.success) changes.push(...body.data.map((entry: MatrixData) => entry));
  };
  await readAll(call, tenantData);
  for (const name of writes) await call(name, tenantData.inputs[name]);
  await readAll(call, tenantData);
  expect(findSecrets(answers.join("\n"), selectSecrets(secrets, "sensitive"))).toEqual([]);
  const personal = secrets.filter((secret) => secret.personal);
  const changedValues = changes.map((entry) => (entry as { changes: unknown }).changes);
  expect(changedValues.flat().length).toBeGreaterThan(50);
  expect(findSecrets(JSON.stringify(changedValues), personal)).toEqual([]);
  expect(findSecrets(JSON.stringify(await server.outbox()), secrets)).toEqual([]);
});
