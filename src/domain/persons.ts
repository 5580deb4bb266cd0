import type { ExternalRefInput } from "../contract/definition/refs.ts";
import { type Issue, validationProblem } from "../contract/errors.ts";
import type { CustomFields, Person, PersonField } from "../contract/persons.ts";
import { checkChange, checkValues, listMissingRequired, mergeValues } from "./fields.ts";
import { createFieldSuggester } from "./unknown-fields.ts";

/** Bounds on what a person can collect over many changes. */
export const maxExternalRefs = 500;
export const maxMetadataBytes = 256 * 1024;

/** Whether a person can be written to, resolved and expanded. */
export function isActive({ active, anonymizedAt }: Pick<Person, "active" | "anonymizedAt">): boolean {
  return active && anonymizedAt === null;
}

/**
 * Checks a new person's custom fields against the schema.
 * @throws Problem `validation_failed` at `customFields.<id>` for an unknown, invalid or missing required one
 */
export function checkCustomFields(fields: readonly PersonField[], values: CustomFields): void {
  refuse([
    ...checkValues(fields, values, "customFields"),
    ...listMissingRequired(fields, values).map(createRequiredIssue),
  ]);
}

/**
 * A person's custom fields after a change: null clears one, those not named stay. A required field cannot be cleared;
 * one that the person never had does not stand in the way of other changes.
 * @throws Problem `validation_failed` at `customFields.<id>`
 */
export function changeCustomFields(
  fields: readonly PersonField[],
  before: CustomFields,
  change: Readonly<Record<string, CustomFields[string] | null>>,
): CustomFields {
  const after = mergeValues(before, change);
  refuse([
    ...checkChange(fields, before, change, "customFields"),
    ...listMissingRequired(fields, after)
      .filter((fieldId) => Object.hasOwn(change, fieldId))
      .map(createRequiredIssue),
  ]);
  return after;
}

/** @throws Problem `validation_failed` at `metadata` */
export function checkMetadata(metadata: Readonly<Record<string, unknown>>): void {
  if (measureSize(metadata) <= maxMetadataBytes) return;
  refuse([{ path: "metadata", code: "too_big", message: `Expected at most ${maxMetadataBytes} bytes of JSON` }]);
}

/**
 * What a merge makes of both persons (records: persons, merge). The target's values win, except the custom fields in
 * `preferSourceCustomFieldIds`; what the target lacks comes from the source; references and kinds are united.
 * @throws Problem `validation_failed` when neither schema nor source know a preferred field, or the union is too large
 */
export function mergePersons(
  source: Person,
  target: Person,
  fields: readonly PersonField[],
  preferSourceCustomFieldIds: readonly string[],
) {
  const known = new Set([...fields.map(({ fieldId }) => fieldId), ...Object.keys(source.customFields)]);
  const suggest = createFieldSuggester(fields);
  refuse(
    preferSourceCustomFieldIds.flatMap((fieldId, index) =>
      known.has(fieldId)
        ? []
        : {
            path: `preferSourceCustomFieldIds.${index}`,
            code: "unrecognized_keys",
            message: suggest(fieldId),
          },
    ),
  );
  const preferred = new Set(preferSourceCustomFieldIds);
  const fromSource = Object.entries(source.customFields).filter(([fieldId]) => preferred.has(fieldId));
  const contactDetails = { ...source.contactDetails, ...target.contactDetails };
  const merged = {
    primaryEmail: target.primaryEmail ?? source.primaryEmail,
    contactDetails: source.contactDetails || target.contactDetails ? contactDetails : undefined,
    platformUserId: target.platformUserId ?? source.platformUserId,
    kinds: [...new Set([...target.kinds, ...source.kinds])],
    customFields: { ...source.customFields, ...target.customFields, ...Object.fromEntries(fromSource) },
    customFieldSchemaVersion: Math.max(source.customFieldSchemaVersion, target.customFieldSchemaVersion),
    externalRefs: [...target.externalRefs, ...source.externalRefs],
    metadata: { ...source.metadata, ...target.metadata },
  };
  const tooBig = merged.externalRefs.length > maxExternalRefs || measureSize(merged.metadata) > maxMetadataBytes;
  if (tooBig) {
    const message = "Together the two persons have more external references or metadata than one may have";
    refuse([{ path: "targetPersonId", code: "too_big", message }]);
  }
  return { source: { active: false, mergedIntoPersonId: target.personId, externalRefs: [] }, target: merged };
}

interface PersonQuery {
  readonly personId?: string | undefined;
  readonly email?: string | undefined;
  readonly platformUserId?: string | undefined;
  readonly namespace?: string | undefined;
  readonly objectType?: string | undefined;
  readonly externalId?: string | undefined;
}

/** How a caller names the persons to resolve. */
export type PersonSelector =
  | { readonly by: "personId"; readonly personId: string }
  | { readonly by: "email"; readonly email: string }
  | { readonly by: "platformUserId"; readonly platformUserId: string }
  | { readonly by: "externalRef"; readonly externalRef: ExternalRefInput };

/**
 * The one selector of a query (specification 4.9).
 * @throws Problem `validation_failed` for none, several, or an incomplete reference
 */
export function parsePersonSelector(query: PersonQuery): PersonSelector {
  const { personId, email, platformUserId, namespace, objectType, externalId } = query;
  const parts = { namespace, objectType, externalId };
  const given = Object.entries(query).flatMap(([path, value]) => (value === undefined ? [] : path));
  const missing = Object.entries(parts).flatMap(([path, value]) => (value === undefined ? path : []));
  const single = given.filter((path) => !Object.hasOwn(parts, path));
  const selectors = single.length + (missing.length < 3 ? 1 : 0);
  if (selectors !== 1) {
    const message = "Give exactly one of personId, email, platformUserId, or namespace with objectType and externalId";
    const paths = given.length > 0 ? given : ["personId", "email", "platformUserId", ...missing];
    refuse(paths.map((path) => ({ path, code: selectors === 0 ? "required" : "conflicting", message })));
  }
  if (personId !== undefined) return { by: "personId", personId };
  if (email !== undefined) return { by: "email", email };
  if (platformUserId !== undefined) return { by: "platformUserId", platformUserId };
  if (namespace !== undefined && objectType !== undefined && externalId !== undefined) {
    return { by: "externalRef", externalRef: { namespace, objectType, externalId } };
  }
  const message = "An external reference is named by namespace, objectType and externalId";
  throw validationProblem(...missing.map((path) => ({ path, code: "required", message })));
}

function createRequiredIssue(fieldId: string): Issue {
  return { path: `customFields.${fieldId}`, code: "required", message: "The field is required" };
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw validationProblem(...issues);
}

function measureSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
