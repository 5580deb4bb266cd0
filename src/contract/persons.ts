import * as z from "zod";
import { limits } from "./access/limits.ts";
import { sensitiveScope } from "./access/scopes.ts";
import { contactDetail, freeForm, personal, sensitive, sensitiveByField } from "./definition/field-annotations.ts";
import {
  boundedText,
  common,
  DateFrom,
  Email,
  FreeForm,
  Id,
  PersonFieldIds,
  Timestamp,
  Version,
} from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { Cursor, maxLimit, pageQuery } from "./definition/page.ts";
import { ExternalRef, ExternalRefInput } from "./definition/refs.ts";
import { FieldBase, PersonFieldType } from "./schemas.ts";

const Kinds = z.array(z.enum(["applicant", "reviewer", "contact"])).max(3);

const contactKeys = { firstName: 100, lastName: 100, phone: 50, organization: 255, title: 255, address: 500 };

function defineContactDetails<S extends z.ZodType>(value: (max: number) => S) {
  const getKeyLimits = (key: keyof typeof contactKeys) => value(contactKeys[key]).optional();
  return {
    firstName: getKeyLimits("firstName"),
    lastName: getKeyLimits("lastName"),
    phone: contactDetail(getKeyLimits("phone"), "phone"),
    organization: getKeyLimits("organization"),
    title: getKeyLimits("title"),
    address: getKeyLimits("address"),
  };
}

const FieldValue = z.union(
  [
    z.string().max(limits.fieldChars),
    z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER),
    z.boolean(),
    z.array(z.string().max(limits.fieldItemChars)).max(limits.fieldItems),
  ],
  {
    error: `Expected a text (at most ${limits.fieldChars} characters), a number, true or false, or a list of texts (at most ${limits.fieldItems}, of ${limits.fieldItemChars} characters)`,
  },
);
export const CustomFields = freeForm(z.record(z.string(), FieldValue));
export type CustomFields = z.output<typeof CustomFields>;

const ProvenanceInput = z.strictObject({
  source: boundedText(100, 1).describe("system it comes from"),
  sourceId: contactDetail(boundedText(255, 1), "externalId").optional(),
});
const PlatformUserId = personal(freeForm(boundedText(255, 1)));

/** A canonical person (specification 2.5). */
export const Person = z.object({
  personId: Id,
  businessId: Id,
  primaryEmail: sensitive(contactDetail(z.string(), "email").optional(), sensitiveScope),
  contactDetails: sensitive(z.object(defineContactDetails((max) => z.string().max(max))).optional(), sensitiveScope),
  kinds: Kinds,
  platformUserId: personal(freeForm(z.string()).optional()),
  customFields: sensitiveByField(CustomFields, sensitiveScope),
  customFieldSchemaVersion: z.int().min(1),
  externalRefs: z.array(ExternalRef),
  /** `sourceId` identifies the person in another system, as an external id does. */
  provenance: z.object({
    source: z.string(),
    sourceId: sensitive(contactDetail(z.string(), "externalId").optional(), sensitiveScope),
  }),
  active: z.boolean(),
  anonymizedAt: Timestamp.nullable(),
  mergedIntoPersonId: Id.nullable(),
  metadata: sensitive(FreeForm, sensitiveScope, {}),
  createdBy: common.createdBy,
  updatedBy: common.updatedBy,
  createdAt: common.createdAt,
  updatedAt: common.updatedAt,
  version: common.version,
});
export type Person = z.output<typeof Person>;

/** A field of the person custom-field schema (specification 2.6). */
export const PersonField = z.object({ ...FieldBase, type: PersonFieldType });
export type PersonField = z.output<typeof PersonField>;

/** The person custom-field schema (specification 2.6). */
export const PersonSchema = z.object({
  businessId: Id,
  entityType: z.literal("person"),
  schemaVersion: z.int().min(1),
  sourceSchemaVersion: z.int().min(1).optional(),
  fields: z.array(PersonField),
  published: z.boolean(),
  publishedAt: Timestamp.nullable(),
  active: z.boolean(),
  createdBy: common.createdBy,
  updatedBy: common.updatedBy,
  createdAt: common.createdAt,
  updatedAt: common.updatedAt,
  version: common.version,
});
export type PersonSchema = z.output<typeof PersonSchema>;

/** The person data that `includePersonFieldIds` adds to an applicant or a reviewer (specification 4.3). */
export const PersonExpansion = z.object({
  personId: Id,
  customFields: sensitiveByField(CustomFields, sensitiveScope),
});
export type PersonExpansion = z.output<typeof PersonExpansion>;

export const Applicant = z.object({
  applicantId: Id,
  innovatorId: freeForm(z.string()),
  email: contactDetail(z.string(), "email"),
  name: personal(z.string()),
  programIds: z.array(Id),
  trackIds: z.array(Id),
  submissionCount: z.int().min(0),
  registeredAt: Timestamp,
  person: PersonExpansion.optional(),
  ...common,
});
export type Applicant = z.output<typeof Applicant>;

/** Returns the scope that `includePersonFieldIds` needs. */
export const requireExpansionScopes = (input: Readonly<Record<string, unknown>>) =>
  input["includePersonFieldIds"] === undefined ? [] : (["persons:read"] as const);

export const list_applicants = operation({
  summary: "List applicants",
  method: "GET",
  path: "/applicants",
  resource: "programme://applicants",
  scope: "applicants:read",
  effect: "read",
  query: {
    programId: Id.optional(),
    trackId: Id.optional(),
    includePersonFieldIds: PersonFieldIds.optional(),
    ...pageQuery,
  },
  data: z.array(Applicant),
  audit: "applicant.listed",
  conditionalScopes: requireExpansionScopes,
  errors: ["invalid_cursor"],
});

