import { LRUCache } from "lru-cache";
import { type Privacy, shouldHideContacts } from "../contract/access/privacy.ts";
import { type Scope, sensitiveScope } from "../contract/access/scopes.ts";
import { getAnnotation } from "../contract/definition/field-annotations.ts";
import type { Operation } from "../contract/definition/operation.ts";
import { createSchemaCache } from "../contract/definition/schema-cache.ts";
import { getFields, getRowSchema } from "../contract/definition/schema-visitor.ts";
import type { Reader, Store } from "../store/port.ts";

/** The form that a record answers. Supplements name no version and use the latest one. */
export interface FormName {
  readonly schemaId: string;
  readonly schemaVersion: number | undefined;
}

/** Returns the ids of a form's `standard` fields, at once if they are known; none if the form cannot be read. */
export type LoadStandardFields = (
  form: FormName,
  given: readonly string[],
) => ReadonlySet<string> | Promise<ReadonlySet<string>>;

/** Decides which answers a caller may see. */
export interface AnswersView {
  readonly privacy: Privacy | undefined;
  readonly scopes: ReadonlySet<Scope>;
}

type Row = Readonly<Record<string, unknown>>;

/** Most forms that are remembered: more than the programmes of one process use. */
const maxForms = 1_000;

/**
 * Removes answers to personal form fields for agents whose privacy mode hides contacts: `pii` and `restricted` fields
 * need the scope of sensitive person fields. The REST interface shows whole applications.
 * @returns the data, or a promise of them if a form has to be read
 */
export function removePersonalAnswers(
  operation: Operation,
  data: unknown,
  view: AnswersView,
  loadStandardFields: LoadStandardFields,
): unknown {
  if (canSeePersonalAnswers(view) || !holdsAnswers(operation.data)) return data;
  if (!Array.isArray(data)) return removeAnswersOf(data as Row, loadStandardFields);
  const loadOnce = createFormCache(loadStandardFields);
  return Promise.all(data.map((row: Row) => removeAnswersOf(row, loadOnce)));
}

/** Reads each form once, for many answers to few forms. */
export function createFormCache(loadStandardFields: LoadStandardFields): LoadStandardFields {
  const known = new Map<string, ReturnType<LoadStandardFields>>();
  return (form, given) => {
    const key = JSON.stringify(form);
    const standard = known.get(key) ?? loadStandardFields(form, given);
    if (known.size < maxForms) known.set(key, standard);
    return standard;
  };
}

function removeAnswersOf(row: Row, loadStandardFields: LoadStandardFields): Row | Promise<Row> {
  const fields = row["fields"] ?? {};
  const given = Object.keys(fields);
  if (given.length === 0) return row;
  const form = { schemaId: String(row["schemaId"]), schemaVersion: (row["schemaVersion"] ?? undefined) as number };
  const standard = loadStandardFields(form, given);
  const keep = (ids: ReadonlySet<string>): Row =>
    given.every((id) => ids.has(id))
      ? row
      : { ...row, fields: Object.fromEntries(Object.entries(fields).filter(([id]) => ids.has(id))) };
  return standard instanceof Promise ? standard.then(keep) : keep(standard);
}

export function canSeePersonalAnswers({ privacy, scopes }: AnswersView): boolean {
  return !shouldHideContacts(privacy) || scopes.has(sensitiveScope);
}

/** Reads the forms of a tenant. */
export function createStandardFieldReader(reader: Reader): LoadStandardFields {
  return ({ schemaId, schemaVersion }) => readStandardFields(reader, schemaId, schemaVersion);
}

async function readStandardFields(
  reader: Reader,
  schemaId: string,
  schemaVersion: number | undefined,
): Promise<ReadonlySet<string>> {
  const where = { schemaId, schemaVersion };
  const [form] = await reader.find("schemas", { where }, { limit: 1, orderBy: "schemaVersion", descending: true });
  const standard = form?.fields.filter((field) => field.sensitivity === "standard") ?? [];
  return new Set(standard.map((field) => field.fieldId));
}

const formsByStore = new WeakMap<Store, LRUCache<string, ReadonlySet<string>>>();

/** Reads the forms of a tenant, and each version once: a version never changes. */
export function createStandardFieldCache(store: Store, businessId: string): LoadStandardFields {
  const forms = formsByStore.get(store) ?? new LRUCache({ max: maxForms });
  formsByStore.set(store, forms);
  return ({ schemaId, schemaVersion }) => {
    const key = `${businessId} ${schemaId} ${schemaVersion}`;
    return (
      forms.get(key) ??
      readStandardFields(store.reader(businessId), schemaId, schemaVersion).then((fields) => {
        // A form that is not there yet, and the latest version, may change.
        if (schemaVersion !== undefined && fields.size > 0) forms.set(key, fields);
        return fields;
      })
    );
  };
}

const holdsAnswers = createSchemaCache((data) => {
  const fields = getFields(getRowSchema(data))?.["fields"];
  return fields !== undefined && getAnnotation(fields)?.answers === true;
});
