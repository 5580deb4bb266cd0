import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { readScopes, scopes, sensitiveScope, writeScopes } from "../../src/contract/access/scopes.ts";
import { createExample } from "../../src/contract/definition/example.ts";
import { type FieldAnnotation, getAnnotation } from "../../src/contract/definition/field-annotations.ts";
import { commonErrors, createEnvelope, listPathVariables } from "../../src/contract/definition/operation.ts";
import { type AnySchema, visitSchema } from "../../src/contract/definition/schema-visitor.ts";
import { errorCatalog } from "../../src/contract/errors.ts";
import { events } from "../../src/contract/events.ts";
import { getToolset, operationNames, operations } from "../../src/contract/index.ts";
import { tables } from "../../src/store/tables.ts";

describe("the operations", () => {
  test("are those of the specification, by name, method, path, scope and toolset", () => {
    const published = JSON.parse(readFileSync(new URL("operations.json", import.meta.url), "utf8")) as {
      name: string;
    }[];
    const declared = operationNames.map((name) => {
      const { method, path, scope } = operations[name];
      return { name, method, path, scope, toolset: getToolset(name) };
    });
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
    expect(published).toHaveLength(58);
    expect(declared.toSorted(byName)).toEqual(published.toSorted(byName));
  });

  test("answer 200, but for the creation of a person", () => {
    expect(operationNames.filter((name) => operations[name].status === 201)).toEqual(["create_person"]);
    for (const name of operationNames) expect([undefined, 200, 201]).toContain(operations[name].status);
  });

  test("that change something are not reads, and the other way round", () => {
    for (const name of operationNames) {
      expect(operations[name].effect === "read", name).toBe(operations[name].method === "GET");
    }
  });

  test("with an id in their path can answer that there is no such record", () => {
    for (const name of operationNames.filter((operation) => listPathVariables(operations[operation].path).length > 0)) {
      expect(operations[name].errors, name).toContain("not_found");
    }
  });

  test("declare only codes that are not common to all", () => {
    for (const name of operationNames) {
      const codes = operations[name].errors ?? [];
      expect(
        codes.filter((code) => commonErrors.includes(code)),
        name,
      ).toEqual([]);
      expect(new Set(codes).size, name).toBe(codes.length);
    }
  });
});

test("the scopes are those of the specification", () => {
  const nouns = "submissions programs tracks rounds reviews feedback supplements audit payments assignments reviewers";
  const readable = [...nouns.split(" "), "emails", "applicants", "files", "schemas", "rubrics", "exports"];
  expect(readScopes).toEqual([...readable.map((noun) => `${noun}:read`), "persons:read", "person-fields:read"]);
  const writable = "submissions assignments supplements feedback programs tracks rounds reviewers emails exports";
  expect(writeScopes).toEqual([...writable.split(" ").map((noun) => `${noun}:write`), "persons:write"]);
  expect(scopes).toEqual([...readScopes, ...writeScopes, "persons:sensitive:read"]);
  expect(scopes).toHaveLength(31);
  expect(new Set(operationNames.map((name) => operations[name].scope))).toEqual(
    new Set(scopes.filter((scope) => scope !== sensitiveScope)),
  );
});

test("the event types are those of the specification", () => {
  expect(Object.keys(events)).toEqual([
    "applicant.registered",
    "submission.draft_created",
    "submission.submitted",
    "submission.withdrawn",
    "submission.state_changed",
    "supplement.response.submitted",
    "payment.succeeded",
    "payment.failed",
    "payment.waived",
    "review.submitted",
    "feedback.released",
    "program.lifecycle_status_changed",
  ]);
});

/** Codes of what only agents meet: handles, confirmations, tools withheld, gateways, and the product's own service. */
const ofAgents = /^(invalid_handle|confirmation_\w+|tool_not_offered|gateway_\w+|product_token_\w+|upstream_\w+)$/;
const ofInterface = Object.entries(errorCatalog).filter(([code]) => !ofAgents.test(code));

describe("the error catalogue", () => {
  test("has these codes with these statuses", () => {
    expect(Object.fromEntries(ofInterface.map(([code, { status }]) => [code, status]))).toEqual({
      validation_failed: 400,
      invalid_json: 400,
      invalid_cursor: 400,
      unauthorized: 401,
      invalid_token: 401,
      insufficient_scope: 403,
      host_not_allowed: 403,
      origin_not_allowed: 403,
      not_found: 404,
      method_not_allowed: 405,
      payload_too_large: 413,
      unsupported_media_type: 415,
      version_conflict: 409,
      invalid_state_transition: 409,
      idempotency_in_progress: 409,
      duplicate_external_ref: 409,
      person_merged: 409,
      person_inactive: 409,
      program_archived: 409,
      intake_closed: 409,
      deadline_passed: 409,
      incomplete_application: 409,
      supplement_warnings: 409,
      round_inactive: 409,
      identity_mismatch: 422,
      idempotency_key_reused: 422,
      rate_limited: 429,
      export_rate_limited: 429,
      internal_error: 500,
      unavailable: 503,
    });
  });

  test("says of each what happened and what to do next, and calls only that retryable which may pass", () => {
    for (const [code, { message, remediation }] of Object.entries(errorCatalog)) {
      expect(message, code).toMatch(/^[A-Z].*\.$/);
      expect(remediation, code).toMatch(/^[A-Z].*\.$/);
    }
    const retryable = ofInterface.flatMap(([code, fault]) => (fault.retryable ? [code] : []));
    expect(retryable).toEqual([
      "idempotency_in_progress",
      "rate_limited",
      "export_rate_limited",
      "internal_error",
      "unavailable",
    ]);
  });
});

