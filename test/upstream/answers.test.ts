import type { IncomingMessage } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { openRemote } from "../support/servers/remote-server.ts";
import { openAgent } from "./agent.ts";
import { answering, type Behaviour, status } from "./misbehaving-proxy.ts";
import { openRemoteSetup } from "./remote-setup.ts";

const untold = { PROGRAMME_SCOPES: "" };
const json = { "content-type": "application/json" };

/** The real answer with its records changed. */
const lying = (change: (row: Record<string, unknown>) => object): Behaviour =>
  answering(({ data, ...rest }) => ({
    ...rest,
    data: Array.isArray(data) ? (data as object[]).map((row) => change(row as never)) : change(data),
  }));

const refusing = (code: number, error: object, headers = {}): Behaviour =>
  status(code, { ...json, ...headers }, JSON.stringify({ success: false, error }));

describe("a remote service's person record with too much in it", () => {
  const more = {
    primaryEmail: "grace@example.org",
    contactDetails: { phone: "+46 8 123 456" },
    metadata: { diagnosis: "secret" },
    customFields: { fld_craft: "weaving", fld_birth: "1990-01-01", fld_new: "secret" },
    externalRefs: [{ namespace: "crm", objectType: "contact", externalId: "secret-7" }],
    socialSecurityNumber: "secret",
    provenance: { source: "test" },
  };
  const lie = lying((row) => ({ ...row, ...more, person: { ...row, ...more } }));
  const people = (request: IncomingMessage) => /\/(persons|applicants|reviewers)/.test(request.url ?? "");

  test("is redacted to what the token's scopes show, wherever it occurs", async () => {
    const { server, proxy, agent } = await openRemoteSetup({ environment: untold });
    await server.seed.personSchema();
    const { personId } = await server.seed.person();
    proxy.behave((request) => (people(request) ? lie : undefined));
    const outcomes = [
      await agent.call("get_person", { personId }),
      await agent.call("list_persons"),
      await agent.call("resolve_persons", { personId }),
    ];
    for (const { data } of outcomes) {
      const [person] = [data].flat();
      expect(person).toMatchObject({ personId, customFields: { fld_craft: "weaving" }, metadata: {} });
      expect(person.externalRefs).toEqual([{ namespace: "crm", objectType: "contact" }]);
      expect(JSON.stringify(person)).not.toMatch(/secret|grace|fld_birth|\+46/);
    }
  });

  test("shows no custom field where the schema cannot be read", async () => {
    const { server, proxy, agent } = await openRemoteSetup({ environment: untold });
    const { personId } = await server.seed.person();
    proxy.behave((request) => (people(request) ? lie : refusing(403, { code: "insufficient_scope" })));
    expect((await agent.call("get_person", { personId })).data.customFields).toEqual({});
  });

  test("is redacted in the privacy mode redact even for a token with all scopes", async () => {
    const { server, proxy, agent } = await openRemoteSetup({ environment: { PROGRAMME_PRIVACY: "redact" } });
    await server.seed.personSchema();
    const { personId } = await server.seed.person();
    proxy.behave((request) => (people(request) ? lie : undefined));
    const { data } = await agent.call("get_person", { personId });
    expect(data.customFields).toEqual({ fld_craft: "weaving" });
    expect(JSON.stringify(data)).not.toMatch(/secret|grace|fld_birth|\+46/);
  });

  test("shows handles instead of addresses in the privacy mode pseudonymize, which are resolved in calls", async () => {
    const { server, proxy, agent } = await openRemoteSetup({ environment: { PROGRAMME_PRIVACY: "pseudonymize" } });
    const { personId } = await server.seed.person({ primaryEmail: "grace@example.org" });
    const { data } = await agent.call("get_person", { personId });
    expect(data.primaryEmail).toMatch(/[@.]handle\.invalid$/);
    expect(data.contactDetails.phone).toMatch(/^phone~/);
    const found = await agent.call("resolve_persons", { email: data.primaryEmail });
    expect(found.data).toMatchObject([{ personId, primaryEmail: data.primaryEmail }]);
    expect(proxy.requests.at(-1)?.url).toContain("email=grace%40example.org");
    proxy.behave(() => refusing(409, { code: "ODD", message: "grace@example.org is\u202e taken", details: {} }));
    const { error } = await agent.call("create_person", { kinds: [], provenance: { source: "x" } });
    expect(error?.next).toMatch(/409 odd: \S+[@.]handle\.invalid is taken/);
  });
});

