import type { Person } from "../contract/persons.ts";
import type { DuplicatePersons } from "../contract/workflows/duplicate-persons.ts";
import { isActive } from "../domain/persons.ts";
import {
  compareMerge,
  createDuplicateFinder,
  type DuplicateGroup,
  listBySurvival,
  listDifferences,
} from "../domain/workflows/duplicate-persons.ts";
import type { RecordSource, WorkflowRunner } from "../upstream/port.ts";

/** Most persons of a group that are compared in the answer. */
const maxComparedPersons = 10;

export const find_duplicate_persons: WorkflowRunner<"find_duplicate_persons"> = async (source, { limit }) => {
  const finder = createDuplicateFinder();
  const fields = [
    "personId",
    "primaryEmail",
    "contactDetails",
    "platformUserId",
    "externalRefs",
    "provenance",
    "active",
    "anonymizedAt",
  ] as const;
  for await (const persons of source.list("list_persons", {}, fields)) {
    for (const person of persons) if (isActive(person)) finder.add(person);
  }
  const groups: DuplicatePersons["groups"] = [];
  for (const group of source.truncate("groups", finder.listGroups(), limit)) {
    groups.push(await compareGroup(source, group));
  }
  return { groups };
};

async function compareGroup(
  source: RecordSource,
  { reasons, personIds }: DuplicateGroup,
): Promise<DuplicatePersons["groups"][number]> {
  const persons: Person[] = [];
  for (const personId of personIds.slice(0, maxComparedPersons)) {
    persons.push(await source.get("get_person", { personId }));
  }
  const [target, ...sources] = listBySurvival(persons);
  return {
    reasons: [...reasons],
    personCount: personIds.length,
    persons: (target ? [target, ...sources] : []).map(toListedPerson),
    differences: listDifferences(persons),
    merges: target
      ? sources.map((person) => ({ sourcePersonId: person.personId, ...compareMerge(person, target) }))
      : [],
  };
}

function toListedPerson({ personId, version, primaryEmail, contactDetails, kinds, createdAt }: Person) {
  const { firstName, lastName, organization = null } = contactDetails ?? {};
  const name = [firstName, lastName].filter((part) => part).join(" ") || null;
  return { personId, version, name, organization, email: primaryEmail ?? null, kinds, createdAt };
}
