import type { ApplicationField } from "../contract/schemas.ts";
import type { Draw } from "./draw.ts";
import type { Form } from "./forms.ts";
import { ascii, phone } from "./names.ts";
import { about, type Project } from "./projects.ts";

/** What an applicant has in mind when filling in a form. */
export interface Answers {
  readonly project: Project;
  readonly place: string;
  /** `YYYY-MM-DD` */
  readonly startDate: string;
  /** Ids of uploaded files by the id of their field. */
  readonly files: Readonly<Record<string, readonly string[]>>;
}

type Answer = (field: ApplicationField, answers: Answers, draw: Draw) => unknown;

const optionsOf = (field: ApplicationField) => field.constraints?.options ?? [];
const uploaded: Answer = ({ fieldId }, { files }) => files[fieldId];
const hundreds = (min: number, max: number) => (draw: Draw) => draw.whole(min, max) * 100;
const oneOrTwo: Answer = (field, _, draw) => draw.shuffled(optionsOf(field)).slice(0, draw.whole(1, 2));

const byKey: Readonly<Record<string, Answer>> = {
  title: (_, { project, place }) => about(project.title, place),
  summary: (_, { project, place }) => about([project.need, project.plan, project.result].join(" "), place),
  domain: (_, { project }) => project.domain,
  countries: oneOrTwo,
  working_languages: oneOrTwo,
  start_date: (_, { startDate }) => startDate,
  duration_months: (_, __, draw) => draw.whole(2, 8) * 3,
  requested_amount: ({ constraints }, _, draw) => draw.whole(6, 19) * Math.round((constraints?.max ?? 20_000) / 20),
  co_funding: (_, __, draw) => hundreds(10, 180)(draw),
  own_share: (_, __, draw) => hundreds(40, 400)(draw),
  stage: (field, _, draw) => draw.one(optionsOf(field)),
  pilot_sites: (_, __, draw) => draw.whole(1, 6),
  founded_on: (_, __, draw) => `${draw.whole(2009, 2023)}-${two(draw.whole(1, 12))}-${two(draw.whole(1, 28))}`,
  open_results: (_, __, draw) => draw.chance(0.8),
  family: (_, __, draw) => draw.chance(0.3),
  contact_phone: (_, __, draw) => phone(draw),
  website: (_, { project, place }) => `https://example.org/${ascii(about(project.title, place), "-")}`,
  charity_number: (_, __, draw) => `R-${draw.whole(100_000, 999_999)}`,
  work_plan: uploaded,
  budget_sheet: uploaded,
  portfolio: uploaded,
};

/** What a draft that somebody has only begun holds, beside what has been uploaded. */
const begunWith = ["title", "domain", "requested_amount"];

/** Values that satisfy a form: all that is required and most of what is not; `begun`: only the first few. */
export function fillIn(form: Form, answers: Answers, draw: Draw, begun: boolean): Record<string, unknown> {
  const values = form.fields.flatMap((field) => {
    const answer = byKey[field.key];
    const isFile = field.type === "file";
    if (!answer || field.archived || (begun && !isFile && !begunWith.includes(field.key))) return [];
    const value = field.required || isFile || draw.chance(0.7) ? answer(field, answers, draw) : undefined;
    return value === undefined ? [] : [[field.fieldId, value] as const];
  });
  return Object.fromEntries(values);
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