describe("tolerated differences of a remote service", () => {
  test("unknown fields, states, missing and null fields pass", async () => {
    const { server, proxy, agent } = await openRemoteSetup();
    const { submissionId } = await server.seed.submission();
    proxy.behave(() =>
      lying(({ deadline: _, ...row }) => ({ ...row, state: "ON_HOLD", score: { mean: 4 }, fields: null })),
    );
    const { data } = await agent.call("get_submission", { submissionId });
    expect(data).toMatchObject({ submissionId, state: "ON_HOLD", score: { mean: 4 }, fields: null });
    expect(data).not.toHaveProperty("deadline");
  });

  test.each([
    ["no meta", ({ meta: _, ...answer }: object & { meta?: object }) => answer, { hasMore: false }],
    ["a meta that is none", (answer: object) => ({ ...answer, meta: "more" }), { hasMore: false }],
    ["hasMore without a cursor", (answer: object) => ({ ...answer, meta: { hasMore: true } }), { hasMore: false }],
    [
      "a cursor alone",
      (answer: object) => ({ ...answer, meta: { lastEvaluatedKey: "abc" } }),
      { hasMore: true, lastEvaluatedKey: "abc" },
    ],
  ])("%s is a page", async (_, change, page) => {
    const { server, proxy, agent } = await openRemoteSetup();
    await server.seed.program();
    proxy.behave(() => answering(change as never));
    const outcome = await agent.call("list_programs");
    expect([outcome.data.length, outcome.page]).toEqual([1, page]);
  });

  const cursors: [string, (request: IncomingMessage) => Behaviour | undefined, number][] = [
    ["both names", () => undefined, 1],
    ["cursor alone", (request) => refusingOf(request, "lastEvaluatedKey"), 2],
    ["lastEvaluatedKey alone", (request) => refusingOf(request, "cursor"), 3],
  ];
  const refusingOf = ({ url = "" }: IncomingMessage, name: string) =>
    url.includes(`${name}=`) ? refusing(400, { code: "BAD_REQUEST", message: `${name} is unknown` }) : undefined;
  test.each(cursors)("the persons list may take its cursor by %s, which is remembered", async (_, choose, tries) => {
    const { server, proxy, agent } = await openRemoteSetup();
    for (let index = 0; index < 3; index += 1) await server.seed.person();
    proxy.behave(choose);
    const all: string[] = [];
    let lastEvaluatedKey: string | undefined;
    do {
      const { data, page } = await agent.call("list_persons", { limit: 1, lastEvaluatedKey });
      all.push(...data.map(({ personId }: { personId: string }) => personId));
      lastEvaluatedKey = page?.lastEvaluatedKey;
    } while (lastEvaluatedKey !== undefined);
    expect(new Set(all).size).toBe(3);
    // The first page, the second as often as it takes to find out, and the third.
    expect(proxy.requests).toHaveLength(1 + tries + 1);
  });

  test("a cursor that the service refuses under both names is refused with its first refusal", async () => {
    const { proxy, agent } = await openRemoteSetup();
    const { error } = await agent.call("list_persons", { cursor: "nonsense" });
    expect(error?.code).toBe("invalid_cursor");
    expect(proxy.requests).toHaveLength(3);
  });
});