export const get_person_schema = operation({
  summary: "Get the person custom-field schema",
  method: "GET",
  path: "/person-fields/schema",
  resource: "programme://person-fields/schema",
  scope: "person-fields:read",
  effect: "read",
  data: PersonSchema,
  audit: "person_schema.read",
  errors: ["not_found"],
});

export const list_persons = operation({
  summary: "List persons",
  description: "Newest first; with updatedAfter, oldest change first.",
  method: "GET",
  path: "/persons",
  resource: "programme://persons",
  scope: "persons:read",
  effect: "read",
  query: {
    limit: pageQuery.limit,
    cursor: Cursor.describe("same as lastEvaluatedKey").optional(),
    updatedAfter: DateFrom.optional(),
    lastEvaluatedKey: pageQuery.lastEvaluatedKey,
  },
  data: z.array(Person),
  audit: "person.listed",
  errors: ["invalid_cursor"],
});

export const create_person = operation({
  summary: "Create a person",
  description: "Keys of customFields are the field ids of get_person_schema.",
  method: "POST",
  path: "/persons",
  scope: "persons:write",
  effect: "create",
  status: 201,
  body: z.strictObject({
    kinds: Kinds,
    provenance: ProvenanceInput,
    primaryEmail: Email.optional(),
    contactDetails: personal(z.strictObject(defineContactDetails((max) => z.string().min(1).max(max)))).optional(),
    platformUserId: PlatformUserId.optional(),
    customFields: personal(CustomFields).optional(),
    externalRefs: z.array(ExternalRefInput).max(100).optional(),
    metadata: personal(FreeForm).optional(),
  }),
  data: Person,
  audit: "person.created",
  errors: ["duplicate_external_ref"],
});

export const get_person = operation({
  summary: "Get a person",
  method: "GET",
  path: "/persons/{personId}",
  resource: "programme://persons/{personId}",
  scope: "persons:read",
  effect: "read",
  data: Person,
  audit: "person.read",
  errors: ["not_found"],
});

export const update_person = operation({
  summary: "Update a person",
  description:
    "null clears primaryEmail, contactDetails, platformUserId, a custom field or a metadata key; fields not named stay.",
  method: "PATCH",
  path: "/persons/{personId}",
  scope: "persons:write",
  effect: "update",
  body: z.strictObject({
    version: Version,
    primaryEmail: Email.nullable().optional(),
    contactDetails: personal(z.strictObject(defineContactDetails((max) => z.string().min(1).max(max))))
      .nullable()
      .optional(),
    platformUserId: PlatformUserId.nullable().optional(),
    kinds: Kinds.optional(),
    customFields: personal(freeForm(z.record(z.string(), FieldValue.nullable()))).optional(),
    provenance: ProvenanceInput.optional(),
    metadata: personal(FreeForm).optional(),
  }),
  data: Person,
  audit: "person.updated",
  errors: ["not_found", "version_conflict", "person_merged", "person_inactive"],
});

export const remove_person_external_ref = operation({
  summary: "Remove a person's external reference",
  method: "DELETE",
  path: "/persons/{personId}/external-refs",
  scope: "persons:write",
  effect: "destroy",
  body: z.strictObject({ ...ExternalRefInput.shape, version: Version }),
  data: Person,
  changes: ["externalRefs"],
  audit: "person.external_ref_removed",
  confirm: ({ personId }) => `Remove an external reference of person ${personId}`,
  errors: ["not_found", "version_conflict", "person_merged", "person_inactive"],
});

export const add_person_external_ref = operation({
  summary: "Add an external reference to a person",
  method: "POST",
  path: "/persons/{personId}/external-refs",
  scope: "persons:write",
  effect: "update",
  body: z.strictObject({ externalRef: ExternalRefInput, version: Version }),
  data: Person,
  changes: ["externalRefs"],
  audit: "person.external_ref_added",
  errors: ["not_found", "version_conflict", "duplicate_external_ref", "person_merged", "person_inactive"],
});

export const merge_person = operation({
  summary: "Merge a person (source) into another (target), which survives",
  description:
    "The target's values win, except the custom fields in preferSourceCustomFieldIds; the source becomes inactive.",
  method: "POST",
  path: "/persons/{personId}/merge",
  scope: "persons:write",
  effect: "destroy",
  body: z.strictObject({
    targetPersonId: Id,
    sourceVersion: Version,
    targetVersion: Version,
    preferSourceCustomFieldIds: z.array(boundedText(255, 1)).max(1000).optional(),
  }),
  data: Person,
  changes: ["kinds", "mergedIntoPersonId"],
  audit: "person.merged",
  confirm: ({ personId, targetPersonId }) => `Merge person ${personId} into ${targetPersonId}`,
  errors: ["not_found", "version_conflict", "person_merged", "person_inactive"],
});

export const resolve_persons = operation({
  summary: "Find active persons",
  description: "By exactly one of personId, email, platformUserId, or namespace with objectType and externalId.",
  method: "GET",
  path: "/persons/resolve",
  resource: "programme://persons/resolve",
  scope: "persons:read",
  effect: "read",
  query: {
    personId: Id.optional(),
    email: Email.optional(),
    platformUserId: PlatformUserId.optional(),
    namespace: boundedText(255, 1).optional(),
    objectType: boundedText(255, 1).optional(),
    externalId: contactDetail(boundedText(255, 1), "externalId").optional(),
  },
  data: z.array(Person),
  maxRows: maxLimit,
  audit: "person.resolved",
});
