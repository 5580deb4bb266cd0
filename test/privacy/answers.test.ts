import { Client } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { excludeSensitiveScopes, scopes } from "../../src/contract/access/scopes.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer } from "../support/servers/test-server.ts";

const ordinary = [...excludeSensitiveScopes(new Set(scopes))];
const phone = "+44 20 7946 0018";

test("personal answers of a remote service need the scope, and what was read can be written back", async () => {
  const { server, close } = await openTestServer();
  onTestFinished(close);
  const schema = await server.seed.schema();
  const [title, ...rest] = schema.fields;
  if (!title) throw new Error("The form has no fields");
  const own = [
    { ...title, fieldId: "fld_birth", key: "birth", required: false, sensitivity: "pii" as const },
    { ...title, fieldId: "fld_call", key: "call", required: false },
  ];
  const form = await server.seed.schema({ fields: [title, ...rest, ...own] });
  const track = await server.seed.track({ schemaId: form.schemaId });
  const fields = { [title.fieldId]: "A roof", fld_birth: "1971-05-01", fld_call: phone };
  const { submissionId } = await server.seed.submission({ ...track, fields, schemaId: form.schemaId });
  const seen = async (granted: typeof ordinary) => {
    const agents = await openRemote(server.origin, {
      PROGRAMME_PRIVACY: "pseudonymize",
      PROGRAMME_SCOPES: granted.join(),
    });
    onTestFinished(() => agents.close());
    const [here, there] = createStdioPair();
    agents.connectStdio(await server.token(granted), there);
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(here);
    onTestFinished(() => client.close());
    // biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
    const call = async (name: string, args: Record<string, unknown>): Promise<any> =>
      (await client.callTool({ name, arguments: args })).structuredContent;
    return { call, data: (await call("get_submission", { submissionId })).data };
  };
  const { call, data } = await seen(ordinary);
  expect(data.fields).toEqual({ [title.fieldId]: "A roof", fld_call: expect.stringMatching(/^phone~/) });
  expect((await seen([...scopes])).data.fields).toMatchObject({ fld_birth: "1971-05-01" });
  await call("update_submission_fields", { submissionId, version: data.version, fields: data.fields });
  const kept = await server.app.store.reader(server.businessId).get("submissions", submissionId);
  expect(kept?.fields).toEqual(fields);
});
