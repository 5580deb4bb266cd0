import type { ApplicationField, Constraints } from "../contract/schemas.ts";
import type { NewRow } from "../store/tables.ts";
import { countries, languages } from "./names.ts";
import { fundDomains, residencyDomains } from "./projects.ts";
import type { Timeline } from "./timeline.ts";

export type Form = NewRow<"schemas">;

type FieldText = Pick<ApplicationField, "key" | "label" | "type"> &
  Partial<Omit<ApplicationField, "fieldId" | "order">>;

const required = true;
const restrictedTo = (...options: readonly string[]): Constraints => ({ options: [...options] });
const numbers = (min: number, max: number): Constraints => ({ min, max });
const chars = (minLength: number, maxLength: number): Constraints => ({ minLength, maxLength });

const section = (key: string, label: string): FieldText => ({ key, label, type: "section" });

const about = (domains: readonly string[]): FieldText[] => [
  section("about", "About the project"),
  { key: "title", label: "Title", type: "text", required, constraints: chars(5, 120) },
  {
    key: "summary",
    label: "Summary",
    helpText: "What is missing, what you will do about it and what will remain.",
    type: "textarea",
    required,
    constraints: chars(50, 1500),
  },
  { key: "domain", label: "Domain", type: "select", required, constraints: restrictedTo(...domains) },
];

const dates: FieldText[] = [
  { key: "start_date", label: "Planned start", type: "date", required },
  { key: "duration_months", label: "Duration in months", type: "number", required, constraints: numbers(3, 36) },
];

const where: FieldText = {
  key: "countries",
  label: "Countries",
  type: "multiselect",
  required,
  constraints: { ...restrictedTo(...countries), minItems: 1, maxItems: 5 },
};

const amount = (max: number): FieldText => ({
  key: "requested_amount",
  label: "Amount requested in EUR",
  type: "number",
  required,
  constraints: numbers(1000, max),
});

const workPlan: FieldText = {
  key: "work_plan",
  label: "Work plan",
  helpText: "PDF, at most three files.",
  type: "file",
  // Not required: files come through the portal, and an application must be complete without one to come by the API.
  constraints: { minItems: 1, maxItems: 3 },
};

const budgetSheet: FieldText = { key: "budget_sheet", label: "Budget", type: "file", constraints: { maxItems: 1 } };

const phoneField: FieldText = {
  key: "contact_phone",
  label: "Telephone for questions",
  type: "text",
  sensitivity: "pii",
  constraints: { ...chars(7, 25), pattern: "^\\+[0-9 ]+$" },
};

const website: FieldText = {
  key: "website",
  label: "Website",
  type: "text",
  constraints: { maxLength: 200, pattern: "^https://" },
};

const charityNumber: FieldText = {
  key: "charity_number",
  label: "Charity number",
  type: "text",
  constraints: chars(0, 20),
};

const openResults: FieldText = {
  key: "open_results",
  label: "Results will be published under an open licence",
  type: "boolean",
  required,
};

const communityFields = [
  ...about(fundDomains),
  where,
  section("means", "Time and money"),
  ...dates,
  amount(50_000),
  { key: "co_funding", label: "Further funds in EUR", type: "number", constraints: numbers(0, 500_000) },
  workPlan,
  budgetSheet,
] as const satisfies FieldText[];

const pilotFields: FieldText[] = [
  ...about(fundDomains),
  {
    key: "stage",
    label: "Stage of development",
    type: "select",
    required,
    constraints: restrictedTo("Prototype", "First customers", "Ready to repeat"),
  },
  { key: "pilot_sites", label: "Number of pilot sites", type: "number", required, constraints: numbers(1, 20) },
  where,
  section("means", "Time and money"),
  ...dates,
  amount(120_000),
  { key: "own_share", label: "Own share in EUR", type: "number", required, constraints: numbers(0, 500_000) },
  { key: "founded_on", label: "Founded on", type: "date" },
  workPlan,
  budgetSheet,
  phoneField,
  website,
];

const residencyFields: FieldText[] = [
  ...about(residencyDomains),
  {
    key: "working_languages",
    label: "Working languages",
    type: "multiselect",
    constraints: restrictedTo(...languages),
  },
  ...dates,
  amount(12_000),
  { key: "portfolio", label: "Portfolio", type: "file", required, constraints: { minItems: 1, maxItems: 2 } },
  { key: "family", label: "I would come with children", type: "boolean", sensitivity: "restricted" },
];

const supportFields: FieldText[] = [
  { key: "statement", label: "Statement", type: "textarea", required, constraints: chars(20, 2000) },
  { key: "signatory", label: "Signed by", type: "text", required, sensitivity: "pii", constraints: chars(2, 120) },
  { key: "signed_on", label: "Signed on", type: "date", required },
  { key: "document", label: "Signed document", type: "file", constraints: { maxItems: 1 } },
];

/** Makes a tenant's forms; a key has the same field id in all of them. */
export function createForms(timeline: Timeline) {
  const fieldIds = new Map<string, string>();
  const fieldId = (key: string, daysAgo: number): string => {
    const known = fieldIds.get(key) ?? timeline.newId("fld", daysAgo);
    fieldIds.set(key, known);
    return known;
  };
  const form = (name: string, texts: readonly FieldText[], daysAgo: number, earlier?: Form): Form => ({
    schemaId: earlier?.schemaId ?? timeline.newId("sch", daysAgo),
    name,
    schemaVersion: (earlier?.schemaVersion ?? 0) + 1,
    published: true,
    publishedAt: timeline.time(daysAgo, 12),
    fields: texts.map((text, order) => ({
      required: false,
      sensitivity: "standard",
      archived: false,
      ...text,
      fieldId: fieldId(text.key, daysAgo),
      order,
    })),
  });
  return {
    fieldId,
    /** Last year's form of community projects and what this year made of it. */
    community(firstDaysAgo: number, secondDaysAgo: number): readonly [first: Form, second: Form] {
      const name = "Community project application";
      const first = form(name, [...communityFields, phoneField, charityNumber], firstDaysAgo);
      const archived = { ...charityNumber, archived: true };
      const second = [...communityFields, openResults, phoneField, website, archived];
      return [first, form(name, second, secondDaysAgo, first)];
    },
    pilot: (daysAgo: number): Form => form("Enterprise pilot application", pilotFields, daysAgo),
    residency: (daysAgo: number): Form => form("Residency application", residencyFields, daysAgo),
    support: (daysAgo: number): Form => form("Signed statement", supportFields, daysAgo),
  };
}

export type Forms = ReturnType<typeof createForms>;
