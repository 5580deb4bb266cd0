import { describe, expect, onTestFinished, test } from "vitest";
import { readScopes, type Scope, scopes } from "../../src/contract/access/scopes.ts";
import {
  clients,
  readConfirmation,
  readData,
  readError,
  readNotes,
  type ToolClient,
} from "../support/clients/clients.ts";
import { personFieldIds } from "../support/data/seed-factory.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

async function openSetup(environment: Record<string, string> = {}) {
  const { server, close } = await openTestServer(environment);
  onTestFinished(close);
  return { server, agent: await agentOf(server) };
}

async function agentOf(server: TestServer, granted: readonly Scope[] = scopes): Promise<ToolClient> {
  return (await clients["2026-07-28 over stdio"]?.(server, await server.token(granted))) as ToolClient;
}

describe("select", () => {
  test("takes a form field by its key, its label or its id", async () => {
    const { server, agent } = await openSetup();
    const { submissionId } = await server.seed.submission({ fields: { fld_title: "A roof", fld_budget: 700 } });
    for (const name of ["budget", "fld_budget", "BUDGET"]) {
      const result = await agent.call("list_submissions", { select: `fields.${name}` });
      expect(readData(result)).toEqual([{ submissionId, fields: { [name]: 700 }, version: 0 }]);
      expect(readNotes(result)).not.toContain("unknown");
    }
  });

  test("notes a name that no form has, and the keys that there are", async () => {
    const { server, agent } = await openSetup();
    const { submissionId } = await server.seed.submission({ fields: { fld_budget: 700 } });
    const result = await agent.call("get_submission", { submissionId, select: ["fields.budget", "fields.amount"] });
    expect(readData(result)).toMatchObject({ fields: { budget: 700 } });
    expect(readNotes(result)).toContain(
      "select has unknown names: fields.amount. There are title, domain, budget, annex.",
    );
  });

  test("reads no form if every name is an id", async () => {
    const { server } = await openSetup();
    await server.seed.submission({ fields: { fld_budget: 700 } });
    const agent = await agentOf(server, ["submissions:read"]);
    const known = await agent.call("list_submissions", { select: "fields.fld_budget" });
    expect(readData(known)[0]).toMatchObject({ fields: { fld_budget: 700 } });
    expect(readNotes(known)).not.toContain("could not be read");
    const unknown = await agent.call("list_submissions", { select: "fields.budget,title" });
    expect(readData(unknown)[0]).toHaveProperty("title");
    expect(readNotes(unknown)).toMatch(/^Names of fields could not be read: .*scope/);
  });

  test("takes a custom field of a person by its key, also in an expansion", async () => {
    const { server, agent } = await openSetup();
    await server.seed.personSchema();
    const { standard } = personFieldIds;
    const { personId } = await server.seed.person({ customFields: { [standard]: "weaver" }, primaryEmail: "a@b.org" });
    const person = await agent.call("get_person", { personId, select: "customFields.craft" });
    expect(readData(person)).toMatchObject({ customFields: { craft: "weaver" } });
    await server.seed.applicant({ email: "a@b.org" });
    const args = { includePersonFieldIds: "craft", select: "person.customFields.craft" };
    const result = await agent.call("list_applicants", args);
    expect(readData(result)[0]).toMatchObject({ person: { customFields: { craft: "weaver" } } });
    expect(readNotes(result)).toContain(`includePersonFieldIds.craft was read as ${standard}.`);
  });
});

describe("labels", () => {
  test("stand in place of the ids of a form's fields", async () => {
    const { server, agent } = await openSetup();
    const field = { required: false, sensitivity: "standard", archived: false, order: 0, type: "text" } as const;
    const { schemaId } = await server.seed.schema({
      fields: [
        { ...field, fieldId: "fld_a", key: "a", label: "Requested amount" },
        { ...field, fieldId: "fld_b", key: "b", label: "Note" },
        { ...field, fieldId: "fld_c", key: "c", label: "Note" },
      ],
    });
    const track = await server.seed.track({ schemaId });
    const fields = { fld_a: "7", fld_b: "x", fld_c: "y", other: "z" };
    const { submissionId } = await server.seed.submission({ trackId: track.trackId, schemaId, fields });
    const labelled = { "Requested amount": "7", "Note (fld_b)": "x", "Note (fld_c)": "y", other: "z" };
    const result = await agent.call("get_submission", { submissionId, labels: true, select: "fields" });
    expect(readData(result)).toEqual({ submissionId, fields: labelled, version: 0 });
    const rows = readData(await agent.call("list_submissions", { labels: true, select: "fields.a,title" }));
    expect(rows[0]).toMatchObject({ fields: { "Requested amount": "7" } });
  });

  test("stand beside the ids of a review's criteria", async () => {
    const { server, agent } = await openSetup();
    const { submissionId, programId, trackId } = await server.seed.submission({});
    const rubric = await server.seed.rubric();
    const { roundId } = await server.seed.round({ programId, trackId, rubricId: rubric.rubricId });
    const { reviewerId } = await server.seed.reviewer({});
    const home = { submissionId, programId, trackId, roundId, reviewerId };
    const { assignmentId } = await server.seed.assignment(home);
    const [criterion] = rubric.criteria;
    const scores = [{ criterionId: criterion?.criterionId ?? "", value: 4, comment: null }];
    const { reviewId } = await server.seed.review({ ...home, assignmentId, rubricId: rubric.rubricId, scores });
    const result = await agent.call("get_review", { reviewId, labels: true, select: "scores.value" });
    expect(readData(result)["scores"]).toEqual([{ label: criterion?.label, value: 4 }]);
  });
});

