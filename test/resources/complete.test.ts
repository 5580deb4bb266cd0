import { describe, expect } from "vitest";
import { operationNames, operations } from "../../src/contract/index.ts";
import { openTestServer, type TestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { type Browser, browsers, catchRefusal, connectBrowser } from "./resource-clients.ts";

type Chosen = Record<string, string>;

/** Completes a variable of the template of an operation. */
async function complete(
  browser: Browser,
  operation: keyof typeof operations,
  name: string,
  value: string,
  chosen: Chosen = {},
) {
  const ref = { type: "ref/resource", uri: operations[operation].resource };
  const { completion } = await browser.client.complete({
    ref,
    argument: { name, value },
    context: { arguments: chosen },
  });
  return completion.values as string[];
}

async function callsOf(server: TestServer, work: () => Promise<unknown>): Promise<number> {
  const { call } = server.app.pipeline as unknown as { call: never };
  void call;
  const count = async () => {
    await server.app.pipeline.flush();
    let entries = 0;
    for (const name of operationNames) {
      const { rows } = await server.app.store
        .reader(server.businessId)
        .pageAudit({ action: operations[name].audit }, { limit: 500 });
      entries += rows.length;
    }
    return entries;
  };
  const before = await count();
  await work();
  return (await count()) - before;
}

describe.each(Object.entries(browsers))("%s", (_, connect) => {
  test("completes ids by their beginning and by name, within what is chosen already", async ({ server }) => {
    const open = await server.seed.program({ name: "Open call" });
    const closed = await server.seed.program({ name: "Closed call" });
    const track = await server.seed.track({ programId: open.programId, name: "Sculpture" });
    const other = await server.seed.track({ programId: closed.programId, name: "Sculpture" });
    const submission = await server.seed.submission({ trackId: track.trackId, title: "A light roof" });
    const namesake = await server.seed.submission({ trackId: other.trackId, title: "Light in August" });
    await server.seed.submission({ trackId: track.trackId, title: "A heavy door" });
    const browser = await connect(server, await server.token());
    expect(await complete(browser, "get_program", "programId", "open")).toEqual([open.programId]);
    expect(await complete(browser, "get_program", "programId", open.programId.slice(0, -1))).toContain(open.programId);
    expect((await complete(browser, "list_tracks", "programId", "")).toSorted()).toEqual(
      [open.programId, closed.programId].toSorted(),
    );
    const chosen = { programId: closed.programId };
    expect((await complete(browser, "list_submissions", "trackId", "sculpt")).toSorted()).toEqual(
      [track.trackId, other.trackId].toSorted(),
    );
    expect(await complete(browser, "list_submissions", "trackId", "sculpt", chosen)).toEqual([other.trackId]);
    expect(await complete(browser, "get_submission", "submissionId", "LIGHT")).toEqual([
      namesake.submissionId,
      submission.submissionId,
    ]);
    expect(await complete(browser, "list_audit_entries", "submissionId", "light", chosen)).toEqual([
      namesake.submissionId,
    ]);
    expect(await complete(browser, "get_program", "programId", "nothing like it")).toEqual([]);
  });

  test("another tenant's records are not among the values", async ({ server }) => {
    const neighbour = await server.other();
    const { programId } = await neighbour.seed.program({ name: "Their call" });
    await neighbour.seed.submission({ title: "Their work" });
    const browser = await connect(server, await server.token());
    expect(await complete(browser, "get_program", "programId", "")).toEqual([]);
    expect(await complete(browser, "get_program", "programId", programId)).toEqual([]);
    expect(await complete(browser, "get_submission", "submissionId", "Their")).toEqual([]);
    expect(await complete(browser, "list_submissions", "trackId", "", { programId })).toEqual([]);
  });
});

test("every variable of every template can be completed, except those that only the service creates", async ({
  server,
}) => {
  const round = await server.seed.round();
  const { programId, trackId, roundId } = round;
  const { fileId } = await server.seed.file();
  const { submissionId, schemaId } = await server.seed.submission({
    trackId,
    state: "IN_REVIEW",
    currentRoundId: roundId,
    fileIds: [fileId],
  });
  const { reviewerId } = await server.seed.reviewer({ programIds: [programId], roundIds: [roundId] });
  const { assignmentId } = await server.seed.assignment({ submissionId, reviewerId, roundId, programId, trackId });
  await server.seed.review({ assignmentId, submissionId, programId, roundId, reviewerId });
  const ref = { namespace: "crm", objectType: "contact", externalId: "C-1" };
  await server.seed.person({ externalRefs: [ref], platformUserId: "usr_1" });
  await server.seed.personSchema();
  await server.seed.applicant({ programIds: [programId], trackIds: [trackId] });
  const staff = await server.as("REST");
  await staff.update_program({ programId, startDate: "2026-03-01T00:00:00Z", version: 0 });
  const { exportId } = await staff.create_export({ programId });
  const browser = await connectBrowser(server, await server.token());
  const opaque = ["lastEvaluatedKey", "cursor"];
  for (const name of operationNames) {
    const { resource, params, queryObject } = operations[name];
    if (resource === undefined) continue;
    for (const variable of [...Object.keys(params.shape), ...Object.keys(queryObject.shape)]) {
      const chosen: Chosen =
        name === "get_schema" ? { schemaId } : name === "get_rubric" ? { rubricId: round.rubricId } : {};
      const values = await complete(browser, name, variable, "", variable === "version" ? chosen : {});
      expect(values.length > 0, `${variable} of ${name}: ${values}`).toBe(!opaque.includes(variable));
    }
  }
  expect(await complete(browser, "get_export", "exportId", "exp_")).toEqual([exportId]);
  expect(await complete(browser, "list_payments", "status", "s")).toEqual(["succeeded"]);
  expect(await complete(browser, "list_assignments", "includeInactive", "")).toEqual(["true", "false"]);
  expect(await complete(browser, "get_schema", "version", "", { schemaId })).toEqual(["1"]);
  expect(await complete(browser, "get_submission", "submissionId", "", { programId: "prg_none" })).toEqual([]);
});

describe("people", () => {
  test("are found by name, as far as the caller may see it", async ({ server }) => {
    const { personId } = await server.seed.person();
    const { reviewerId } = await server.seed.reviewer({ firstName: "Rita", lastName: "Okafor" });
    await server.seed.reviewer({ firstName: "Sam", lastName: "Berg", email: "rita.berg@example.org" });
    const all = await connectBrowser(server, await server.token());
    expect(await complete(all, "get_person", "personId", "grace l")).toEqual([personId]);
    expect(await complete(all, "get_reviewer", "reviewerId", "okaf")).toEqual([reviewerId]);
    // A match inside the email address does not count as a match of the name.
    expect(await complete(all, "get_reviewer", "reviewerId", "rita")).toEqual([reviewerId]);
    const plain = await connectBrowser(server, await server.token(["persons:read"]));
    expect(await complete(plain, "get_person", "personId", "grace l")).toEqual([]);
    expect(await complete(plain, "get_person", "personId", "per_")).toEqual([personId]);
  });

  test("are found by name when their addresses are handles", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_PRIVACY: "pseudonymize" });
    try {
      await server.seed.applicant({ email: "ada@example.org", name: "Ada Marsh" });
      const browser = await connectBrowser(server, await server.token());
      const [handle, ...others] = await complete(browser, "list_email_sends", "recipientEmail", "ada m");
      expect(handle).toMatch(/[@.]handle\.invalid$/);
      expect(others).toEqual([]);
    } finally {
      await close();
    }
  });
});

