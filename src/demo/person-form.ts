import type { CustomFields, PersonField } from "../contract/persons.ts";
import type { NewRow } from "../store/tables.ts";
import { countries, languages } from "./names.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { Timeline } from "./timeline.ts";

export type PersonForm = NewRow<"personSchemas">;

type FieldText = Pick<PersonField, "key" | "label" | "type"> & Partial<Omit<PersonField, "fieldId" | "order">>;

const options = (...names: readonly string[]) => ({ options: [...names] });

const fields = (domains: readonly string[]): FieldText[] => [
  { key: "main_domain", label: "Main domain", type: "select", constraints: options(...domains) },
  { key: "languages", label: "Languages", type: "multiselect", constraints: { ...options(...languages), maxItems: 5 } },
  { key: "short_bio", label: "Short biography", type: "textarea", constraints: { maxLength: 1000 } },
  {
    key: "member_number",
    label: "Member number",
    helpText: "M, a dash and five digits.",
    type: "text",
    constraints: { pattern: "^M-[0-9]{5}$" },
  },
  { key: "member_since", label: "Member since", type: "date" },
  { key: "newsletter", label: "Receives the newsletter", type: "boolean", defaultValue: false },
  {
    key: "birth_year",
    label: "Year of birth",
    type: "number",
    sensitivity: "pii",
    constraints: { min: 1920, max: 2015 },
  },
  { key: "citizenship", label: "Citizenship", type: "select", sensitivity: "pii", constraints: options(...countries) },
  {
    key: "emergency_contact",
    label: "Emergency contact",
    type: "text",
    sensitivity: "pii",
    constraints: { maxLength: 200 },
  },
  {
    key: "access_needs",
    label: "Needs for access",
    type: "textarea",
    sensitivity: "restricted",
    constraints: { maxLength: 1000 },
  },
  { key: "screened_on", label: "Background check on", type: "date", sensitivity: "restricted" },
  { key: "fee_exempt", label: "Exempt from fees", type: "boolean", sensitivity: "restricted" },
  { key: "fax", label: "Fax", type: "text", archived: true },
];

/** A tenant's person schema in its two versions, of which the second is in use. */
export function createPersonForms(
  timeline: Timeline,
  domains: readonly string[],
  firstDaysAgo: number,
  secondDaysAgo: number,
): readonly [first: PersonForm, second: PersonForm] {
  const rows = fields(domains).map(
    (text, order): PersonField => ({
      required: false,
      sensitivity: "standard",
      archived: false,
      ...text,
      fieldId: timeline.newId("fld", firstDaysAgo),
      order,
    }),
  );
  const form = (daysAgo: number): Omit<PersonForm, "schemaVersion" | "fields"> => ({
    personSchemaId: timeline.newId("psc", daysAgo),
    entityType: "person",
    published: true,
    publishedAt: timeline.time(daysAgo, 12),
    active: true,
  });
  const usedBefore = rows.slice(0, -1).filter(({ key }) => key !== "fee_exempt");
  const first = { ...form(firstDaysAgo), schemaVersion: 1, fields: usedBefore };
  return [first, { ...form(secondDaysAgo), schemaVersion: 2, sourceSchemaVersion: 1, fields: rows }];
}

const accessNeeds = [
  "Step-free access to all rooms.",
  "Documents in large print.",
  "A hearing loop, or captions in video calls.",
  "Breaks at fixed times.",
];

/** Values of a person, of most fields; what is seldom known is seldom there. */
export function createPersonValues(
  form: PersonForm,
  picker: RandomPicker,
  about: { domain: string; bio: string },
): CustomFields {
  const byKey: Readonly<Record<string, (field: PersonField) => CustomFields[string] | undefined>> = {
    main_domain: () => about.domain,
    languages: (field) => picker.shuffle(field.constraints?.options ?? []).slice(0, picker.pickInteger(1, 3)),
    short_bio: () => (picker.isLikely(0.5) ? about.bio : undefined),
    member_number: () => (picker.isLikely(0.6) ? `M-${picker.pickInteger(10_000, 99_999)}` : undefined),
    member_since: () =>
      picker.isLikely(0.6) ? `${picker.pickInteger(2008, 2024)}-0${picker.pickInteger(1, 9)}-01` : undefined,
    newsletter: () => picker.isLikely(0.5),
    birth_year: () => (picker.isLikely(0.7) ? picker.pickInteger(1950, 2001) : undefined),
    citizenship: (field) => (picker.isLikely(0.5) ? picker.pick(field.constraints?.options ?? []) : undefined),
    emergency_contact: () =>
      picker.isLikely(0.2) ? `Known to the office, file ${picker.pickInteger(100, 999)}` : undefined,
    access_needs: () => (picker.isLikely(0.2) ? picker.pick(accessNeeds) : undefined),
    screened_on: () =>
      picker.isLikely(0.3) ? `${picker.pickInteger(2021, 2024)}-${picker.pickInteger(10, 12)}-15` : undefined,
    fee_exempt: () => (picker.isLikely(0.3) ? picker.isLikely(0.5) : undefined),
  };
  const values = form.fields.flatMap((field) => {
    const value = byKey[field.key]?.(field);
    return value === undefined || field.archived ? [] : [[field.fieldId, value] as const];
  });
  return Object.fromEntries(values);
}
