import type { Person } from "../../contract/persons.ts";
import { DuplicateReason } from "../../contract/workflows/duplicate-persons.ts";
import { mergePersons } from "../persons.ts";
import { normalizeText } from "./search.ts";

/** The fields by which persons are compared. Fields that the caller may not read are absent. */
export type ComparedPerson = Pick<
  Person,
  "personId" | "primaryEmail" | "contactDetails" | "platformUserId" | "externalRefs" | "provenance"
>;

export interface DuplicateGroup {
  readonly reasons: readonly DuplicateReason[];
  /** Sorted. */
  readonly personIds: readonly string[];
}

/** Groups persons that share a key, in time that grows with the number of persons and not of pairs. */
export interface DuplicateFinder {
  add(person: ComparedPerson): void;
  /** Returns the groups of at least two persons: those with the strongest reason first, then the largest. */
  listGroups(): DuplicateGroup[];
}

export function createDuplicateFinder(): DuplicateFinder {
  const personIds: string[] = [];
  /** The person to which each is linked, or itself; a union-find forest. */
  const parents: number[] = [];
  const firstByKey = new Map<string, number>();
  const links: { readonly person: number; readonly reason: DuplicateReason }[] = [];

  function findRoot(person: number): number {
    let root = person;
    while (parents[root] !== root) root = parents[root] as number;
    for (let at = person; at !== root; ) {
      const next = parents[at] as number;
      parents[at] = root;
      at = next;
    }
    return root;
  }

  return {
    add(person) {
      const index = personIds.push(person.personId) - 1;
      parents.push(index);
      for (const [reason, key] of listDuplicateKeys(person)) {
        const first = firstByKey.get(key);
        if (first === undefined) firstByKey.set(key, index);
        else {
          parents[findRoot(index)] = findRoot(first);
          links.push({ person: index, reason });
        }
      }
    },
    listGroups() {
      const groups = new Map<number, { reasons: Set<DuplicateReason>; personIds: string[] }>();
      for (const { person, reason } of links) {
        const root = findRoot(person);
        const group = groups.get(root) ?? { reasons: new Set(), personIds: [] };
        group.reasons.add(reason);
        groups.set(root, group);
      }
      for (const [index, personId] of personIds.entries()) groups.get(findRoot(index))?.personIds.push(personId);
      return [...groups.values()]
        .map((group) => ({
          reasons: DuplicateReason.options.filter((reason) => group.reasons.has(reason)),
          personIds: group.personIds.sort(),
        }))
        .sort(compareGroups);
    },
  };
}

/** Lists the keys of a person. Two persons with a common key look like one. */
function listDuplicateKeys(person: ComparedPerson): [reason: DuplicateReason, key: string][] {
  const { primaryEmail, platformUserId, externalRefs, provenance, contactDetails = {} } = person;
  const { firstName = "", lastName = "", organization = "", phone = "" } = contactDetails;
  const names = splitWords(`${firstName} ${lastName}`).sort();
  const skeletons = names.map(reduceToSkeleton).sort();
  // A single name, or a name without consonants, belongs to too many people.
  const isTelling = names.length > 1 && skeletons.every((skeleton) => skeleton !== "");
  const organizationName = splitWords(organization).join(" ");
  const digits = phone.replace(/\D/g, "").replace(/^0+/, "");
  const keys: [DuplicateReason, readonly (string | undefined)[]][] = [
    ["same_platform_user", [platformUserId]],
    ["same_email", [primaryEmail && normalizeAddress(primaryEmail)]],
    ...externalRefs.map(({ namespace, objectType, externalId }): [DuplicateReason, (string | undefined)[]] => [
      "same_external_id",
      [namespace, objectType, externalId],
    ]),
    ["same_external_id", ["", provenance.source, provenance.sourceId]],
  ];
  if (isTelling) {
    keys.push(
      ["same_name_and_organization", [names.join(" "), organizationName || undefined]],
      ["similar_name_and_organization", [skeletons.join(" "), organizationName || undefined]],
      [
        "similar_name_and_phone",
        [
          skeletons.join(" "),
          digits.slice(-minPhoneDigits).length < minPhoneDigits ? undefined : digits.slice(-minPhoneDigits),
        ],
      ],
    );
  }
  return keys
    .filter(([, parts]) => !parts.includes(undefined))
    .map(([reason, parts]) => [reason, JSON.stringify([reason, ...parts])]);
}

/** The last digits of a number are the same with and without its country code. */
const minPhoneDigits = 8;

function splitWords(text: string): string[] {
  return normalizeText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns a name's letters without vowels, h and repeats: John and Jon, Müller and Mueller have the same. */
function reduceToSkeleton(name: string): string {
  return name.replace(/[aeiouyh]/g, "").replace(/(.)\1+/gu, "$1");
}

/** Returns an address in lower case without the part behind a plus sign, which most providers ignore. */
function normalizeAddress(address: string): string {
  return address
    .trim()
    .toLowerCase()
    .replace(/\+[^@]*(?=@[^@]*$)/, "");
}

const strength = (reason: DuplicateReason | undefined) => (reason ? DuplicateReason.options.indexOf(reason) : -1);

function compareGroups(a: DuplicateGroup, b: DuplicateGroup): number {
  return (
    strength(a.reasons[0]) - strength(b.reasons[0]) ||
    b.personIds.length - a.personIds.length ||
    ((a.personIds[0] ?? "") < (b.personIds[0] ?? "") ? -1 : 1)
  );
}

/** Sorts the persons of a group: the one that should survive a merge has most data, then is the oldest. */
export function listBySurvival(persons: readonly Person[]): Person[] {
  return persons.toSorted(
    (a, b) =>
      listValues(b).size + b.externalRefs.length - (listValues(a).size + a.externalRefs.length) ||
      (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.personId < b.personId ? -1 : 1),
  );
}

/** Returns the fields of which the persons have different values, sorted. */
export function listDifferences(persons: readonly Person[]): string[] {
  const values = persons.map(listValues);
  const fields = new Set(values.flatMap((own) => [...own.keys()]));
  return [...fields].filter((field) => new Set(values.map((own) => own.get(field))).size > 1).sort();
}

/** Returns the fields that a merge would add to the target, and those of the source that it would lose. */
export function compareMerge(source: Person, target: Person): { adds: string[]; loses: string[] } {
  const [own, before] = [listValues(source), listValues(target)];
  const after = listValues({ ...target, ...mergePersons(source, target, [], []).target } as Person);
  return {
    adds: [...after.keys()].filter((field) => !before.has(field)).sort(),
    loses: [...own]
      .filter(([field, value]) => after.get(field) !== value)
      .map(([field]) => field)
      .sort(),
  };
}

/** Returns a person's values by field, each as JSON. References and kinds are combined by a merge, so none is lost. */
function listValues({ primaryEmail, platformUserId, contactDetails, customFields, metadata }: Person) {
  const values = new Map<string, string>();
  const put = (field: string, value: unknown) => {
    if (value !== undefined && value !== null) values.set(field, JSON.stringify(value));
  };
  put("primaryEmail", primaryEmail);
  put("platformUserId", platformUserId);
  for (const [name, nested] of Object.entries({ contactDetails, customFields, metadata })) {
    for (const [key, value] of Object.entries(nested ?? {})) put(`${name}.${key}`, value);
  }
  return values;
}