describe("limits", () => {
  test("at most a hundred values are returned, with a note that there are more", async ({ server }) => {
    const { trackId } = await server.seed.track();
    for (let count = 0; count < 130; count++) await server.seed.submission({ trackId, title: `Work ${count}` });
    const { client } = await connectBrowser(server, await server.token());
    const ref = { type: "ref/resource", uri: operations.get_submission.resource };
    const { completion } = await client.complete({ ref, argument: { name: "submissionId", value: "work" } });
    expect(completion.values).toHaveLength(100);
    expect(completion).toMatchObject({ total: 130, hasMore: true });
    const calls = await callsOf(server, () =>
      client.complete({ ref, argument: { name: "submissionId", value: "zzz" } }),
    );
    expect(calls).toBe(2);
  });

  test("no completion costs more than eight calls", async ({ server }) => {
    for (let count = 0; count < 12; count++) await server.seed.round();
    const browser = await connectBrowser(server, await server.token());
    for (const variable of ["roundId", "programId"]) {
      expect(await callsOf(server, () => complete(browser, "list_reviewers", variable, "x"))).toBeLessThanOrEqual(8);
    }
  });

  test("what the caller may not read is not completed, and costs no call", async ({ server }) => {
    const { submissionId } = await server.seed.submission();
    const browser = await connectBrowser(server, await server.token(["programs:read"]));
    const calls = await callsOf(server, async () => {
      expect(await complete(browser, "get_submission", "submissionId", submissionId.slice(0, 5))).toEqual([]);
    });
    expect(calls).toBe(0);
  });
});

test("a template, variable or prompt that does not exist is refused", async ({ server }) => {
  const { client } = await connectBrowser(server, await server.token());
  const ask = (ref: object, name: string) => catchRefusal(client.complete({ ref, argument: { name, value: "" } }));
  const uri = operations.get_program.resource;
  expect(await ask({ type: "ref/resource", uri: "programme://nonsense/{id}" }, "id")).toMatchObject({ code: -32602 });
  expect(await ask({ type: "ref/resource", uri }, "trackId")).toMatchObject({ code: -32602 });
  expect(await ask({ type: "ref/resource", uri }, "constructor")).toMatchObject({ code: -32602 });
  expect(await ask({ type: "ref/prompt", name: "nonsense" }, "programId")).toMatchObject({ code: -32602 });
  expect(await ask({ type: "ref/prompt", name: "round_progress" }, "personId")).toMatchObject({ code: -32602 });
});
