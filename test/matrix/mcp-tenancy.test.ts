import type { Client } from "@modelcontextprotocol/client";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Privacy, privacyModes } from "../../src/contract/access/privacy.ts";
import { expandResource } from "../../src/contract/definition/resource.ts";
import { type CallName, operationNames, operations } from "../../src/contract/index.ts";
import { createId } from "../../src/lib/ids.ts";
import { findSecrets, openPlantedServer, type Secret } from "../privacy/planting.ts";
import { send } from "../support/clients/raw-http.ts";
import { connectRecorded, type RecordedClient, type Revision } from "../support/clients/recorded-client.ts";
import { idsIn } from "../support/data/normalize.ts";
import { readState } from "../support/data/state.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import {
  type ForeignValue,
  listForeignAddresses,
  listForeignIds,
  listInputs,
  listTenantIds,
  normalizeAnswer,
  type Tenants,
  toPlainText,
} from "./foreign-values.ts";
import { buildMatrixData } from "./matrix-data.ts";

/** The requests of one caller, for another tenant's value or for one that nobody has. */
type Ask = (client: Client, value: string) => Promise<unknown>;

interface Setup extends Tenants {
  readonly secrets: readonly Secret[];
  readonly foreignIds: ReadonlySet<string>;
  /** All that the caller's tenant was sent, each text once. */
  readonly traffic: Set<string>;
  readonly log: string[];
  readonly metricsUrl: string;
  close(): Promise<void>;
}

/** Opens a service with two tenants. Every text of the other one is recognizable. */
async function openSetup(privacy: Privacy): Promise<Setup> {
  const log: string[] = [];
  const { server, close } = await openTestServer(
    {
      PROGRAMME_PRIVACY: privacy,
      PROGRAMME_CONFIRM: privacy === "off" ? "off" : "ask",
      PROGRAMME_METRICS: "127.0.0.1:0",
    },
    { log: pino({ level: "trace" }, { write: (line: string) => void log.push(line) }) },
  );
  const own = await buildMatrixData(server);
  const planted = openPlantedServer(await server.other(), privacyModes.indexOf(privacy));
  const foreign = await buildMatrixData(planted.server);
  return {
    own,
    foreign,
    secrets: planted.secrets,
    foreignIds: await listTenantIds(foreign),
    traffic: new Set(),
    log,
    metricsUrl: (await server.app.serveMetrics()) ?? "",
    close,
  };
}

