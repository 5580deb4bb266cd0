import { validationProblem } from "../contract/errors.ts";
import type { Schema } from "../contract/schemas.ts";
import { checkChange } from "../domain/fields.ts";
import type { Reader } from "../store/port.ts";

/** An application schema in one version, the latest if none is given. */
export async function findForm(store: Reader, schemaId: string, schemaVersion?: number): Promise<Schema | undefined> {
  const where = { schemaId, schemaVersion };
  const [form] = await store.find("schemas", { where }, { limit: 1, orderBy: "schemaVersion", descending: true });
  return form;
}

/** The schema that a record names. That it is there is not the caller's business: its absence is a fault of ours. */
export async function loadForm(store: Reader, schemaId: string, schemaVersion?: number): Promise<Schema> {
  const form = await findForm(store, schemaId, schemaVersion);
  if (!form) throw new Error(`Schema ${schemaId} version ${schemaVersion ?? "any"} is missing`);
  return form;
}

type Values = Readonly<Record<string, unknown>>;

/** What has values and files: a submission, or a supplement of it. */
interface Owner {
  readonly submissionId: string;
  readonly supplementResponseId?: string;
  readonly fields: Values;
}

/**
 * Checks a change of values, named `fields` in the request, against a form and the owner's files.
 * @throws Problem `validation_failed`
 */
export async function checkFields(store: Reader, form: Schema, change: Values, owner: Owner): Promise<void> {
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
 * Checks that files exist and belong to a submission, or to the supplement of it that names them.
 * @param named path in the request and file id
 * @throws Problem `validation_failed`
 */
export async function checkFileFields(
  store: Reader,
  named: readonly (readonly [path: string, fileId: string])[],
  { submissionId, supplementResponseId }: Owner,
): Promise<void> {
  const fileId = [...new Set(named.map(([, id]) => id))];
  if (fileId.length === 0) return;
  const files = await store.find("files", { where: { fileId } }, { limit: fileId.length });
  const owned = files.filter(
    (file) =>
      file.submissionId === submissionId ||
      (supplementResponseId !== undefined && file.supplementResponseId === supplementResponseId),
  );
  const known = new Set(owned.map((file) => file.fileId));
  const issues = named
    .filter(([, id]) => !known.has(id))
    .map(([path]) => ({ path, code: "invalid_value", message: "The submission has no such file" }));
  if (issues.length > 0) throw validationProblem(...issues);
}

function collectFileIds(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((id) => typeof id === "string");
}
