import * as z from "zod";
import { limits } from "../../contract/access/limits.ts";
import { Assignment, AssignmentOutcome } from "../../contract/assignments.ts";
import { AuditEntry } from "../../contract/audit.ts";
import { createExample } from "../../contract/definition/example.ts";
import { commonErrors, createEnvelope, ErrorEnvelope, type Operation } from "../../contract/definition/operation.ts";
import { PageMeta } from "../../contract/definition/page.ts";
import { ExternalRefInput } from "../../contract/definition/refs.ts";
import { BulkEmailOutcome, EmailSend } from "../../contract/emails.ts";
import { errorCatalog, type ProblemCode } from "../../contract/errors.ts";
import { ExportJob } from "../../contract/exports.ts";
import { Feedback } from "../../contract/feedback.ts";
import { File, FileDownload } from "../../contract/files.ts";
import { getToolset, nounNames, type OperationName, operationNames, operations } from "../../contract/index.ts";
import { NoPayment, Payment } from "../../contract/payments.ts";
import { Applicant, Person, PersonExpansion, PersonSchema } from "../../contract/persons.ts";
import { Branding, Program, Round, Track } from "../../contract/programs.ts";
import { Reviewer } from "../../contract/reviewers.ts";
import { Review, ReviewsSummary } from "../../contract/reviews.ts";
import { Rubric, Schema } from "../../contract/schemas.ts";
import { Submission } from "../../contract/submissions.ts";
import { SupplementResponse } from "../../contract/supplements.ts";

const named = {
  Applicant,
  Assignment,
  AssignmentOutcome,
  AuditEntry,
  Branding,
  BulkEmailOutcome,
  EmailSend,
  ErrorEnvelope,
  ExportJob,
  ExternalRefInput,
  Feedback,
  File,
  FileDownload,
  NoPayment,
  PageMeta,
  Payment,
  Person,
  PersonExpansion,
  PersonSchema,
  Program,
  Review,
  Reviewer,
  ReviewsSummary,
  Round,
  Rubric,
  Schema,
  Submission,
  SupplementResponse,
  Track,
};

const names = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(named)) names.add(schema, { id });

type Json = Record<string, unknown>;

let document: Json | undefined;

/** Returns the OpenAPI 3.1 document (specification 9.4). It is built on first use, because that takes long. */
export function getOpenapiDocument(): Json {
  document ??= createDocument();
  return document;
}

function createDocument(): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const name of operationNames) {
    const operation = operations[name];
    paths[operation.path] ??= {};
    (paths[operation.path] as Json)[operation.method.toLowerCase()] = createOperationObject(
      name,
      operation,
      components,
    );
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Programme integration API",
      version: "2.0.0",
      description:
        "Scoped, token-authenticated access to calls for applications: programmes with tracks and review rounds, submissions, reviewers, feedback, payments and persons.",
      contact: { name: "programme-mcp" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/integrations/v1", description: "This service" }],
    security: [{ bearer: [] }],
    tags: nounNames.map((toolset) => ({ name: toolset, description: `Operations on ${toolset}.` })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An access token: 64 hexadecimal characters." },
      },
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function createOperationObject(name: OperationName, operation: Operation, components: Json): Json {
  const { summary, description, scope } = operation;
  return {
    operationId: name,
    tags: [getToolset(name)],
    summary,
    description: `${description ?? `${summary}.`}\n\nScope: \`${scope}\`.`,
    security: [{ bearer: [] }],
    ...createParameters(operation, components),
    ...createRequestBody(operation, components),
    responses: { ...createSuccessResponse(operation, components), ...createFailureResponses(operation, components) },
  };
}

function createParameters(operation: Operation, components: Json): Json {
  const parameters = [
    ...listParameters(operation.params, "path", components),
    ...listParameters(operation.queryObject, "query", components),
  ];
  if (operation.effect !== "read") parameters.push(idempotencyKey);
  return parameters.length > 0 ? { parameters } : {};
}

const idempotencyKey: Json = {
  name: "Idempotency-Key",
  in: "header",
  description: "Makes the request safe to repeat for 24 hours: the same request is answered again and applied once.",
  schema: { type: "string", minLength: 1, maxLength: limits.idempotencyKeyChars },
};

function listParameters(object: z.ZodObject, place: "path" | "query", components: Json): Json[] {
  const schema = toJsonSchema(object, "input", components) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || (schema.required ?? []).includes(name),
    description: place === "path" ? "Id of the record." : (property["description"] ?? `Query parameter ${name}.`),
    schema: property,
    example: createExample(object.shape[name] as z.ZodType, { optional: true }, name),
  }));
}

function createRequestBody(operation: Operation, components: Json): Json {
  if (!operation.body) return {};
  const content = {
    schema: toJsonSchema(operation.body, "input", components),
    example: createExample(operation.body, { optional: false }),
  };
  return { requestBody: { required: true, content: { "application/json": content } } };
}

function createSuccessResponse(operation: Operation, components: Json): Json {
  const envelope = createEnvelope(operation);
  const content = {
    schema: toJsonSchema(envelope, "output", components),
    example: createExample(envelope, { optional: true }),
  };
  return {
    [String(operation.status ?? 200)]: {
      description: "Success.",
      headers,
      content: { "application/json": content },
    },
  };
}

const createHeader = (description: string, type: string) => ({ description, schema: { type } });

const headers = {
  "X-Request-Id": createHeader("Names this request in the audit log.", "string"),
  "X-RateLimit-Remaining": createHeader("Requests left in the current minute.", "integer"),
};

function createFailureResponses(operation: Operation, components: Json): Json {
  const codes = [...new Set([...commonErrors, ...(operation.errors ?? []), ...listBodyErrors(operation)])];
  const byStatus = Map.groupBy(codes, (code) => String(errorCatalog[code].status));
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${errorCatalog[code].message}`).join(" "),
        content: {
          "application/json": {
            schema: toJsonSchema(ErrorEnvelope, "output", components),
            examples: Object.fromEntries(group.map((code) => [code, { value: createFailureExample(code) }])),
          },
        },
      },
    ]),
  );
}

/** Every operation but a GET reads a body, also one that takes none. */
function listBodyErrors({ method }: Operation): readonly ProblemCode[] {
  return method === "GET"
    ? []
    : ["invalid_json", "payload_too_large", "unsupported_media_type", "idempotency_key_reused"];
}

function createFailureExample(code: ProblemCode): Json {
  return { success: false, error: { code, message: errorCatalog[code].message } };
}

/** Converts a zod type to JSON Schema. Named records become references, and are added to `components`. */
function toJsonSchema(schema: z.ZodType, io: "input" | "output", components: Json): Json {
  const { $defs = {}, $schema: _, ...root } = z.toJSONSchema(schema, { io, metadata: names, unrepresentable: "any" });
  for (const [id, definition] of Object.entries($defs)) components[id] = rewriteSchema(definition);
  return rewriteSchema(root) as Json;
}

/** Removes zod's patterns beside formats, and points references to the document's components. */
function rewriteSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(rewriteSchema);
  if (typeof node !== "object" || node === null) return node;
  const tidied: Json = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "id" || (keyword === "pattern" && "format" in node)) continue;
    if (keyword === "$ref") tidied[keyword] = String(value).replace("#/$defs/", "#/components/schemas/");
    else if (keyword === "properties") tidied[keyword] = rewriteEach(value as Json);
    else tidied[keyword] = rewriteSchema(value);
  }
  return tidied;
}

function rewriteEach(properties: Json): Json {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, rewriteSchema(schema)]));
}
