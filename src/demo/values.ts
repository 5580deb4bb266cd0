import type { ApplicationField } from "../contract/schemas.ts";
import type { Form } from "./forms.ts";
import { createPhone, toAscii } from "./names.ts";
import { insertPlace, type Project } from "./projects.ts";
import type { RandomPicker } from "./random-picker.ts";

/** What an applicant has in mind when filling in a form. */
export interface Answers {
  readonly project: Project;
  readonly place: string;
  /** `YYYY-MM-DD` */
  readonly startDate: string;
  /** Ids of uploaded files by the id of their field. */
  readonly files: Readonly<Record<string, readonly string[]>>;
}

type Answer = (field: ApplicationField, answers: Answers, picker: RandomPicker) => unknown;

const optionsOf = (field: ApplicationField) => field.constraints?.options ?? [];
const uploaded: Answer = ({ fieldId }, { files }) => files[fieldId];
const hundreds = (min: number, max: number) => (picker: RandomPicker) => picker.pickInteger(min, max) * 100;
const oneOrTwo: Answer = (field, _, picker) => picker.shuffle(optionsOf(field)).slice(0, picker.pickInteger(1, 2));

const byKey: Readonly<Record<string, Answer>> = {
  title: (_, { project, place }) => insertPlace(project.title, place),
  summary: (_, { project, place }) => insertPlace([project.need, project.plan, project.result].join(" "), place),
  domain: (_, { project }) => project.domain,
  countries: oneOrTwo,
  working_languages: oneOrTwo,
  start_date: (_, { startDate }) => startDate,
  duration_months: (_, __, picker) => picker.pickInteger(2, 8) * 3,
  requested_amount: ({ constraints }, _, picker) =>
    picker.pickInteger(6, 19) * Math.round((constraints?.max ?? 20_000) / 20),
  co_funding: (_, __, picker) => hundreds(10, 180)(picker),
  own_share: (_, __, picker) => hundreds(40, 400)(picker),
  stage: (field, _, picker) => picker.pick(optionsOf(field)),
  pilot_sites: (_, __, picker) => picker.pickInteger(1, 6),
  founded_on: (_, __, picker) =>
    `${picker.pickInteger(2009, 2023)}-${padTwo(picker.pickInteger(1, 12))}-${padTwo(picker.pickInteger(1, 28))}`,
  open_results: (_, __, picker) => picker.isLikely(0.8),
  family: (_, __, picker) => picker.isLikely(0.3),
  contact_phone: (_, __, picker) => createPhone(picker),
  website: (_, { project, place }) => `https://example.org/${toAscii(insertPlace(project.title, place), "-")}`,
  charity_number: (_, __, picker) => `R-${picker.pickInteger(100_000, 999_999)}`,
  work_plan: uploaded,
  budget_sheet: uploaded,
  portfolio: uploaded,
};

/** What a draft that somebody has only begun holds, beside what has been uploaded. */
const begunWith = ["title", "domain", "requested_amount"];

/** Values that satisfy a form: all that is required and most of what is not; `begun`: only the first few. */
export function createFieldValues(
  form: Form,
  answers: Answers,
  picker: RandomPicker,
  begun: boolean,
): Record<string, unknown> {
  const values = form.fields.flatMap((field) => {
    const answer = byKey[field.key];
    const isFile = field.type === "file";
    if (!answer || field.archived || (begun && !isFile && !begunWith.includes(field.key))) return [];
    const value = field.required || isFile || picker.isLikely(0.7) ? answer(field, answers, picker) : undefined;
    return value === undefined ? [] : [[field.fieldId, value] as const];
  });
  return Object.fromEntries(values);
}

function padTwo(number: number): string {
  return String(number).padStart(2, "0");
}
