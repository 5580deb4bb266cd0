import * as z from "zod";
import { limits } from "../access/limits.ts";
import { boundedText, DateFrom, DateTo, Email } from "../definition/fields.ts";
import { AssignmentRules, Branding, LifecycleStatus, Round } from "../programs.ts";
import { Reviewer } from "../reviewers.ts";
import { ApplicationField, Constraints, Criterion, FieldBase, PersonFieldType, Rubric } from "../schemas.ts";

/** Bounds of a file that describes a programme. */
export const configLimits = {
  fileBytes: 512 * 1024,
  tracks: 100,
  /** Rounds of one track. */
  rounds: 50,
  forms: 100,
  rubrics: 100,
  /** Fields of one form, or criteria of one rubric. */
  fields: 200,
  reviewers: 1000,
} as const;

const Name = boundedText(200, 1);
const Text = boundedText(5000).nullable();
const StartDate = DateFrom.nullable().describe("YYYY-MM-DD (start of that day, UTC) or RFC 3339");
const EndDate = DateTo.nullable().describe("YYYY-MM-DD (end of that day, UTC) or RFC 3339");
const Currency = z
  .string()
  .regex(/^[A-Z]{3}$/, "Expected three capital letters, for example EUR")
  .nullable()
  .describe("ISO 4217");
const VersionNumber = z.int().min(1).max(100_000);

const fieldNames = {
  key: FieldBase.key.max(100).describe("Identifies the field in all versions of the form"),
  label: FieldBase.label.min(1),
};
const fieldRules = {
  helpText: FieldBase.helpText,
  required: FieldBase.required.default(false),
  sensitivity: FieldBase.sensitivity.default("standard").describe("pii and restricted are hidden from most tokens"),
  constraints: z.strictObject(Constraints.shape).optional(),
  defaultValue: FieldBase.defaultValue,
  archived: FieldBase.archived.default(false).describe("The field is no longer filled in"),
};

/** The field of a form. */
export const FieldConfig = z
  .strictObject({ ...fieldNames, type: ApplicationField.shape.type, ...fieldRules })
  .superRefine(checkField);
export type FieldConfig = z.output<typeof FieldConfig>;

/** A custom field of persons. */
export const PersonFieldConfig = z
  .strictObject({ ...fieldNames, type: PersonFieldType, ...fieldRules })
  .superRefine(checkField);
export type PersonFieldConfig = z.output<typeof PersonFieldConfig>;

function checkField({ type, constraints = {} }: Pick<FieldConfig, "type" | "constraints">, context: z.RefinementCtx) {
  const add = (path: string[], message: string) =>
    context.addIssue({ code: "custom", path: ["constraints", ...path], message });
  const { min, max, minLength, maxLength, minItems, maxItems, pattern, options } = constraints;
  if ((type === "select" || type === "multiselect") && !options?.length) {
    add([], `A field of type ${type} needs constraints.options`);
  }
  if (options && new Set(options).size < options.length) add(["options"], "Expected options that differ");
  const bounds = { min: [min, max], minLength: [minLength, maxLength], minItems: [minItems, maxItems] };
  for (const [name, [low, high]] of Object.entries(bounds)) {
    if (low !== undefined && high !== undefined && low > high) add([name], `Expected at most ${high}, the upper bound`);
  }
  if (pattern !== undefined && !isPattern(pattern)) add(["pattern"], "Expected a regular expression");
}

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

export const FormConfig = z.strictObject({
  name: Name,
  version: VersionNumber.optional().describe("Only if the file holds several versions of the form"),
  fields: z.array(FieldConfig).min(1).max(configLimits.fields),
});
export type FormConfig = z.output<typeof FormConfig>;

export const CriterionConfig = z
  .strictObject({
    label: Name.describe("Identifies the criterion in all versions of the rubric"),
    description: Criterion.shape.description.optional(),
    type: Criterion.shape.type.default("score"),
    min: Criterion.shape.min.default(1),
    max: Criterion.shape.max.default(5),
    step: Criterion.shape.step.positive().default(1),
    weight: Criterion.shape.weight.default(1),
    required: Criterion.shape.required.default(true),
    options: z.array(boundedText(200, 1)).max(limits.fieldItems).nullable().optional(),
  })
  .superRefine(({ min, max, type, options }, context) => {
    if (min > max) context.addIssue({ code: "custom", path: ["min"], message: `Expected at most ${max}, the maximum` });
    if (type === "select" && !options?.length) {
      context.addIssue({ code: "custom", path: ["type"], message: "A criterion of type select needs options" });
    }
  });

export type CriterionConfig = z.output<typeof CriterionConfig>;

