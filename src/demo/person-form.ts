import type { CustomFields, PersonField } from "../contract/persons.ts";
import type { NewRow } from "../store/tables.ts";
import type { Draw } from "./draw.ts";
import { countries, languages } from "./names.ts";
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
export function personForms(
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
export function personValues(form: PersonForm, draw: Draw, about: { domain: string; bio: string }): CustomFields {
  const byKey: Readonly<Record<string, (field: PersonField) => CustomFields[string] | undefined>> = {
    main_domain: () => about.domain,
    languages: (field) => draw.shuffled(field.constraints?.options ?? []).slice(0, draw.whole(1, 3)),
    short_bio: () => (draw.chance(0.5) ? about.bio : undefined),
    member_number: () => (draw.chance(0.6) ? `M-${draw.whole(10_000, 99_999)}` : undefined),
    member_since: () => (draw.chance(0.6) ? `${draw.whole(2008, 2024)}-0${draw.whole(1, 9)}-01` : undefined),
    newsletter: () => draw.chance(0.5),
    birth_year: () => (draw.chance(0.7) ? draw.whole(1950, 2001) : undefined),
    citizenship: (field) => (draw.chance(0.5) ? draw.one(field.constraints?.options ?? []) : undefined),
    emergency_contact: () => (draw.chance(0.2) ? `Known to the office, file ${draw.whole(100, 999)}` : undefined),
    access_needs: () => (draw.chance(0.2) ? draw.one(accessNeeds) : undefined),
    screened_on: () => (draw.chance(0.3) ? `${draw.whole(2021, 2024)}-${draw.whole(10, 12)}-15` : undefined),
    fee_exempt: () => (draw.chance(0.3) ? draw.chance(0.5) : undefined),
  };
  const values = form.fields.flatMap((field) => {
    const value = byKey[field.key]?.(field);
    return value === undefined || field.archived ? [] : [[field.fieldId, value] as const];
  });
  return Object.fromEntries(values);
}