describe("examples", () => {
  test.each(operationNames)("of %s fit what they are examples of", (name) => {
    const operation = operations[name];
    const parts = [operation.params, operation.queryObject, operation.body, operation.data, createEnvelope(operation)];
    for (const part of parts.filter((schema) => schema !== undefined)) {
      for (const optional of [true, false]) part.parse(createExample(part, { optional }));
    }
  });
});

describe("field annotations", () => {
  test("for persons:sensitive:read are at these paths", () => {
    const pinned = Object.fromEntries(
      operationNames.flatMap((name) => {
        const paths = markedPaths(operations[name].data, (mark) => mark.sensitive === sensitiveScope);
        return paths.length > 0 ? [[name, paths.join(" ")]] : [];
      }),
    );
    expect(pinned).toMatchInlineSnapshot(`
      {
        "add_person_external_ref": "primaryEmail contactDetails customFields externalRefs[].externalId provenance.sourceId metadata",
        "create_person": "primaryEmail contactDetails customFields externalRefs[].externalId provenance.sourceId metadata",
        "get_person": "primaryEmail contactDetails customFields externalRefs[].externalId provenance.sourceId metadata",
        "get_reviewer": "person.customFields",
        "invite_reviewer": "person.customFields",
        "list_applicants": "[].person.customFields",
        "list_persons": "[].primaryEmail [].contactDetails [].customFields [].externalRefs[].externalId [].provenance.sourceId [].metadata",
        "list_reviewers": "[].person.customFields",
        "merge_person": "primaryEmail contactDetails customFields externalRefs[].externalId provenance.sourceId metadata",
        "remove_person_external_ref": "primaryEmail contactDetails customFields externalRefs[].externalId provenance.sourceId metadata",
        "resolve_persons": "[].primaryEmail [].contactDetails [].customFields [].externalRefs[].externalId [].provenance.sourceId [].metadata",
        "update_person": "primaryEmail contactDetails customFields externalRefs[].externalId provenance.sourceId metadata",
      }
    `);
  });

  test("for personal data in records are at these paths", () => {
    const pinned = Object.fromEntries(
      Object.entries(tables).map(([name, { record }]) => [name, markedPaths(record, isPersonal).join(" ")]),
    );
    expect(pinned).toMatchInlineSnapshot(`
      {
        "applicants": "email name",
        "approvals": "question calls longTexts decidedByName reason",
        "assignments": "reason conflictAttestation.statement",
        "emailSends": "recipientEmail subject body",
        "exports": "",
        "feedbacks": "body",
        "files": "fileName",
        "invitations": "sha256",
        "payments": "providerRef",
        "personSchemas": "",
        "persons": "primaryEmail contactDetails platformUserId customFields externalRefs[].externalId provenance.sourceId metadata",
        "programs": "",
        "reviewers": "email firstName lastName affiliation",
        "reviews": "scores[].comment overallComment confidentialComment",
        "rounds": "",
        "rubrics": "",
        "schemas": "",
        "submissions": "title fields innovatorEmail innovatorName stateReason",
        "supplements": "fields",
        "suppressions": "email",
        "tracks": "",
        "webhookEndpoints": "url secret previousSecret",
      }
    `);
  });

  test("for personal data in arguments are at these paths", () => {
    const pinned = operationNames.flatMap((name) => {
      const { queryObject, body } = operations[name];
      const paths = [queryObject, body ?? z.object({})].flatMap((part) => markedPaths(part, isPersonal));
      return paths.length > 0 ? [`${name}: ${paths.join(" ")}`] : [];
    });
    expect(pinned).toMatchInlineSnapshot(`
      [
        "advance_submission: reason",
        "create_submission: fields innovatorEmail innovatorName externalRef.externalId",
        "eliminate_submission: reason",
        "reopen_submission: reason",
        "screen_submission: reason",
        "set_submission_state: reason",
        "update_submission: fields reason",
        "update_submission_fields: fields",
        "withdraw_submission: reason",
        "update_supplement: fields",
        "add_person_external_ref: externalRef.externalId",
        "create_person: provenance.sourceId primaryEmail contactDetails platformUserId customFields externalRefs[].externalId metadata",
        "remove_person_external_ref: externalId",
        "resolve_persons: email platformUserId externalId",
        "update_person: primaryEmail contactDetails platformUserId customFields provenance.sourceId metadata",
        "invite_reviewer: email firstName lastName affiliation message",
        "list_reviewers: search",
        "reassign_assignment: reason",
        "list_email_sends: recipientEmail",
        "send_bulk_email: reviewers.subject reviewers.body applicants.applicantEmails[] applicants.subject applicants.body",
      ]
    `);
  });

  test("for personal data are on no field of an event", () => {
    for (const [type, schema] of Object.entries(events)) expect(markedPaths(schema, isPersonal), type).toEqual([]);
  });
});

const isPersonal = (mark: FieldAnnotation) => mark.personal === true;

/** Paths of a schema's marked parts; `[]` stands for each item. Below a marked part nothing more is named. */
function markedPaths(schema: AnySchema, wanted: (mark: FieldAnnotation) => boolean, path = ""): string[] {
  const mark = getAnnotation(schema);
  if (mark && wanted(mark)) return [path === "" ? "(all)" : path];
  const within = (inner: AnySchema, step: string) => markedPaths(inner, wanted, path + step);
  return visitSchema<string[]>(schema, {
    object: (fields) =>
      Object.entries(fields).flatMap(([name, field]) => within(field, path === "" ? name : `.${name}`)),
    array: (element) => within(element, "[]"),
    record: (value) => within(value, ".*"),
    union: (options) => options.flatMap((option) => within(option, "")),
    other: () => [],
  });
}