describe("refusals by a remote service", () => {
  test.each([
    ["NOT-FOUND", 404, "not_found"],
    ["version_conflict", 409, "version_conflict"],
    ["not_found", 200, "not_found"],
    ["duplicate_external_ref", 422, "duplicate_external_ref"],
    ["EXPORT_RATE_LIMITED", 429, "rate_limited"],
    // These mean something only between this program and its agents.
    ["confirmation_stale", 409, "upstream_refused"],
    ["tool_not_offered", 409, "upstream_refused"],
    ["invalid_handle", 400, "upstream_refused"],
    ["upstream_uncertain", 400, "upstream_refused"],
    ["internal_error", 400, "upstream_refused"],
    ["toString", 400, "upstream_refused"],
  ])("%s with %i is %s", async (code, httpStatus, expected) => {
    const { proxy, agent } = await openRemoteSetup({ environment: { PROGRAMME_TIMEOUT_SECONDS: "1" } });
    proxy.behave(() => refusing(httpStatus, { code, message: "No", details: { currentVersion: 7 } }));
    const { error } = await agent.call("get_program", { programId: "prg_1" });
    expect(error?.code).toBe(code === "EXPORT_RATE_LIMITED" ? "export_rate_limited" : expected);
  });

  test("details are kept within bounds, and issues in the form that every reader expects", async () => {
    const { proxy, agent } = await openRemoteSetup();
    const issues = [{ path: 7, code: {}, message: "x".repeat(9_000) }, null, "y", ...Array(500).fill({ path: "name" })];
    const details = { issues, long: "z".repeat(9_000), short: 1 };
    proxy.behave(() => refusing(400, { code: "validation_failed", details }));
    const { error } = await agent.call("get_program", { programId: "prg_1" });
    expect(error?.details.issues).toHaveLength(50);
    expect(error?.details.issues.slice(0, 2)).toEqual([
      { path: "", code: "", message: "x".repeat(300) },
      { path: "", code: "", message: "" },
    ]);
    expect(error?.details).toMatchObject({ short: 1 });
    expect(error?.details).not.toHaveProperty("long");
  });

  test("a refusal has the remote service's request id", async () => {
    const { proxy, agent } = await openRemoteSetup();
    proxy.behave(() => refusing(400, { code: "odd", message: "No" }, { "x-request-id": "their-17" }));
    const { error } = await agent.call("list_programs");
    const { requestId, upstreamRequestId } = error?.details ?? {};
    expect(upstreamRequestId).toBe("their-17");
    expect(proxy.requests[0]?.headers["x-request-id"]).toBe(requestId);
  });

  test("a refused export names its quota, and is not sent again until that is over", async () => {
    const { server, proxy, agent } = await openRemoteSetup();
    const { programId } = await server.seed.program();
    proxy.behave(() => refusing(429, { code: "TOO_MANY" }, { "retry-after": "200" }));
    const refused = await agent.call("create_export", { programId });
    expect(refused.error).toMatchObject({ code: "export_rate_limited", details: { retryAfterSeconds: 200 } });
    const requestsBefore = proxy.requests.length;
    expect((await agent.call("create_export", { programId })).error?.code).toBe("export_rate_limited");
    expect(proxy.requests).toHaveLength(requestsBefore);
    proxy.behave(() => undefined);
    expect((await agent.call("list_programs")).data).toHaveLength(1);
  });
});

describe("a request to a remote service", () => {
  test("encodes each id as one path segment, dots included", async () => {
    const { proxy, agent } = await openRemoteSetup();
    for (const submissionId of ["../persons", "a/b?c=d#e", "%2e%2e", "ä ö"]) {
      expect((await agent.call("get_submission", { submissionId })).error?.code).toBe("not_found");
      expect(proxy.requests.at(-1)?.url).toBe(`/integrations/v1/submissions/${encodeURIComponent(submissionId)}`);
    }
    const requestsBefore = proxy.requests.length;
    for (const submissionId of [".", ".."]) {
      expect((await agent.call("get_submission", { submissionId })).error?.code).toBe("not_found");
    }
    expect(proxy.requests).toHaveLength(requestsBefore);
  });

  test("sends dates and limits as the contract defines them, and is not sent if they are invalid", async () => {
    const { proxy, agent } = await openRemoteSetup();
    await agent.call("list_submissions", { submittedTo: "2026-11-20", limit: 5000 });
    const { searchParams } = new URL(proxy.requests[0]?.url ?? "", proxy.origin);
    expect(Object.fromEntries(searchParams)).toEqual({ submittedTo: "2026-11-20T23:59:59.999Z", limit: "100" });
    const { error } = await agent.call("list_submissions", { submittedTo: "yesterday" });
    expect(error?.code).toBe("validation_failed");
    await agent.call("list_applicants", { includePersonFieldIds: "fld_a, fld_b" });
    // The service knows no such fields: the tool looks for their names in the schema.
    expect(proxy.requests[2]?.url).toMatch(/\/person-fields\/schema$/);
    expect(new URL(proxy.requests[1]?.url ?? "", proxy.origin).searchParams.get("includePersonFieldIds")).toBe(
      "fld_a,fld_b",
    );
    expect(proxy.requests).toHaveLength(3);
  });

  test("stays below the base URL", async () => {
    const { proxy, token } = await openRemoteSetup();
    const app = await openRemote(`${proxy.origin}/tenants/a/`);
    onTestFinished(() => app.close());
    await (await openAgent(app, token)).call("list_programs", { limit: 3 });
    expect(proxy.requests.map(({ url }) => url)).toEqual(["/tenants/a/integrations/v1/programs?limit=3"]);
  });

  test("contains the token only in its header", async () => {
    const { server, proxy, agent, token, lines } = await openRemoteSetup();
    await server.seed.program();
    await agent.call("list_programs");
    await agent.call("get_program", { programId: "prg_none" });
    for (const { url, rawHeaders, headers } of proxy.requests) {
      expect(url).not.toContain(token);
      expect(rawHeaders.filter((text) => text.includes(token))).toEqual([`Bearer ${token}`]);
      expect(headers["user-agent"]).toMatch(/^programme-mcp\//);
    }
    expect(lines.join()).not.toContain(token);
  });
});
