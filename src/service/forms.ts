import { validationProblem } from "../contract/errors.ts";
import type { Schema } from "../contract/schemas.ts";
import { checkChange } from "../domain/fields.ts";
import type { Reader } from "../store/port.ts";

/** Returns an application schema in one version, the latest by default. */
export async function findForm(store: Reader, schemaId: string, schemaVersion?: number): Promise<Schema | undefined> {
  const where = { schemaId, schemaVersion };
  const [form] = await store.find("schemas", { where }, { limit: 1, orderBy: "schemaVersion", descending: true });
  return form;
}

/** Returns the schema that a record refers to. A missing one is an internal error, since callers did not name it. */
export async function loadForm(store: Reader, schemaId: string, schemaVersion?: number): Promise<Schema> {
  const form = await findForm(store, schemaId, schemaVersion);
  if (!form) throw new Error(`Schema ${schemaId} version ${schemaVersion ?? "any"} is missing`);
  return form;
}

type Values = Readonly<Record<string, unknown>>;

/** A record with values and files: a submission or one of its supplements. */
interface FieldOwner {
  readonly submissionId: string;
  readonly supplementResponseId?: string;
  readonly fields: Values;
}

/**
 * Checks a change of values, called `fields` in the request, against a form and the record's files.
 * @throws Problem `validation_failed`
 */
export async function checkFields(store: Reader, form: Schema, change: Values, owner: FieldOwner): Promise<void> {
  const issues = checkChange(form.fields, owner.fields, change, "fields");
  if (issues.length > 0) throw validationProblem(...issues);
  const fileFields = form.fields.filter((field) => field.type === "file" && Object.hasOwn(change, field.fieldId));
  await checkFileFields(
    store,
    fileFields.flatMap(({ fieldId }) => collectFileIds(change[fieldId]).map((fileId) => [`fields.${fieldId}`, fileId])),
    owner,
  );
}

/**
 * Checks that files exist and belong to a submission, or to the supplement that refers to them.
 * @param references path in the request and file id
 * @throws Problem `validation_failed`
 */
export async function checkFileFields(
  store: Reader,
  references: readonly (readonly [path: string, fileId: string])[],
  { submissionId, supplementResponseId }: FieldOwner,
): Promise<void> {
  const fileId = [...new Set(references.map(([, id]) => id))];
  if (fileId.length === 0) return;
  const files = await store.find("files", { where: { fileId } }, { limit: fileId.length });
  const owned = files.filter(
    (file) =>
      file.submissionId === submissionId ||
      (supplementResponseId !== undefined && file.supplementResponseId === supplementResponseId),
  );
  const ownedIds = new Set(owned.map((file) => file.fileId));
  const issues = references
    .filter(([, id]) => !ownedIds.has(id))
    .map(([path]) => ({ path, code: "invalid_value", message: "The submission has no such file" }));
  if (issues.length > 0) throw validationProblem(...issues);
}

function collectFileIds(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string");
}
