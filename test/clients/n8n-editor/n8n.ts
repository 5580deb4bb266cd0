import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Item, Workflow } from "../../docs/n8n-workflow.ts";
import { temporaryDirectory } from "../../support/processes/directory.ts";
import { freePort } from "../../support/processes/free-port.ts";
import { waitFor } from "../../support/wait.ts";

const require = createRequire(import.meta.url);
const packages = join(import.meta.dirname, "node_modules");
const startMs = 300_000;
const executionMs = 180_000;

// biome-ignore lint/suspicious/noExplicitAny: answers of n8n
type Json = any;

/** An installation of n8n with an owner, who is signed in. */
export interface N8n {
  readonly origin: string;
  readonly owner: { readonly email: string; readonly password: string };
  /** Calls the interface that the editor calls. */
  call(method: string, path: string, body?: object): Promise<Json>;
  createCredential(name: string, type: string, data: object): Promise<{ readonly id: string; readonly name: string }>;
  /** Executes a saved workflow as the button of the editor does. */
  execute(workflow: Workflow & { readonly id: string }): Promise<Execution>;
  /** Executes an execution that failed again, from the node that failed. */
  retry(executionId: string): Promise<void>;
  /** Waits until so many executions of a workflow have finished. */
  finish(workflowId: string, executions: number): Promise<void>;
  close(): Promise<void>;
}

export interface Execution {
  readonly id: string;
  readonly status: string;
  readonly message: string | undefined;
  /** The items that each node returned last, of its first output with any. */
  readonly items: ReadonlyMap<string, readonly Item[]>;
}

/** Starts n8n. Installs it first, which takes 3 GB and some minutes. */
export async function openN8n(): Promise<N8n> {
  await install();
  const [directory, port, brokerPort] = await Promise.all([temporaryDirectory(), freePort(), freePort()]);
  const child = spawn(process.execPath, [join(packages, "n8n/bin/n8n"), "start"], {
    cwd: directory.path,
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: directory.path,
      N8N_USER_FOLDER: directory.path,
      N8N_PORT: String(port),
      N8N_LISTEN_ADDRESS: "127.0.0.1",
      N8N_RUNNERS_BROKER_PORT: String(brokerPort),
      N8N_SECURE_COOKIE: "false",
      N8N_DIAGNOSTICS_ENABLED: "false",
      N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
      N8N_TEMPLATES_ENABLED: "false",
      N8N_PERSONALIZATION_ENABLED: "false",
    },
  });
  const ended = once(child, "exit");
  async function close(): Promise<void> {
    child.kill();
    await ended;
    await directory.remove();
  }
  const n8n = { ...connectTo(`http://127.0.0.1:${port}`), close };
  const person = { ...n8n.owner, firstName: "Olga", lastName: "Owner" };
  try {
    // The interface answers some seconds later than the process listens.
    await waitFor(() => n8n.call("POST", "/owner/setup", person), startMs);
  } catch (error) {
    await close();
    throw error;
  }
  return n8n;
}

/** Installs n8n, where it is not there yet. Of its packages with native code it needs only SQLite's built. */
async function install(): Promise<void> {
  const cwd = import.meta.dirname;
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  const npm = (...args: string[]) => promisify(execFile)("npm", [...args, "--no-audit", "--no-fund"], { cwd, env });
  if (!existsSync(join(packages, "n8n"))) await npm("install", "--ignore-scripts");
  if (!existsSync(join(packages, "sqlite3/build"))) await npm("rebuild", "sqlite3");
}

function connectTo(origin: string): Omit<N8n, "close"> {
  let cookie = "";
  const call: N8n["call"] = async (method, path, body) => {
    const response = await fetch(`${origin}/rest${path}`, {
      method,
      headers: { "content-type": "application/json", cookie },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    const [given] = response.headers.getSetCookie();
    cookie = given?.split(";")[0] ?? cookie;
    return JSON.parse(text).data;
  };
  return {
    origin,
    owner: { email: "olga@example.org", password: "Correct-horse-7" },
    call,
    createCredential: (name, type, data) => call("POST", "/credentials", { name, type, data }),
    async execute(workflow) {
      const triggerToStartFrom = { name: workflow.nodes[0]?.name };
      const run = { workflowData: workflow, triggerToStartFrom };
      const { executionId } = await call("POST", `/workflows/${workflow.id}/run`, run);
      return waitFor(async () => readExecution(await call("GET", `/executions/${executionId}`)), executionMs);
    },
    async retry(executionId) {
      const { status } = await call("POST", `/executions/${executionId}/retry`, { loadWorkflow: true });
      if (status !== "success") throw new Error(`The retry of execution ${executionId} ended as ${status}`);
    },
    async finish(workflowId, executions) {
      const filter = encodeURIComponent(JSON.stringify({ workflowId }));
      await waitFor(async () => {
        const { results } = await call("GET", `/executions?filter=${filter}`);
        if (results.filter(isFinished).length < executions) throw new Error(`${results.length} executions`);
      }, executionMs);
    },
  };
}

const isFinished = ({ status }: Json) => ["success", "error", "crashed", "canceled"].includes(status);

/** @throws if the execution has not finished */
function readExecution(execution: Json): Execution {
  if (!isFinished(execution)) throw new Error(`The execution ${execution.id} is ${execution.status}`);
  const { resultData } = require(join(packages, "flatted")).parse(execution.data);
  const items = new Map<string, readonly Item[]>();
  for (const [name, runs] of Object.entries<Json[]>(resultData.runData)) {
    const outputs: Item[][] = runs.at(-1).data?.main ?? [];
    items.set(name, outputs.find((output) => output?.length > 0) ?? []);
  }
  return { id: execution.id, status: execution.status, message: resultData.error?.message, items };
}
