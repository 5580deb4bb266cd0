import type { LifecycleStatus } from "../../../contract/programs.ts";
import { LifecycleStatus as LifecycleStatuses, Round } from "../../../contract/programs.ts";
import { ApplicationField, Criterion, FieldBase, PersonFieldType, Rubric } from "../../../contract/schemas.ts";
import type { Choice } from "../../components/choices.ts";
import { formatCode } from "../../components/format.ts";
import { fieldTypes, formatSensitivity } from "./config.ts";
import type { SetUpInput } from "./inputs.ts";

const toChoices = <V extends string>(values: readonly V[], format: (value: V) => string = formatCode): Choice[] =>
  values.map((value) => ({ value, label: format(value) }));

/** The settings of a programme. */
export const programInputs: readonly SetUpInput[] = [
  { path: "description", label: "Description", kind: "longText", empty: "null" },
  {
    path: "lifecycleStatus",
    label: "State",
    kind: "choice",
    choices: toChoices<LifecycleStatus>(LifecycleStatuses.options),
  },
  { path: "startDate", label: "Start", kind: "time", empty: "null" },
  { path: "endDate", label: "End", kind: "time", empty: "null" },
  {
    path: "currency",
    label: "Currency",
    kind: "text",
    empty: "null",
    hint: "Three capital letters, for example EUR.",
  },
  { path: "feeRequired", label: "Applications cost a fee", kind: "flag" },
  { path: "screeningRequired", label: "Submissions are screened before review", kind: "flag" },
  { path: "assignmentRules.reviewsPerSubmission", label: "Reviews of each submission", kind: "number" },
  { path: "assignmentRules.maxPerReviewer", label: "Most reviews of one reviewer", kind: "number", empty: "null" },
  { path: "assignmentRules.useExpertiseMatching", label: "Match reviewers by their expertise", kind: "flag" },
  {
    path: "assignmentRules.domainField",
    label: "Field that expertise is matched with",
    kind: "text",
    empty: "null",
    hint: "The key of a field of a form.",
  },
  {
    path: "assignmentRules.excludePriorRoundReviewers",
    label: "A later round has other reviewers",
    kind: "flag",
  },
];

/** The values of a track besides its name and form. */
export const trackInputs: readonly SetUpInput[] = [
  { path: "description", label: "Description", kind: "longText", empty: "null" },
  { path: "intakeOpen", label: "The intake is open, within these times", kind: "flag" },
  { path: "intakeOpenDate", label: "Intake opens", kind: "time", empty: "null" },
  { path: "intakeCloseDate", label: "Intake closes", kind: "time", empty: "null" },
  {
    path: "feeAmountMinor",
    label: "Fee",
    kind: "number",
    empty: "null",
    hint: "In the smallest unit of the currency, for example cents.",
  },
  { path: "currency", label: "Currency", kind: "text", empty: "null" },
];

/** The values of a round besides its name and rubric. */
export const roundInputs: readonly SetUpInput[] = [
  { path: "startDate", label: "Start", kind: "time", empty: "null" },
  { path: "endDate", label: "End", kind: "time", empty: "null" },
  { path: "deadline", label: "Deadline of reviews", kind: "time", empty: "null" },
  { path: "active", label: "The round is active", kind: "flag" },
  { path: "anonymity", label: "Anonymity", kind: "choice", choices: toChoices(Round.shape.anonymity.options) },
];

const pageTexts = {
  heroTitle: { label: "title", kind: "text" },
  heroSubtitle: { label: "subtitle", kind: "text" },
  bodyHtml: { label: "text", kind: "longText", hint: "HTML." },
  ctaLabel: { label: "label of the button", kind: "text" },
} as const;

const applicantPages = {
  landing: "First page",
  register: "Registration",
  submission: "Application",
  submitted: "After sending",
} as const;