describe.each([
  ["off", "2025-11-25"],
  ["pseudonymize", "2026-07-28"],
  ["redact", "2025-11-25"],
] as const)("in privacy mode %s, over revision %s, a caller", (privacy, revision) => {
  let setup: Setup;
  beforeAll(async () => {
    setup = await openSetup(privacy);
  });
  afterAll(() => setup.close());

  /** Two callers of one tenant. They ask the same, one for another tenant's values, one for unknown ones. */
  async function openCallers() {
    const { server } = setup.own;
    const callers: RecordedClient[] = [];
    for (let count = 0; count < 2; count++) callers.push(await connectRecorded(server, await server.token(), revision));
    onTestFinished(() => Promise.all(callers.map(({ client }) => client.close())).then(() => undefined));
    const [one, other] = callers as [RecordedClient, RecordedClient];
    /** Expects the same answer to both, byte for byte but for the value and what is new in each answer. */
    async function expectSame(where: string, ask: Ask, foreign: string, unknown: string): Promise<void> {
      const known = await record(one, ask, foreign);
      const control = await record(other, ask, unknown);
      expect(known.length, where).toBeGreaterThan(0);
      const answer = normalizeAnswer(known, foreign);
      expect(answer, where).toBe(normalizeAnswer(control, unknown));
      const named = idsIn(toPlainText(known)).intersection(setup.foreignIds);
      named.delete(foreign);
      expect([...named], where).toEqual([]);
      setup.traffic.add(answer);
    }
    /** Lists something as both. */
    async function list<Listed>(ask: (client: Client) => Promise<Listed>): Promise<Listed> {
      await ask(other.client);
      return ask(one.client);
    }
    return { one, list, expectSame };
  }

  /** Expects that the other tenant stays as it is. */
  async function expectUntouched(work: () => Promise<void>): Promise<void> {
    const { server } = setup.foreign;
    const before = await readState(server.app.store, server.businessId);
    await work();
    expect(await readState(server.app.store, server.businessId)).toEqual(before);
  }

  test("gets from every tool the answer of an unknown id for another tenant's, and nothing changes there", async () => {
    const { expectSame } = await openCallers();
    const values = [...listForeignIds(setup), ...(await listForeignAddresses(setup))];
    expect(new Set(values.map(({ name }) => name)).size).toBeGreaterThan(50);
    await expectUntouched(async () => {
      for (const value of values) {
        const where = `${value.name} ${value.path.join(".")}`;
        await expectSame(where, callWith(value), value.foreign, value.unknown);
      }
    });
  });

  test("gets from a batch the answer of an unknown id for another tenant's", async () => {
    const { expectSame } = await openCallers();
    await expectUntouched(async () => {
      for (const value of listForeignIds(setup)) {
        const ask: Ask = (client, given) => {
          const calls = [{ tool: value.name, arguments: value.with(given) }];
          return client.callTool({ name: "run_batch", arguments: { calls } });
        };
        await expectSame(`${value.name} in a batch`, ask, value.foreign, value.unknown);
      }
    });
  });

  test("gets for every resource the answer of an unknown id for another tenant's", async () => {
    const { expectSame } = await openCallers();
    const values = listForeignIds(setup).filter(({ name }) => operations[name].resource !== undefined);
    expect(values.length).toBeGreaterThan(30);
    for (const value of values) {
      const uri = (given: string) => expandResource(operations[value.name].resource ?? "", value.with(given));
      const where = uri("…");
      await expectSame(
        where,
        (client, given) => client.readResource({ uri: uri(given) }),
        value.foreign,
        value.unknown,
      );
      const subscribe: Ask = async (client, given) => (await follow(client, revision, [uri(given)]))();
      await expectSame(where, subscribe, value.foreign, value.unknown);
    }
  });

  test("gets for every completion and prompt the answer of an unknown id for another tenant's", async () => {
    const { list, expectSame } = await openCallers();
    const ids = Object.assign(
      {},
      ...listForeignIds(setup).map(({ path, foreign }) => ({ [path.at(-1) ?? ""]: foreign })),
    );
    const { resourceTemplates } = await list((client) => client.listResourceTemplates());
    const { prompts } = await list((client) => client.listPrompts());
    const completed = [
      ...resourceTemplates.map(({ uriTemplate }) => ({
        ref: { type: "ref/resource", uri: uriTemplate } as const,
        names: uriTemplate.match(/\w+(?=[,}*])/g) ?? [],
      })),
      ...prompts.map(({ name, arguments: args = [] }) => ({
        ref: { type: "ref/prompt", name } as const,
        names: args.map((argument) => argument.name),
      })),
    ];
    for (const { ref, names } of completed) {
      for (const name of names) {
        const where = `${JSON.stringify(ref)} ${name}`;
        const id: string = ids[name] ?? ids.programId;
        const typed: Ask = (client, value) => client.complete({ ref, argument: { name, value } });
        await expectSame(where, typed, id, createId(id.slice(0, 3)));
        const chosen = names.filter((other) => ids[other] !== undefined);
        const within: Ask = (client, value) => {
          const context = chosen.map((other) => [other, value === ids.programId ? ids[other] : createId("prg")]);
          const given = { ref, argument: { name, value: "" }, context: { arguments: Object.fromEntries(context) } };
          return client.complete(given);
        };
        await expectSame(`${where} within what is chosen`, within, ids.programId, createId("prg"));
      }
    }
    for (const { name, arguments: args = [] } of prompts) {
      for (const { name: argument } of args) {
        const id = ids[argument] ?? ids.programId;
        const ask: Ask = (client, value) => {
          const own = { ...setup.own.inputs.get_program, ...setup.own.inputs.update_round } as Record<string, unknown>;
          const given = args.flatMap((each) =>
            typeof own[each.name] === "string" ? [[each.name, own[each.name]]] : [],
          );
          return client.getPrompt({ name, arguments: { ...Object.fromEntries(given), [argument]: value } });
        };
        await expectSame(`${name} ${argument}`, ask, id, createId(id.slice(0, 3)));
      }
    }
  });

  test("cannot use another tenant's cursors, confirmations and handles any more than altered ones", async () => {
    const { expectSame } = await openCallers();
    const { server } = setup.foreign;
    const { client } = await connectRecorded(server, await server.token(), revision);
    onTestFinished(() => client.close());
    const ask = async (name: CallName, input: object) =>
      JSON.stringify((await client.callTool({ name, arguments: { ...input } })).structuredContent ?? {});
    const programs = /"lastEvaluatedKey":"([^"]+)"/.exec(await ask("list_programs", { limit: 1 }))?.[1] ?? "";
    expect(programs).not.toBe("");
    const ownInputs = new Map(listInputs(setup.own));
    for (const [name, input] of new Map(listInputs(setup.foreign))) {
      const given = ownInputs.get(name) ?? {};
      if ("lastEvaluatedKey" in operations[name].queryObject.shape) {
        const cursor = /"lastEvaluatedKey":"([^"]+)"/.exec(await ask(name, { ...input, limit: 1 }))?.[1] ?? programs;
        const page: Ask = (caller, lastEvaluatedKey) =>
          caller.callTool({ name, arguments: { ...given, lastEvaluatedKey } });
        await expectSame(`${name} with a cursor`, page, cursor, alter(cursor));
      }
      const confirmation = /"confirmation":.*"token":"([^"]+)"/.exec(await ask(name, input))?.[1];
      if (confirmation === undefined) continue;
      const confirm: Ask = (caller, token) => caller.callTool({ name, arguments: { ...given, confirmation: token } });
      await expectSame(`${name} with a confirmation`, confirm, confirmation, alter(confirmation));
    }
    const [handle] = /[\w.]+@handle\.invalid/.exec(await ask("list_applicants", {})) ?? [];
    expect(handle === undefined).toBe(privacy === "off");
    for (const value of handle ? await listForeignAddresses(setup) : []) {
      await expectSame(`${value.name} with a handle`, callWith(value), handle ?? "", alter(handle ?? ""));
    }
  });

  test("is sent nothing while another tenant makes every change, though it follows all records there", async () => {
    const { one } = await openCallers();
    const updated: string[] = [];
    one.client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.push(params.uri));
    const { programId } = setup.own.inputs.get_program;
    const own = `programme://programs/${programId}`;
    const reads = listInputs(setup.foreign).filter(([name]) => operations[name].resource !== undefined);
    const theirs = reads.map(([name, input]) => expandResource(operations[name].resource ?? "", input));
    await follow(one.client, revision, [...theirs, own]);
    const neighbour = await setup.foreign.server.as("REST");
    for (const name of operationNames) {
      if (operations[name].effect !== "read")
        await neighbour.call(name, setup.foreign.inputs[name]).catch(() => undefined);
    }
    const staff = await setup.own.server.as("REST");
    const { version } = await staff.get_program({ programId });
    await staff.update_program({ programId, version, name: `Renamed for ${revision}` });
    await waitFor(() => expect(updated).toContain(own));
    expect(updated.filter((uri) => idsIn(uri).intersection(setup.foreignIds).size > 0)).toEqual([]);
    for (const { text } of one.exchanges) setup.traffic.add(text);
  });

  test("finds no text of another tenant in any answer, log line or metric", async () => {
    expect(setup.secrets.length).toBeGreaterThan(300);
    expect(setup.traffic.size).toBeGreaterThan(200);
    const metrics = await send(setup.metricsUrl, {});
    expect(metrics.status).toBe(200);
    // Lines that differ in ids and times alone are searched once.
    const log = new Set(setup.log.map((line) => line.replaceAll(/\w{3}_[0-9A-Z]{26}|\d{13}|\d+\.\d+/g, "")));
    const seen = [...setup.traffic, ...log, metrics.text].join("\n");
    expect(findSecrets(seen, setup.secrets)).toEqual([]);
    expect([...idsIn(metrics.text)]).toEqual([]);
  });
});

