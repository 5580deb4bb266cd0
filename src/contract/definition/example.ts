import type * as z from "zod";
import { findIdPrefix } from "./record-kinds.ts";
import { type AnySchema, isOptional, visitSchema } from "./schema-visitor.ts";

/** Example values for fields whose type alone does not show what they contain. */
const byName: Readonly<Record<string, unknown>> = {
  namespace: "crm",
  objectType: "contact",
  externalId: "C-10482",
  currency: "EUR",
  amountMinor: 5000,
  year: 2026,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  contentType: "application/pdf",
  fileName: "annex.pdf",
  key: "project_title",
  label: "Project title",
  action: "submission.advanced",
  entityType: "submission",
  requestId: "req_01JD4X8Q6V3N5T7Y9Z0A1B2C3D",
  includePersonFieldIds: "fld_01JD4X8Q6V3N5T7Y9Z0A1B2C3D",
  fields: { fld_01JD4X8Q6V3N5T7Y9Z0A1B2C3D: "A light roof for the market hall" },
  customFields: { fld_01JD4X8Q6V3N5T7Y9Z0A1B2C3D: "Ceramics" },
  applicantEmails: ["ada@example.org"],
  recipient: "ada@example.org",
  recipientEmail: "ada@example.org",
  innovatorEmail: "ada@example.org",
  email: "ada@example.org",
  primaryEmail: "ada@example.org",
  innovatorId: "inn_01JD4X8Q6V3N5T7Y9Z0A1B2C3D",
  firstName: "Ada",
  lastName: "Marsh",
  innovatorName: "Ada Marsh",
  phone: "+44 20 7946 0018",
  lastEvaluatedKey: "eyJ2IjoxfQ.c2ln",
  metadata: {},
  updatedSince: "2026-11-01",
  updatedAfter: "2026-11-01",
  submittedFrom: "2026-11-01T00:00:00.000Z",
  submittedTo: "2026-11-30T23:59:59.999Z",
};

const ulid = "01JD4X8Q6V3N5T7Y9Z0A1B2C3D";

/**
 * Returns a value that fits a schema, the same one each time, for documents and tests. Without `optional`, optional
 * fields are left out.
 */
export function createExample(schema: AnySchema, options: { readonly optional: boolean }, name = ""): unknown {
  if (name in byName && matchesSchema(schema, byName[name])) return byName[name];
  return visitSchema<unknown>(schema, {
    object: (fields) =>
      Object.fromEntries(
        Object.entries(fields)
          .filter(([, field]) => options.optional || !isOptional(field))
          .map(([key, field]) => [key, createExample(field, options, key)]),
      ),
    array: (element) => [createExample(element, options, name.replace(/s$/, ""))],
    union: ([first]) => first && createExample(first, options, name),
    enum: ([first]) => first,
    literal: ([first]) => first,
    boolean: () => true,
    number: () => 1,
    string: (text) => createStringExample(text, name),
    record: () => ({}),
    other: () => null,
  });
}

function matchesSchema(schema: AnySchema, value: unknown): boolean {
  return (schema as z.ZodType).safeParse(value).success;
}

function createStringExample(schema: AnySchema, name: string): string {
  const candidates = [
    ...(/Ids?$/.test(name) ? [`${findIdPrefix(name) ?? "id"}_${ulid}`] : []),
    ...(/(At|Date|From|To|deadline|timestamp)$/.test(name) ? ["2026-11-20T04:01:05.123Z"] : []),
    "Text",
    "ada@example.org",
    "2026-11-20T04:01:05.123Z",
    "https://example.org/files/1",
    "EUR",
    "text",
  ];
  return candidates.find((candidate) => matchesSchema(schema, candidate)) ?? "";
}