/** The texts that applicants see on the pages of a programme or track. */
export const brandingInputs: readonly SetUpInput[] = [
  { path: "branding.headerText", label: "Top of each page", kind: "longText", empty: "absent" },
  { path: "branding.footerText", label: "Foot of each page", kind: "longText", empty: "absent" },
  ...Object.entries(applicantPages).flatMap(([page, pageLabel]) =>
    Object.entries(pageTexts).map(
      ([name, { label, ...input }]): SetUpInput => ({
        ...{ ...input, path: `branding.pages.${page}.${name}`, empty: "absent" },
        label: `${pageLabel}: ${label}`,
      }),
    ),
  ),
];

const labelInput: SetUpInput = { path: "label", label: "Label", kind: "text" };

/** The values that every field has besides its label and type. */
const fieldRuleInputs: readonly SetUpInput[] = [
  { path: "required", label: "Required", kind: "flag" },
  { path: "helpText", label: "Help for those who fill it in", kind: "text", empty: "absent" },
  {
    path: "sensitivity",
    label: "Sensitivity",
    kind: "choice",
    choices: toChoices(FieldBase.sensitivity.options, formatSensitivity),
    hint: "Personal data and restricted answers are hidden from most tokens and people.",
  },
  { path: "constraints.options", label: "Choices, one on each line", kind: "lines", empty: "absent" },
  { path: "constraints.min", label: "Smallest number", kind: "number", empty: "absent" },
  { path: "constraints.max", label: "Largest number", kind: "number", empty: "absent" },
  { path: "constraints.minLength", label: "Fewest characters", kind: "number", empty: "absent" },
  { path: "constraints.maxLength", label: "Most characters", kind: "number", empty: "absent" },
  { path: "archived", label: "Archived: no longer filled in", kind: "flag" },
];

/** The values of a form's field. */
export const fieldInputs: readonly SetUpInput[] = [
  labelInput,
  {
    path: "type",
    label: "Type",
    kind: "choice",
    choices: toChoices(ApplicationField.shape.type.options, (type) => fieldTypes[type]),
  },
  ...fieldRuleInputs,
];

/** The values of a field of persons. Its type is chosen once. */
export const personFieldInputs: readonly SetUpInput[] = [labelInput, ...fieldRuleInputs];

export const personFieldTypeInput: SetUpInput = {
  path: "type",
  label: "Type",
  kind: "choice",
  choices: toChoices(PersonFieldType.options, (type) => fieldTypes[type]),
  hint: "It cannot be changed later, because persons have values of it.",
};

/** The key of a new field, which identifies it in all versions. */
export const keyInput: SetUpInput = {
  path: "key",
  label: "Key",
  kind: "text",
  hint: "Lower-case letters, digits and _. Empty: made from the label.",
};

/** The values of a rubric's criterion. */
export const criterionInputs: readonly SetUpInput[] = [
  { path: "label", label: "Name", kind: "text", hint: "A criterion with another name counts as a new one." },
  { path: "description", label: "Description", kind: "longText", empty: "absent" },
  { path: "type", label: "Type", kind: "choice", choices: toChoices(Criterion.shape.type.options) },
  { path: "min", label: "Smallest score", kind: "number" },
  { path: "max", label: "Largest score", kind: "number" },
  { path: "step", label: "Step", kind: "number" },
  { path: "weight", label: "Weight", kind: "number" },
  { path: "required", label: "Required", kind: "flag" },
  { path: "options", label: "Choices, one on each line", kind: "lines", empty: "absent" },
];

/** The way in which the scores of a rubric's criteria are combined. */
export const rubricInputs: readonly SetUpInput[] = [
  {
    path: "scoringMethod",
    label: "Score",
    kind: "choice",
    choices: toChoices(Rubric.shape.scoringMethod.options),
  },
];

/** The name of a new part. */
export const nameInput: SetUpInput = {
  path: "name",
  label: "Name",
  kind: "text",
  required: true,
  hint: "It identifies the part, and cannot be changed later.",
};