export const RubricConfig = z.strictObject({
  name: Name,
  version: VersionNumber.optional().describe("Only if the file holds several versions of the rubric"),
  scoringMethod: Rubric.shape.scoringMethod.default("weighted_mean"),
  criteria: z.array(CriterionConfig).min(1).max(configLimits.fields),
});
export type RubricConfig = z.output<typeof RubricConfig>;

export const RoundConfig = z.strictObject({
  name: Name,
  rubric: Name.describe("The name of a rubric, of this file or of the organisation"),
  rubricVersion: VersionNumber.optional(),
  startDate: StartDate.optional(),
  endDate: EndDate.optional(),
  deadline: EndDate.optional(),
  active: z.boolean().optional().describe("Default: false"),
  anonymity: Round.shape.anonymity.optional().describe("Default: single_blind"),
});
export type RoundConfig = z.output<typeof RoundConfig>;

export const TrackConfig = z.strictObject({
  name: Name,
  description: Text.optional(),
  form: Name.describe("The name of a form, of this file or of the organisation"),
  formVersion: VersionNumber.optional(),
  intakeOpen: z.boolean().optional().describe("Default: false"),
  intakeOpenDate: StartDate.optional(),
  intakeCloseDate: EndDate.optional(),
  feeAmountMinor: z.int().min(0).nullable().optional().describe("In the currency's minor unit, for example cents"),
  currency: Currency.optional(),
  branding: Branding.optional(),
  rounds: z.array(RoundConfig).max(configLimits.rounds).default([]).describe("In their order"),
});
export type TrackConfig = z.output<typeof TrackConfig>;

const { domainFieldId: _, ...ruleFields } = AssignmentRules.shape;

const ProgramSettings = z.strictObject({
  name: Name.describe("Identifies the programme, together with its year"),
  year: z.int().min(1900).max(3000),
  description: Text.optional(),
  startDate: StartDate.optional(),
  endDate: EndDate.optional(),
  lifecycleStatus: LifecycleStatus.optional().describe("Default: draft"),
  feeRequired: z.boolean().optional().describe("Default: whether a track has a fee"),
  currency: Currency.optional(),
  screeningRequired: z.boolean().optional().describe("Default: true"),
  assignmentRules: z
    .strictObject({
      ...ruleFields,
      domainField: FieldBase.key.nullable().describe("The key of the field that expertise is matched with"),
    })
    .partial()
    .optional(),
  branding: Branding.optional(),
});
export type ProgramSettings = z.output<typeof ProgramSettings>;

export const ReviewerConfig = z.strictObject({
  email: Email,
  firstName: boundedText(100, 1).nullable().optional(),
  lastName: boundedText(100, 1).nullable().optional(),
  affiliation: boundedText(200).nullable().optional(),
  expertise: z.array(boundedText(50, 1)).max(limits.expertise).default([]),
  role: Reviewer.shape.role.optional().describe("Default: reviewer"),
  status: Reviewer.shape.status.optional().describe("Of a new reviewer. Default: invited. No mail is sent"),
  maxAssignments: Reviewer.shape.maxAssignments.optional(),
  rounds: z
    .array(z.strictObject({ track: Name, round: Name }))
    .max(configLimits.tracks)
    .default([]),
});
export type ReviewerConfig = z.output<typeof ReviewerConfig>;

/** A programme with everything that it needs before the first application, as a file describes it. */
export const ProgramConfig = z
  .strictObject({
    program: ProgramSettings,
    tracks: z.array(TrackConfig).max(configLimits.tracks).default([]).describe("In their order"),
    forms: z.array(FormConfig).max(configLimits.forms).default([]).describe("Application schemas"),
    rubrics: z.array(RubricConfig).max(configLimits.rubrics).default([]),
    personFields: z
      .array(PersonFieldConfig)
      .max(configLimits.fields)
      .default([])
      .describe("Custom fields of persons, for all programmes of the organisation"),
    reviewers: z.array(ReviewerConfig).max(configLimits.reviewers).default([]),
  })
  .describe("A programme for `programme-mcp import`");
export type ProgramConfig = z.output<typeof ProgramConfig>;

/** The parts of a programme that a file describes. */
export type SetUpKind = "program" | "track" | "round" | "form" | "rubric" | "person_schema" | "reviewer";

/** The outcome of one part. `left` is a part that the file does not name. */
export interface SetUpItem {
  readonly kind: SetUpKind;
  /** For a round, with the name of its track. */
  readonly name: string;
  readonly outcome: "created" | "changed" | "unchanged" | "left";
  readonly id: string;
  /** The version of a form, a rubric or the person schema. */
  readonly version?: number;
  /** The names of changed fields. */
  readonly changes?: readonly string[];
}
