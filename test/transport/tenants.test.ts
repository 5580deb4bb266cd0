import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { sensitiveScope } from "../../src/contract/access/scopes.ts";
import { createRandomToken } from "../../src/lib/crypto/crypto.ts";
import { idempotencyMetaKey } from "../../src/tools/idempotency.ts";
import { browsers } from "../resources/resource-clients.ts";
import { clientsOverHttp, readConfirmation, readError } from "../support/clients/clients.ts";
import { personFieldIds } from "../support/data/seed-factory.ts";
import {
  callTool,
  listTools,
  openSession,
  postMcp,
  readCalled,
  readMessage,
  scopesWithout,
  toolNames,
} from "../support/servers/gateway.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

describe("two tenants with their own product tokens, on one process before a remote service", () => {
  async function openSetup(environment: Record<string, string> = {}, service: Record<string, string> = {}) {
    const { server, close } = await openTestServer(service);
    onTestFinished(close);
    const app = await openRemote(server.origin, environment, { clock: server.clock });
    onTestFinished(() => app.close());
    const { origin } = await app.listen();
    const at = (tenant: TestServer) => ({ ...tenant, origin });
    return { one: at(server), two: at(await server.other()), app };
  }

  test.each(clientsOverHttp)("get their own data through clients of %s", async (_, connect) => {
    const { one, two } = await openSetup();
    const setups = await Promise.all(
      [one, two].map(async (tenant) => ({
        program: await tenant.seed.program(),
        client: await connect(tenant, await tenant.token()),
      })),
    );
    for (const { client, program } of [...setups, ...setups]) {
      expect((await client.call("list_programs", {})).structuredContent?.data).toEqual([program]);
    }
    const foreign = await setups[1]?.client.call("get_program", { programId: setups[0]?.program.programId });
    expect(readError(foreign as NonNullable<typeof foreign>).code).toBe("not_found");
  });

  test("get their own answers to concurrent requests with the same JSON-RPC id", async () => {
    const { one, two } = await openSetup();
    const setups = await Promise.all(
      [one, two].map(async (each) => ({ each, token: await each.token(), program: await each.seed.program() })),
    );
    const rounds = Array.from({ length: 20 }, () => setups).flat();
    const answers = await Promise.all(
      rounds.map(({ each, token }) => postMcp(each, token, callTool("list_programs", {}, { id: 7 }))),
    );
    for (const [index, answer] of answers.entries()) {
      expect(readMessage(answer)).toMatchObject({
        id: 7,
        result: { structuredContent: { data: [rounds[index]?.program] } },
      });
    }
  });

  test("each learn only their own token's scopes", async () => {
    const { one, two } = await openSetup({ PROGRAMME_SCOPES: "" });
    const [few, all] = [await one.token(["programs:read"]), await two.token()];
    const before = await toolNames(one, few);
    expect(before).toContain("list_reviewers");
    expect(readError(await readCalled(one, few, "list_reviewers", {})).code).toBe("insufficient_scope");
    expect(await toolNames(one, few)).not.toContain("list_reviewers");
    expect(await toolNames(two, all)).toEqual(before);
    expect((await readCalled(two, all, "list_reviewers", {})).isError).toBeFalsy();
  });

  test("each lose only their own revoked token", async () => {
    const { one, two, app } = await openSetup();
    const [unknown, good] = [createRandomToken(), await two.token()];
    expect(readError(await readCalled(one, unknown, "list_programs", {})).code).toBe("invalid_token");
    expect((await postMcp(one, unknown, listTools)).status).toBe(401);
    expect((await postMcp(two, good, listTools)).status).toBe(200);
    await expect(app.upstream.identify(unknown)).rejects.toMatchObject({ code: "invalid_token" });
  });

  test("each use up only their own rate limit and export quota", async () => {
    const { one, two } = await openSetup({ PROGRAMME_REQUESTS_PER_MINUTE: "4" });
    const [mine, theirs] = [await one.token(), await two.token()];
    const { programId } = await one.seed.program();
    const other = await two.seed.program();
    expect((await readCalled(one, mine, "create_export", { programId })).isError).toBeFalsy();
    expect(readError(await readCalled(one, mine, "create_export", { programId })).code).toBe("export_rate_limited");
    expect((await readCalled(two, theirs, "create_export", { programId: other.programId })).isError).toBeFalsy();
    for (let count = 0; count < 3; count++) await readCalled(one, mine, "list_programs", {});
    expect(readError(await readCalled(one, mine, "list_programs", {})).code).toBe("rate_limited");
    expect((await readCalled(two, theirs, "list_programs", {})).isError).toBeFalsy();
  });

  test("cannot use each other's session ids", async () => {
    const { one, two } = await openSetup();
    const [mine, theirs] = [await one.token(), await two.token()];
    const session = await openSession(one, mine);
    expect((await postMcp(one, mine, listTools, session)).status).toBe(200);
    const unknown = { "mcp-session-id": session["mcp-session-id"].replace(/.$/, (last) => (last === "0" ? "1" : "0")) };
    const [refused, control] = [
      await postMcp(two, theirs, listTools, session),
      await postMcp(two, theirs, listTools, unknown),
    ];
    expect(refused.status).toBe(404);
    expect([control.status, control.text]).toEqual([refused.status, refused.text]);
    expect([...control.headers.keys()]).toEqual([...refused.headers.keys()]);
    expect((await postMcp(one, mine, listTools, session)).status).toBe(200);
  });

  test("can confirm only their own calls", async () => {
    const { one, two } = await openSetup({ PROGRAMME_CONFIRM: "ask" });
    const [mine, theirs, third] = [await one.token(), await two.token(), await one.token()];
    const { submissionId, version } = await one.seed.submission({ state: "IN_REVIEW" });
    const args = { submissionId, version, reason: "Out of scope" };
    const { token: confirmation } = readConfirmation(await readCalled(one, mine, "eliminate_submission", args));
    for (const [tenant, token] of [
      [two, theirs],
      [one, third],
    ] as const) {
      const foreign = await readCalled(tenant, token, "eliminate_submission", { ...args, confirmation });
      expect(readError(foreign).code).toBe("confirmation_invalid");
    }
    const own = await readCalled(one, mine, "eliminate_submission", { ...args, confirmation });
    expect(own.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
  });

  test("can resolve only their own handles", async () => {
    const { one, two } = await openSetup({ PROGRAMME_PRIVACY: "pseudonymize" });
    const [mine, theirs] = [await one.token(), await two.token()];
    const given = { primaryEmail: "same@example.org" };
    const { personId } = await one.seed.person(given);
    await two.seed.person(given);
    const shown = (await readCalled(one, mine, "get_person", { personId })).structuredContent?.data["primaryEmail"];
    expect(shown).toMatch(/handle\.invalid$/);
    expect((await readCalled(one, mine, "resolve_persons", { email: shown })).isError).toBeFalsy();
    expect(readError(await readCalled(two, theirs, "resolve_persons", { email: shown })).code).toBe("invalid_handle");
  });

  test("see person fields by their own schema only", async () => {
    const { one, two } = await openSetup({ PROGRAMME_SCOPES: scopesWithout(sensitiveScope).join() });
    const customFields = { [personFieldIds.standard]: "weaving" };
    const schema = await one.seed.personSchema();
    const fields = schema.fields.map((field) => ({ ...field, sensitivity: "pii" as const }));
    await two.seed.personSchema({ fields });
    const shown = [];
    for (const tenant of [one, two]) {
      const { personId } = await tenant.seed.person({ customFields });
      const person = await readCalled(tenant, await tenant.token(), "get_person", { personId });
      shown.push(person.structuredContent?.data["customFields"]);
    }
    expect(shown).toEqual([customFields, {}]);
  });

  test("can use the same idempotency key for different changes", async () => {
    const { one, two } = await openSetup();
    const meta = { [idempotencyMetaKey]: "run-1" };
    for (const tenant of [one, two]) {
      const { programId, version } = await tenant.seed.program();
      const token = await tenant.token();
      const args = { programId, version, name: "Renamed" };
      for (let count = 0; count < 2; count++) {
        const result = await readCalled(tenant, token, "update_program", args, { meta });
        expect(result.structuredContent?.data).toMatchObject({ programId, version: version + 1 });
      }
    }
  });

  test("are notified only of their own token's scopes", async () => {
    const { one, two } = await openSetup({ PROGRAMME_SCOPES: "" });
    const [few, all] = [await one.token(["programs:read"]), await two.token()];
    const connect = browsers["2026-07-28 over HTTP"] as (typeof browsers)[string];
    const [mine, theirs] = [await connect(one, few), await connect(two, all)];
    await mine.follow();
    await theirs.follow();
    await readCalled(one, few, "list_reviewers", {});
    await waitFor(() => expect(mine.notifications.lists).toContain("tools"));
    await wait(200);
    expect(theirs.notifications.lists).toEqual([]);
  });
});
