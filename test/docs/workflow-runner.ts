import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { type Installation, type Item, type NodeFailure, readWorkflow, runWorkflow } from "./n8n-workflow.ts";

/** Executes the workflows of the cookbook: n8n itself, or the interpreter of the tests. */
export interface WorkflowRunner {
  /** Executes a workflow from its trigger. Rejects with the message of the node that fails. */
  run(file: string, installation: Installation): Promise<ReadonlyMap<string, readonly Item[]>>;
  /** Executes the latest run, which failed, again from the node that failed. */
  retry(): Promise<void>;
  /** Publishes a workflow that begins with a webhook. */
  publish(file: string, installation: Installation): Promise<PublishedWorkflow>;
}

export interface PublishedWorkflow {
  readonly url: string;
  /** Stores the signing secret in the credential of the workflow. */
  storeSecret(secret: string): Promise<void>;
  /** Waits until so many executions have finished. */
  finish(executions: number): Promise<void>;
}

export async function openInterpreter(): Promise<WorkflowRunner> {
  let repeat = async () => {};
  return {
    async run(file, installation) {
      try {
        return await runWorkflow(readWorkflow(file), installation);
      } catch (error) {
        repeat = async () => void (await runWorkflow(readWorkflow(file), installation, error as NodeFailure));
        throw error;
      }
    },
    retry: () => repeat(),
    publish,
  };
}

async function publish(file: string, installation: Installation): Promise<PublishedWorkflow> {
  let signingSecret = "";
  const executions: Promise<unknown>[] = [];
  const seen = new Set<string>();
  const server = createServer(async (request, response) => {
    const data = await buffer(request);
    const item = { json: { headers: request.headers, body: JSON.parse(data.toString()) }, binary: { data } };
    executions.push(runWorkflow(readWorkflow(file), { ...installation, signingSecret, seen }, [item]));
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async storeSecret(secret) {
      signingSecret = secret;
    },
    finish: async (expected) => void (await Promise.all(executions.slice(0, expected))),
  };
}
