import type { Submission } from "../../contract/submissions.ts";
import type { SupplementResponse } from "../../contract/supplements.ts";
import { isObject } from "../../lib/json-value.ts";
import type { UpstreamCall } from "../../upstream/port.ts";
import { getToolArguments } from "../catalog/tool-options.ts";
import { type DeclaredField, type FieldDeclarations, findField } from "./declared-fields.ts";

type Values = Readonly<Record<string, unknown>>;

export interface TranslatedInput {
  readonly input: Values;
  /** Notes on names that were read as field ids. */
  readonly notes: readonly string[];
}

/** Returns whether an input names fields of a form or of persons. */
export function mayNameFields({ operation, input }: UpstreamCall): boolean {
  const { shape } = getToolArguments(operation);
  return ["fields", "customFields", "includePersonFieldIds", "preferSourceCustomFieldIds", "persons"].some(
    (name) => input[name] !== undefined && Object.hasOwn(shape, name),
  );
}

/**
 * Replaces keys and labels of fields in a call's input with field ids.
 * @returns undefined if there is nothing to replace
 */
export async function translateFieldNames(
  { input }: UpstreamCall,
  declarations: FieldDeclarations,
): Promise<TranslatedInput | undefined> {
  const notes: string[] = [];
  const translated: Record<string, unknown> = { ...input };
  const translate = (fields: readonly DeclaredField[], name: string, path: string) => {
    const fieldId = findField(fields, name)?.fieldId ?? name;
    if (fieldId !== name) notes.push(`${path}.${name} was read as ${fieldId}.`);
    return fieldId;
  };
  const translateKeys = (fields: readonly DeclaredField[], values: Values, path: string) => {
    const entries = Object.entries(values).map(([name, value]) => [translate(fields, name, path), value] as const);
    // A field that is named twice stays as it is, for validation to reject.
    return new Set(entries.map(([name]) => name)).size === entries.length ? Object.fromEntries(entries) : values;
  };
  const { fields, customFields, includePersonFieldIds, preferSourceCustomFieldIds, persons } = input;
  if (isObject(fields)) translated["fields"] = translateKeys(await loadFormOf(input, declarations), fields, "fields");
  const personFields =
    (customFields ?? includePersonFieldIds ?? preferSourceCustomFieldIds ?? persons)
      ? await declarations.loadPersonFields()
      : [];
  if (isObject(customFields)) translated["customFields"] = translateKeys(personFields, customFields, "customFields");
  const translateList = (names: readonly unknown[], path: string) =>
    names.map((name) => (typeof name === "string" ? translate(personFields, name.trim(), path) : name));
  if (typeof includePersonFieldIds === "string") {
    const ids = translateList(includePersonFieldIds.split(","), "includePersonFieldIds");
    translated["includePersonFieldIds"] = ids.join(",");
  }
  if (Array.isArray(preferSourceCustomFieldIds)) {
    const ids = translateList(preferSourceCustomFieldIds, "preferSourceCustomFieldIds");
    translated["preferSourceCustomFieldIds"] = ids;
  }
  if (isObject(persons) && Array.isArray(persons["fieldIds"])) {
    translated["persons"] = { ...persons, fieldIds: translateList(persons["fieldIds"], "persons.fieldIds") };
  }
  return notes.length > 0 ? { input: translated, notes } : undefined;
}

/** Returns the fields of the form that an input answers: of a supplement, a submission or a track. */
async function loadFormOf(
  { submissionId, supplementResponseId, trackId }: Values,
  declarations: FieldDeclarations,
): Promise<readonly DeclaredField[]> {
  if (supplementResponseId !== undefined) {
    const data = await declarations.read("list_submission_supplements", { submissionId });
    const supplements = (data ?? []) as readonly SupplementResponse[];
    const supplement = supplements.find((each) => each.supplementResponseId === supplementResponseId);
    return supplement ? declarations.loadForm(supplement.schemaId) : [];
  }
  if (submissionId !== undefined) {
    const submission = (await declarations.read("get_submission", { submissionId })) as Submission | undefined;
    return submission ? declarations.loadForm(submission.schemaId, submission.schemaVersion) : [];
  }
  const [sibling] = ((await declarations.read("list_submissions", { trackId, limit: 1 })) ??
    []) as readonly Submission[];
  return declarations.loadForm(sibling?.schemaId ?? (await findSchemaOfTrack(trackId, declarations)) ?? "");
}

/** Searches the programmes for a track without submissions. */
async function findSchemaOfTrack(trackId: unknown, declarations: FieldDeclarations): Promise<string | undefined> {
  type Program = { readonly programId: string };
  type Track = { readonly trackId: string; readonly schemaId: string };
  const programs = ((await declarations.read("list_programs", { limit: 100 })) ?? []) as readonly Program[];
  for (const { programId } of programs) {
    const tracks = ((await declarations.read("list_tracks", { programId, limit: 100 })) ?? []) as readonly Track[];
    const track = tracks.find((each) => each.trackId === trackId);
    if (track) return track.schemaId;
  }
  return undefined;
}
