import type { ExternalRefInput } from "../contract/definition/refs.ts";
import { type Issue, validationProblem } from "../contract/errors.ts";
import type { CustomFields, Person, PersonField } from "../contract/persons.ts";
import { checkChange, checkValues, listMissingRequired, mergeValues } from "./fields.ts";
import { createFieldSuggester } from "./unknown-fields.ts";

/** Bounds of what a person accumulates over many changes. */
export const maxExternalRefs = 500;
export const maxMetadataBytes = 256 * 1024;

/** Returns whether a person can be changed, resolved and included. */
export function isActive({ active, anonymizedAt }: Pick<Person, "active" | "anonymizedAt">): boolean {
  return active && anonymizedAt === null;
}

/**
 * Checks a new person's custom fields against the schema.
 * @throws Problem `validation_failed` at `customFields.<id>` for an unknown, invalid or missing required one
 */
export function checkCustomFields(fields: readonly PersonField[], values: CustomFields): void {
  throwIfAny([
    ...checkValues(fields, values, "customFields"),
    ...listMissingRequired(fields, values).map(createRequiredIssue),
  ]);
}

/**
 * Returns a person's custom fields after a change: null clears one, and ids that are not named stay. A required field
 * cannot be cleared; one that the person never had does not block other changes.
 * @throws Problem `validation_failed` at `customFields.<id>`
 */
export function changeCustomFields(
  fields: readonly PersonField[],
  before: CustomFields,
  change: Readonly<Record<string, CustomFields[string] | null>>,
): CustomFields {
  const after = mergeValues(before, change);
  throwIfAny([
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
  throwIfAny([{ path: "metadata", code: "too_big", message: `Expected at most ${maxMetadataBytes} bytes of JSON` }]);
}

/**
 * Merges two persons (records: persons, merge). The target's values win, except the custom fields in
 * `preferSourceCustomFieldIds`. Values that the target lacks come from the source; references and kinds are combined.
 * @throws Problem `validation_failed` if a preferred field is unknown to schema and source, or if the result is too
 * large
 */
export function mergePersons(
  source: Person,
  target: Person,
  fields: readonly PersonField[],
  preferSourceCustomFieldIds: readonly string[],
) {
  const knownIds = new Set([...fields.map(({ fieldId }) => fieldId), ...Object.keys(source.customFields)]);
  const suggest = createFieldSuggester(fields);
  throwIfAny(
    preferSourceCustomFieldIds.flatMap((fieldId, index) =>
      knownIds.has(fieldId)
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
  const isTooLarge = merged.externalRefs.length > maxExternalRefs || measureSize(merged.metadata) > maxMetadataBytes;
  if (isTooLarge) {
    const message = "Together the two persons have more external references or metadata than one may have";
    throwIfAny([{ path: "targetPersonId", code: "too_big", message }]);
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

/** The identifiers by which a query names persons. */
export type PersonSelector =
  | { readonly by: "personId"; readonly personId: string }
  | { readonly by: "email"; readonly email: string }
  | { readonly by: "platformUserId"; readonly platformUserId: string }
  | { readonly by: "externalRef"; readonly externalRef: ExternalRefInput };

/**
 * Returns the selector of a query, which must have exactly one (specification 4.9).
 * @throws Problem `validation_failed` for none, several, or an incomplete reference
 */
export function parsePersonSelector(query: PersonQuery): PersonSelector {
  const { personId, email, platformUserId, namespace, objectType, externalId } = query;
  const refParts = { namespace, objectType, externalId };
  const presentPaths = Object.entries(query).flatMap(([path, value]) => (value === undefined ? [] : path));
  const missing = Object.entries(refParts).flatMap(([path, value]) => (value === undefined ? path : []));
  const single = presentPaths.filter((path) => !Object.hasOwn(refParts, path));
  const selectors = single.length + (missing.length < 3 ? 1 : 0);
  if (selectors !== 1) {
    const message = "Give exactly one of personId, email, platformUserId, or namespace with objectType and externalId";
    const paths = presentPaths.length > 0 ? presentPaths : ["personId", "email", "platformUserId", ...missing];
    throwIfAny(paths.map((path) => ({ path, code: selectors === 0 ? "required" : "conflicting", message })));
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

function throwIfAny(issues: readonly Issue[]): void {
  if (issues.length > 0) throw validationProblem(...issues);
}

function measureSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
