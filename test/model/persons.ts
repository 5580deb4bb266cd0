import { repointApplicants } from "./dated-lists/applicants.ts";
import {
  audit,
  type Expected,
  type Handler,
  type ModelPerson,
  type ModelRef,
  type ModelTenant,
  ok,
  okWhole,
  Refusal,
} from "./tenant.ts";

/** The part of the reference model that changes persons, and shows their schema (specification 2.5, 2.6, 4.9). */
export const personHandlers = {
  get_person_schema: ({ fixed }) => okWhole(fixed.personSchema),
  get_person(tenant, { personId }, _answered, { mayReadSensitive }) {
    const { fixed } = tenant;
    if (personId === fixed.personId)
      return ok({ personId, customFields: mayReadSensitive ? fixed.allFields : fixed.openFields });
    return ok(showPerson(findPerson(tenant, personId), mayReadSensitive));
  },
  resolve_persons(tenant, { externalId, email }, _answered, { mayReadSensitive }) {
    const holders = tenant.persons.filter(({ active, externalRefs, primaryEmail }) => {
      if (email !== undefined) return active && primaryEmail?.toLowerCase() === email;
      return active && holdsRef(externalRefs, externalId);
    });
    // Of persons that were created at once, the one whose creation began first is not always committed first.
    const getOrder = ({ createdAt, personId }: ModelPerson) => `${createdAt} ${personId}`;
    const ordered = holders.toSorted((a, b) => (getOrder(a) < getOrder(b) ? -1 : 1));
    return ok(ordered.map((person) => showPerson(person, mayReadSensitive)));
  },
  create_person(tenant, { kinds, contactDetails, primaryEmail, externalRefs = [] }, answered, { mayReadSensitive }) {
    for (const ref of externalRefs) requireFreeRef(tenant, ref);
    const person: ModelPerson = {
      personId: String(answered["personId"]),
      primaryEmail,
      lastName: contactDetails.lastName,
      kinds: [...kinds],
      externalRefs,
      active: true,
      mergedIntoPersonId: null,
      version: 0,
      createdAt: String(answered["createdAt"]),
    };
    tenant.persons.push(person);
    audit(tenant, person.personId, "person.created");
    return { status: 201, data: showPerson(person, mayReadSensitive) };
  },
  update_person(tenant, { personId, version, kinds, contactDetails }, _answered, { mayReadSensitive }) {
    const person = loadForChange(tenant, personId, version);
    const { lastName } = contactDetails ?? person;
    const isChanged = lastName !== person.lastName || (kinds && String(kinds) !== String(person.kinds));
    Object.assign(person, { lastName, kinds: kinds ?? person.kinds });
    return finish(tenant, person, isChanged ? "person.updated" : undefined, mayReadSensitive);
  },
  add_person_external_ref(tenant, { personId, version, externalRef }, _answered, { mayReadSensitive }) {
    const person = loadForChange(tenant, personId, version);
    const isHeld = holdsRef(person.externalRefs, externalRef.externalId);
    if (!isHeld) {
      requireFreeRef(tenant, externalRef);
      person.externalRefs.push(externalRef);
    }
    return finish(tenant, person, isHeld ? undefined : "person.external_ref_added", mayReadSensitive);
  },
  remove_person_external_ref(tenant, { personId, version, externalId }, _answered, { mayReadSensitive }) {
    const person = loadForChange(tenant, personId, version);
    if (!holdsRef(person.externalRefs, externalId)) throw new Refusal(404, "not_found");
    person.externalRefs = person.externalRefs.filter((ref) => ref.externalId !== externalId);
    return finish(tenant, person, "person.external_ref_removed", mayReadSensitive);
  },
  merge_person(tenant, { personId, targetPersonId, sourceVersion, targetVersion }, _answered, { mayReadSensitive }) {
    if (personId === targetPersonId) throw new Refusal(400, "validation_failed");
    const [source, target] = [requireUnmerged(tenant, personId), requireUnmerged(tenant, targetPersonId)];
    if (source.version !== sourceVersion || target.version !== targetVersion)
      throw new Refusal(409, "version_conflict");
    const kinds = [...new Set([...target.kinds, ...source.kinds])];
    const primaryEmail = target.primaryEmail ?? source.primaryEmail;
    const isChanged =
      kinds.length > target.kinds.length || source.externalRefs.length > 0 || primaryEmail !== target.primaryEmail;
    Object.assign(target, { kinds, primaryEmail, externalRefs: [...target.externalRefs, ...source.externalRefs] });
    Object.assign(source, { active: false, mergedIntoPersonId: targetPersonId, externalRefs: [] });
    finish(tenant, source, "person.merged", false);
    for (const earlier of tenant.persons.filter((each) => each.mergedIntoPersonId === personId)) {
      earlier.mergedIntoPersonId = targetPersonId;
      finish(tenant, earlier, "person.merged", false);
    }
    repointApplicants(tenant, personId, targetPersonId);
    return finish(tenant, target, isChanged ? "person.merged" : undefined, mayReadSensitive);
  },
} as const satisfies Record<string, Handler>;

function findPerson({ persons }: ModelTenant, personId: string): ModelPerson {
  const person = persons.find((each) => each.personId === personId);
  if (!person) throw new Refusal(404, "not_found");
  return person;
}

function requireUnmerged(tenant: ModelTenant, personId: string): ModelPerson {
  const person = findPerson(tenant, personId);
  if (person.mergedIntoPersonId !== null) throw new Refusal(409, "person_merged");
  return person;
}

function loadForChange(tenant: ModelTenant, personId: string, version: number): ModelPerson {
  const person = requireUnmerged(tenant, personId);
  if (person.version !== version) throw new Refusal(409, "version_conflict");
  return person;
}

const holdsRef = (refs: readonly ModelRef[], externalId: string) => refs.some((ref) => ref.externalId === externalId);

function requireFreeRef({ persons }: ModelTenant, { externalId }: ModelRef): void {
  if (persons.some(({ externalRefs }) => holdsRef(externalRefs, externalId)))
    throw new Refusal(409, "duplicate_external_ref");
}

/** Counts a change of a person, if there is one, and shows the person. */
function finish(
  tenant: ModelTenant,
  person: ModelPerson,
  action: string | undefined,
  mayReadSensitive: boolean,
): Expected {
  if (action !== undefined) {
    person.version += 1;
    audit(tenant, person.personId, action);
  }
  return ok(showPerson(person, mayReadSensitive));
}

/** Shows a person as a caller with or without the scope of sensitive data sees it. */
export function showPerson(
  { lastName, primaryEmail, externalRefs, ...person }: ModelPerson,
  mayReadSensitive: boolean,
) {
  return {
    ...person,
    primaryEmail: mayReadSensitive ? primaryEmail : undefined,
    contactDetails: mayReadSensitive ? { lastName } : undefined,
    externalRefs: externalRefs.map(({ externalId, ...ref }) => ({
      ...ref,
      externalId: mayReadSensitive ? externalId : undefined,
    })),
  };
}