describe("a write", () => {
  test("takes form fields by their keys, of a submission, a track and a supplement", async () => {
    const { server, agent } = await openSetup();
    const { submissionId, schemaId, trackId } = await server.seed.submission({ state: "DRAFT", fields: {} });
    const args = { submissionId, version: 0, fields: { budget: 900, title: "A roof" } };
    const result = await agent.call("update_submission_fields", args);
    expect(readData(result)["fields"]).toEqual({ fld_budget: 900, fld_title: "A roof" });
    expect(readNotes(result)).toContain("fields.budget was read as fld_budget.");
    const draft = { trackId, deadline: "2026-12-31T00:00:00Z", innovatorEmail: "n@example.org", innovatorName: "N" };
    const created = await agent.call("create_submission", { ...draft, fields: { budget: 5 }, select: "fields" });
    expect(readData(created)["fields"]).toEqual({ fld_budget: 5 });
    const { supplementResponseId } = await server.seed.supplement({ submissionId, schemaId });
    const supplement = { submissionId, supplementResponseId, version: 0, fields: { budget: 3 } };
    expect(readData(await agent.call("update_supplement", supplement))["fields"]).toEqual({ fld_budget: 3 });
  });

  test("finds the form of a track that has no submissions yet", async () => {
    const { server, agent } = await openSetup();
    const { trackId } = await server.seed.track();
    const draft = { trackId, deadline: "2026-12-31T00:00:00Z", innovatorEmail: "n@example.org", innovatorName: "N" };
    const created = await agent.call("create_submission", { ...draft, fields: { budget: 5 }, select: "fields" });
    expect(readData(created)["fields"]).toEqual({ fld_budget: 5 });
  });

  test("takes custom fields by their keys", async () => {
    const { server, agent } = await openSetup();
    await server.seed.personSchema();
    const given = { kinds: ["contact"], provenance: { source: "test" }, customFields: { craft: "weaver" } };
    const created = await agent.call("create_person", given);
    expect(readData(created)["customFields"]).toEqual({ [personFieldIds.standard]: "weaver" });
  });

  test("is confirmed with keys as it was asked about", async () => {
    const { server, agent } = await openSetup({ PROGRAMME_CONFIRM: "ask" });
    const { submissionId } = await server.seed.submission({ state: "DRAFT", fields: {} });
    const args = { submissionId, version: 0, fields: { budget: 900 }, state: "DRAFT" };
    const question = await agent.call("update_submission", args);
    const result = question.structuredContent?.confirmation
      ? await agent.call("update_submission", { ...args, confirmation: readConfirmation(question).token })
      : question;
    expect(readData(result)["fields"]).toEqual({ fld_budget: 900 });
  });

  test("is refused for a name that no form has, and for a field named twice", async () => {
    const { server, agent } = await openSetup();
    const { submissionId } = await server.seed.submission({ state: "DRAFT", fields: {} });
    for (const fields of [
      { budget: 900, zzz: 1 },
      { budget: 1, fld_budget: 2 },
    ]) {
      const error = readError(await agent.call("update_submission_fields", { submissionId, version: 0, fields }));
      expect(error.code).toBe("validation_failed");
    }
    const kept = readData(await agent.call("get_submission", { submissionId }));
    expect(kept).toMatchObject({ fields: {}, version: 0 });
  });

  test("without the scope to read the form is refused as before", async () => {
    const { server } = await openSetup();
    const { submissionId } = await server.seed.submission({ state: "DRAFT", fields: {} });
    const agent = await agentOf(server, [...readScopes.filter((each) => each !== "schemas:read"), "submissions:write"]);
    const args = { submissionId, version: 0, fields: { budget: 900 } };
    expect(readError(await agent.call("update_submission_fields", args)).code).toBe("validation_failed");
  });
});
