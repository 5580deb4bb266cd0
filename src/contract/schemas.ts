import * as z from "zod";
import { limits } from "./access/limits.ts";
import { common, Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";

const bound = z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER).optional();
const items = z.int().min(0).max(limits.fieldItems).optional();

export const Constraints = z.object({
  min: bound,
  max: bound,
  minLength: z.int().min(0).optional(),
  maxLength: z.int().min(0).max(limits.fieldChars).optional(),
  pattern: z.string().optional(),
  options: z.array(z.string().max(limits.fieldItemChars)).optional(),
  minItems: items,
  maxItems: items,
});
export type Constraints = z.output<typeof Constraints>;

export const PersonFieldType = z.enum(["text", "textarea", "number", "date", "boolean", "select", "multiselect"]);

/** Fields shared by person fields and application fields (specification 2.6). */
export const FieldBase = {
  fieldId: Id,
  key: z.string().regex(/^[a-z][a-z0-9_]*$/),
  label: z.string().max(200),
  helpText: z.string().max(500).optional(),
  required: z.boolean(),
  sensitivity: z.enum(["standard", "pii", "restricted"]),
  constraints: Constraints.optional(),
  defaultValue: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  archived: z.boolean(),
  order: z.int().min(0),
};

export const ApplicationField = z.object({
  ...FieldBase,
  type: z.enum([...PersonFieldType.options, "file", "section"]),
});
export type ApplicationField = z.output<typeof ApplicationField>;

/** An application schema: the form of a track or of a supplement. */
export const Schema = z.object({
  schemaId: Id,
  name: z.string(),
  schemaVersion: z.int().min(1),
  published: z.boolean(),
  publishedAt: Timestamp.nullable(),
  fields: z.array(ApplicationField),
  ...common,
});
export type Schema = z.output<typeof Schema>;

export const Criterion = z.object({
  criterionId: Id,
  label: z.string(),
  description: z.string().nullable(),
  type: z.enum(["score", "text", "boolean", "select"]),
  min: z.number(),
  max: z.number(),
  step: z.number(),
  weight: z.number().min(0),
  required: z.boolean(),
  options: z.array(z.string()).nullable(),
  order: z.int().min(0),
});
export type Criterion = z.output<typeof Criterion>;

export const Rubric = z.object({
  rubricId: Id,
  name: z.string(),
  rubricVersion: z.int().min(1),
  criteria: z.array(Criterion),
  scoringMethod: z.enum(["sum", "mean", "weighted_mean"]),
  published: z.boolean(),
  ...common,
});
export type Rubric = z.output<typeof Rubric>;

const versionQuery = { version: z.int().min(1).optional() };

export const get_rubric = operation({
  summary: "Get a review rubric, latest version if none is given",
  method: "GET",
  path: "/rubrics/{rubricId}",
  resource: "programme://rubrics/{rubricId}",
  scope: "rubrics:read",
  effect: "read",
  query: versionQuery,
  data: Rubric,
  audit: "rubric.read",
  errors: ["not_found"],
});

export const get_schema = operation({
  summary: "Get an application schema (a track's form), latest version if none is given",
  method: "GET",
  path: "/schemas/{schemaId}",
  resource: "programme://schemas/{schemaId}",
  scope: "schemas:read",
  effect: "read",
  query: versionQuery,
  data: Schema,
  audit: "schema.read",
  errors: ["not_found"],
});
