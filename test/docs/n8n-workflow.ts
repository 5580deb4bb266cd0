import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { root } from "./pages.ts";

// biome-ignore lint/suspicious/noExplicitAny: a workflow handles data of any shape
type Json = any;

/** The items that go from node to node. */
export interface Item {
  readonly json: Json;
  readonly binary?: Readonly<Record<string, Buffer>>;
}

export interface WorkflowNode {
  readonly name: string;
  readonly type: string;
  readonly typeVersion: number;
  readonly parameters: Json;
  readonly credentials?: Readonly<Record<string, { readonly id: string; readonly name: string }>>;
}

export interface Workflow {
  readonly name: string;
  readonly nodes: readonly WorkflowNode[];
  readonly connections: Readonly<Record<string, { readonly main: readonly (readonly { readonly node: string }[])[] }>>;
}

/** The settings of an installation of n8n besides the workflow. */
export interface Installation {
  /** Values of the node "Settings" that a person changes. */
  readonly settings: Readonly<Record<string, string>>;
  readonly token: string;
  readonly signingSecret?: string;
  /** The values that "Remove Duplicates" has seen in previous executions. */
  readonly seen?: Set<string>;
  readonly s3?: S3Client;
}

/** A node that failed: its items, and the data of the nodes before it, with which a retry begins. */
export class NodeFailure extends Error {
  readonly node: string;
  readonly items: readonly Item[];
  readonly done: ReadonlyMap<string, readonly Item[]>;

  constructor(cause: unknown, node: string, items: readonly Item[], done: ReadonlyMap<string, readonly Item[]>) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.node = node;
    this.items = items;
    this.done = done;
  }
}

export function readWorkflow(file: string): Workflow {
  return JSON.parse(readFileSync(join(root, "examples/n8n", file), "utf8"));
}

/** A loop of a workflow ends before. */
const maxRuns = 100;

let executions = 0;

/**
 * Executes a workflow from its first node, or from the node that failed, as n8n does: nodes run once with all items of
 * the one before, branches one after the other, and a branch without items ends.
 * @returns the items that each node returned last, of its first output with any
 * @throws NodeFailure
 */
export async function runWorkflow(
  { nodes, connections }: Workflow,
  installation: Installation,
  start: Pick<NodeFailure, "node" | "items" | "done"> | readonly Item[] = [{ json: {} }],
): Promise<ReadonlyMap<string, readonly Item[]>> {
  const {
    node: first,
    items: firstItems,
    done: before,
  } = "done" in start ? start : { node: nodes[0]?.name ?? "", items: start, done: new Map<string, readonly Item[]>() };
  const done = new Map(before);
  executions += 1;
  const executionId = String(executions);
  let runs = 0;
  async function run(name: string, items: readonly Item[]): Promise<void> {
    runs += 1;
    if (runs > maxRuns) throw new Error(`${name} runs without end`);
    const node = nodes.find((each) => each.name === name);
    const execute = node && executors[node.type];
    if (!execute) throw new Error(`${name} cannot be executed`);
    const outputs = await execute({ node, items, done, installation, executionId }).catch((error) => {
      throw new NodeFailure(error, name, items, done);
    });
    done.set(name, outputs.find((output) => output.length > 0) ?? []);
    for (const [index, output] of outputs.entries()) {
      if (output.length === 0) continue;
      for (const next of connections[name]?.main[index] ?? []) await run(next.node, output);
    }
  }
  await run(first, firstItems);
  return done;
}

interface Execution {
  readonly node: WorkflowNode;
  readonly items: readonly Item[];
  readonly done: ReadonlyMap<string, readonly Item[]>;
  readonly installation: Installation;
  readonly executionId: string;
}

type Execute = (execution: Execution) => Promise<readonly (readonly Item[])[]>;

const pass: Execute = async ({ items }) => [items];

