import assert from "node:assert/strict";
import { type Installation, readWorkflow, type Workflow } from "../../docs/n8n-workflow.ts";
import type { WorkflowRunner } from "../../docs/workflow-runner.ts";
import { waitFor } from "../../support/wait.ts";
import type { N8n } from "./n8n.ts";

type SavedWorkflow = Workflow & { readonly id: string; readonly versionId: string };

/** Returns a runner that follows the steps of the cookbook in n8n. */
export function createRunner(n8n: N8n): WorkflowRunner {
  let failedId = "";
  return {
    async run(file, installation) {
      const workflow = await importWorkflow(n8n, readWorkflow(file), installation);
      const { id, status, message, items } = await n8n.execute(workflow);
      if (status === "success") return items;
      failedId = id;
      throw new Error(message);
    },
    retry: () => n8n.retry(failedId),
    async publish(file, installation) {
      const { id, versionId, nodes } = await importWorkflow(n8n, readWorkflow(file), installation);
      await n8n.call("POST", `/workflows/${id}/activate`, { versionId });
      const url = `${n8n.origin}/webhook/${nodes[0]?.parameters.path}`;
      // The address is served a moment later. It takes POST alone, and says so.
      await waitFor(async () => assert.match(await (await fetch(url)).text(), /POST/), 60_000);
      const credential = nodes.find(({ credentials }) => credentials?.["crypto"])?.credentials?.["crypto"];
      return {
        url,
        storeSecret: (hmacSecret) =>
          n8n.call("PATCH", `/credentials/${credential?.id}`, { ...credential, type: "crypto", data: { hmacSecret } }),
        finish: (executions) => n8n.finish(id, executions),
      };
    },
  };
}

/** Imports a workflow, changes the values of the node "Settings" and chooses credentials. */
export async function importWorkflow(n8n: N8n, workflow: Workflow, installation: Installation): Promise<SavedWorkflow> {
  const data = await readCredentialData(installation);
  const chosen = new Map<string, { readonly id: string; readonly name: string }>();
  const nodes = [];
  for (const node of structuredClone(workflow.nodes)) {
    for (const assignment of node.parameters.assignments?.assignments ?? [])
      assignment.value = installation.settings[assignment.name] ?? assignment.value;
    const credentials: Record<string, { readonly id: string; readonly name: string }> = {};
    for (const [type, { name }] of Object.entries(node.credentials ?? {})) {
      const credential = chosen.get(type) ?? (await n8n.createCredential(name, type, data[type] ?? {}));
      chosen.set(type, credential);
      credentials[type] = { id: credential.id, name };
    }
    nodes.push({ ...node, credentials });
  }
  return n8n.call("POST", "/workflows", { ...workflow, nodes });
}

async function readCredentialData({ token, s3 }: Installation): Promise<Record<string, object>> {
  const endpoint = await s3?.config.endpoint?.();
  const keys = await s3?.config.credentials();
  return {
    httpBearerAuth: { token, allowedHttpRequestDomains: "domains", allowedDomains: "127.0.0.1" },
    crypto: { hmacSecret: "" },
    s3: {
      endpoint: endpoint && `${endpoint.protocol}//${endpoint.hostname}:${endpoint.port}`,
      region: await s3?.config.region(),
      accessKeyId: keys?.accessKeyId,
      secretAccessKey: keys?.secretAccessKey,
      forcePathStyle: true,
    },
  };
}