function callWith(value: ForeignValue): Ask {
  return (client, given) => client.callTool({ name: value.name, arguments: value.with(given) });
}

/** Makes a request, and returns what was answered to it. */
async function record({ client, exchanges }: RecordedClient, ask: Ask, value: string) {
  const { length } = exchanges;
  await ask(client, value).catch(() => undefined);
  return exchanges.slice(length).map(({ status, headers, text }) => ({ status, headers, text: text.trimEnd() }));
}

/** Subscribes to resources, as far as the server agrees. Returns what ends the subscriptions. */
async function follow(client: Client, revision: Revision, uris: readonly string[]): Promise<() => Promise<void>> {
  if (revision === "2026-07-28") {
    const subscription = await client.listen({ resourceSubscriptions: [...uris] });
    return () => subscription.close();
  }
  for (const uri of uris) await client.subscribeResource({ uri }).catch(() => undefined);
  return async () => {
    for (const uri of uris) await client.unsubscribeResource({ uri });
  };
}

/** Returns a text with its last letter but one changed: of a signature, each bit of that letter counts. */
function alter(text: string): string {
  const at = text.includes("@") ? text.indexOf("@") - 2 : text.length - 2;
  return `${text.slice(0, at)}${text[at] === "a" ? "b" : "a"}${text.slice(at + 1)}`;
}