const executors: Readonly<Record<string, Execute>> = {
  "n8n-nodes-base.manualTrigger": pass,
  "n8n-nodes-base.scheduleTrigger": async () => [[{ json: { timestamp: new Date().toISOString() } }]],
  "n8n-nodes-base.webhook": pass,
  "n8n-nodes-base.set": async (execution) => {
    const { assignments } = execution.node.parameters.assignments;
    const values = assignments.map(({ name, value }: Json) => [name, execution.installation.settings[name] ?? value]);
    return [execution.items.map(() => ({ json: Object.fromEntries(values) }))];
  },
  "n8n-nodes-base.code": async ({ node, items }) => {
    const $input = { all: () => items, first: () => items[0] };
    const code = `(async () => {${node.parameters.jsCode}})()`;
    return [copy(await runInNewContext(code, { $input, $json: items[0]?.json }))];
  },
  "n8n-nodes-base.splitOut": async ({ node, items }) => {
    const path = String(node.parameters.fieldToSplitOut).split(".");
    const listOf = ({ json }: Item) => path.reduce((value, key) => value[key], json) as Json[];
    return [items.flatMap((item) => listOf(item).map((json) => ({ json })))];
  },
  "n8n-nodes-base.if": async (execution) => {
    const holds = execution.items.map((item) => checkConditions(execution, item));
    return [execution.items.filter((_, index) => holds[index]), execution.items.filter((_, index) => !holds[index])];
  },
  "n8n-nodes-base.filter": async (execution) => [execution.items.filter((item) => checkConditions(execution, item))],
  "n8n-nodes-base.removeDuplicates": async (execution) => {
    const { installation, node, items } = execution;
    const isNew = (item: Item) => {
      const value = String(resolve(node.parameters.dedupeValue, item, execution));
      if (installation.seen?.has(value)) return false;
      installation.seen?.add(value);
      return true;
    };
    return [items.filter(isNew)];
  },
  "n8n-nodes-base.crypto": async ({ node, items, installation }) => {
    const { type, encoding, binaryPropertyName, dataPropertyName } = node.parameters;
    const sign = ({ json, binary }: Item) => {
      const hmac = createHmac(type, installation.signingSecret ?? "").update(binary?.[binaryPropertyName] ?? "");
      return { json: { ...json, [dataPropertyName]: hmac.digest(encoding) } };
    };
    return [items.map(sign)];
  },
  "n8n-nodes-base.wait": pass,
  "n8n-nodes-base.stopAndError": async (execution) => {
    throw new Error(String(resolve(execution.node.parameters.errorMessage, execution.items[0], execution)));
  },
  "n8n-nodes-base.s3": async (execution) => {
    const { bucketName, fileName, binaryPropertyName } = execution.node.parameters;
    for (const item of execution.items) {
      const [Bucket, Key] = [bucketName, fileName].map((value) => String(resolve(value, item, execution)));
      await execution.installation.s3?.send(
        new PutObjectCommand({ Bucket, Key, Body: item.binary?.[binaryPropertyName] as Buffer }),
      );
    }
    return [execution.items];
  },
  "n8n-nodes-base.httpRequest": async (execution) => {
    const outputs = [];
    for (const item of execution.items) outputs.push(...(await request(execution, item)));
    return [outputs];
  },
};

/** Makes the request of an HTTP Request node, and those of its further pages. */
async function request(execution: Execution, item: Item): Promise<Item[]> {
  const { parameters } = execution.node;
  const pagination = parameters.options.pagination?.pagination;
  const pages: Item[] = [];
  let last: Json = {};
  for (;;) {
    const query = new URLSearchParams();
    const parametersOfPage = pagination?.parameters.parameters ?? [];
    for (const { name, value } of [...(parameters.queryParameters?.parameters ?? []), ...parametersOfPage]) {
      const resolved = resolve(value, item, execution, { $response: last });
      if (resolved !== undefined) query.append(name, String(resolved));
    }
    const response = await send(execution, item, query);
    pages.push(response);
    last = { body: response.json };
    if (!pagination || resolve(pagination.completeExpression, item, execution, { $response: last })) return pages;
  }
}

async function send(execution: Execution, item: Item, query: URLSearchParams): Promise<Item> {
  const { node, installation } = execution;
  const { method, url, headerParameters, jsonBody, options } = node.parameters;
  const headers = new Headers();
  for (const { name, value } of headerParameters?.parameters ?? [])
    headers.set(name, String(resolve(value, item, execution)));
  if (node.credentials?.["httpBearerAuth"]) headers.set("authorization", `Bearer ${installation.token}`);
  const address = new URL(String(resolve(url, item, execution)));
  for (const [name, value] of query) address.searchParams.append(name, value);
  const body = jsonBody === undefined ? undefined : String(resolve(jsonBody, item, execution));
  if (body !== undefined) headers.set("content-type", "application/json");
  const answer = await fetch(address, { method, headers, ...(body === undefined ? {} : { body }) });
  const content = Buffer.from(await answer.arrayBuffer());
  if (!answer.ok) throw new Error(`${node.name}: ${answer.status} ${content}`);
  const { responseFormat, outputPropertyName } = options.response?.response ?? {};
  if (responseFormat === "file") return { json: {}, binary: { [outputPropertyName]: content } };
  if (responseFormat === "text") return { json: { [outputPropertyName]: content.toString() } };
  const isJson = answer.headers.get("content-type")?.includes("json");
  return { json: isJson ? JSON.parse(content.toString()) : { data: content.toString() } };
}

function checkConditions(execution: Execution, item: Item): boolean {
  const { conditions } = execution.node.parameters.conditions;
  return conditions.every(({ leftValue, rightValue, operator }: Json) => {
    const left = resolve(leftValue, item, execution);
    // Types are checked strictly.
    if (typeof left !== operator.type) return false;
    return operator.operation === "true" ? left === true : left === resolve(rightValue, item, execution);
  });
}

/** Resolves a parameter: an expression begins with `=`, and its parts in `{{ }}` are JavaScript. */
function resolve(value: Json, item: Item | undefined, { done, executionId }: Execution, more: object = {}): unknown {
  if (typeof value !== "string" || !value.startsWith("=")) return value;
  const $ = (name: string) => ({ first: () => done.get(name)?.[0] });
  const scope = { ...more, $, $json: item?.json, $execution: { id: executionId }, JSON };
  const evaluate = (code: string) => runInNewContext(`(${code})`, scope) as unknown;
  const alone = /^=\{\{((?:(?!\}\}).)*)\}\}$/s.exec(value);
  if (alone) return evaluate(alone[1] as string);
  return value.slice(1).replace(/\{\{(.*?)\}\}/gs, (_, code: string) => String(evaluate(code)));
}

/** Copies a value out of the context of the code that made it. */
function copy(value: Json): Json {
  return JSON.parse(JSON.stringify(value));
}
