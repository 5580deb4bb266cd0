import { getAnnotation, unwrap } from "../contract/definition/field-annotations.ts";
import type { Operation } from "../contract/definition/operation.ts";
import { type Privacy, shouldHideContacts } from "../contract/privacy.ts";
import { type Scope, sensitiveScope } from "../contract/scopes.ts";
import type { Reader } from "../store/port.ts";

/** Which form a record answers. Supplements name no version: the latest one counts. */
export interface FormName {
  readonly schemaId: string;
  readonly schemaVersion: number | undefined;
}

/** The ids of a form's `standard` fields, to leave others out of those given; none where the form cannot be read. */
export type StandardFieldsOf = (form: FormName, given: ReadonlySet<string>) => Promise<ReadonlySet<string>>;

/** What of a call decides whether answers are left out. */
export interface AnswersView {
  readonly privacy: Privacy | undefined;
  readonly scopes: ReadonlySet<Scope>;
}

type Row = Readonly<Record<string, unknown>>;

/**
 * Data without answers that the form calls personal, for agents from whom people are hidden: what a form calls `pii` or
 * `restricted` needs the scope that such fields of persons need. The interface itself shows whole applications.
 */
export async function removePersonalAnswers(
  operation: Operation,
  data: unknown,
  { privacy, scopes }: AnswersView,
  standardFieldsOf: StandardFieldsOf,
): Promise<unknown> {
  if (!shouldHideContacts(privacy) || scopes.has(sensitiveScope) || !holdsAnswers(operation)) return data;
  const known = new Map<string, Promise<ReadonlySet<string>>>();
  const shown = async (row: Row): Promise<Row> => {
    const form = { schemaId: String(row["schemaId"]), schemaVersion: (row["schemaVersion"] ?? undefined) as number };
    const given = Object.entries(row["fields"] ?? {});
    const key = JSON.stringify(form);
    const standard = known.get(key) ?? standardFieldsOf(form, new Set(given.map(([fieldId]) => fieldId)));
    known.set(key, standard);
    const ids = await standard;
    return { ...row, fields: Object.fromEntries(given.filter(([fieldId]) => ids.has(fieldId))) };
  };
  return Array.isArray(data) ? Promise.all(data.map(shown)) : shown(data as Row);
}

/** Reads forms of a tenant. */
export function createStandardFieldReader(reader: Reader): StandardFieldsOf {
  return async ({ schemaId, schemaVersion }) => {
    const where = { schemaId, schemaVersion };
    const [form] = await reader.find("schemas", { where }, { limit: 1, orderBy: "schemaVersion", descending: true });
    const standard = form?.fields.filter((field) => field.sensitivity === "standard") ?? [];
    return new Set(standard.map((field) => field.fieldId));
  };
}

function holdsAnswers({ data }: Operation): boolean {
  const { element, shape } = unwrap(data)._zod.def as { element?: typeof data; shape?: Record<string, typeof data> };
  const { fields } = (element ? (unwrap(element)._zod.def as { shape?: typeof shape }).shape : shape) ?? {};
  return fields !== undefined && getAnnotation(fields)?.answers === true;
}
