import { type Issue, Problem } from "../../contract/errors.ts";
import type { Person } from "../../contract/persons.ts";
import { DuplicateReason } from "../../contract/workflows/duplicate-persons.ts";
import { KeyTable } from "../../lib/collections/key-table.ts";
import { listWords } from "../../lib/search-words.ts";
import { mergePersons } from "../persons.ts";

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

/**
 * Groups persons that share a key, in time that grows with the number of persons and not of pairs. It holds about 250
 * bytes a person.
 */
export interface DuplicateFinder {
  add(person: ComparedPerson): void;
  /** Returns the groups of at least two persons: those with the strongest reason first, then the largest. */
  listGroups(): DuplicateGroup[];
}

export function createDuplicateFinder(): DuplicateFinder {
  const personIds: string[] = [];
  /** The person to which each is linked, or itself; a union-find forest. */
  const parents: number[] = [];
  /** The reasons of the group of each root, as bits. */
  const reasonBits: number[] = [];
  const firstByKey = new KeyTable();

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

  function link(person: number, other: number, reason: DuplicateReason): void {
    const [root, joined] = [findRoot(other), findRoot(person)];
    parents[joined] = root;
    reasonBits[root] = (reasonBits[root] ?? 0) | (reasonBits[joined] ?? 0) | (1 << getStrength(reason));
  }

  return {
    add(person) {
      const index = personIds.push(person.personId) - 1;
      parents.push(index);
      reasonBits.push(0);
      for (const [reason, key] of listDuplicateKeys(person)) {
        const first = firstByKey.getOrSet(key, index);
        if (first !== index) link(index, first, reason);
      }
    },
    listGroups() {
      const groups = new Map<number, string[]>();
      for (const [index, personId] of personIds.entries()) {
        const root = findRoot(index);
        if (reasonBits[root] === 0) continue;
        const group = groups.get(root);
        if (group) group.push(personId);
        else groups.set(root, [personId]);
      }
      return [...groups]
        .map(([root, ids]) => ({
          reasons: DuplicateReason.options.filter((_, bit) => (reasonBits[root] ?? 0) & (1 << bit)),
          personIds: ids.sort(),
        }))
        .sort(compareGroups);
    },
  };
}

type DuplicateKey = readonly [reason: DuplicateReason, key: string];

/** Lists the keys of a person. Two persons with a common key look like one. */
function listDuplicateKeys(person: ComparedPerson): DuplicateKey[] {
  const { primaryEmail, platformUserId, externalRefs, provenance, contactDetails = {} } = person;
  const keys: DuplicateKey[] = [];
  // Texts of records contain no NUL, so it separates the parts of a key.
  const add = (reason: DuplicateReason, ...parts: (string | undefined)[]) => {
    if (parts.every((part) => part)) keys.push([reason, `${reason}\0${parts.join("\0")}`]);
  };
  add("same_platform_user", platformUserId);
  add("same_email", primaryEmail && normalizeAddress(primaryEmail));
  for (const { namespace, objectType, externalId } of externalRefs) {
    add("same_external_id", "reference", namespace, objectType, externalId);
  }
  add("same_external_id", "source", provenance.source, provenance.sourceId);
  const { firstName = "", lastName = "", organization = "", phone = "" } = contactDetails;
  const names = listWords(`${firstName} ${lastName}`).sort();
  const skeletons = names.map(reduceToSkeleton).sort();
  // A single name, or a name without consonants, belongs to too many people.
  if (names.length < 2 || skeletons.includes("")) return keys;
  const organizationName = listWords(organization).join(" ");
  const digits = phone.replace(/\D/g, "").replace(/^0+/, "").slice(-minPhoneDigits);
  add("same_name_and_organization", names.join(" "), organizationName);
  add("similar_name_and_organization", skeletons.join(" "), organizationName);
  if (digits.length === minPhoneDigits) add("similar_name_and_phone", skeletons.join(" "), digits);
  return keys;
}

/** The last digits of a number are the same with and without its country code. */
const minPhoneDigits = 8;

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

function getStrength(reason: DuplicateReason | undefined): number {
  return reason ? DuplicateReason.options.indexOf(reason) : -1;
}

function compareGroups(a: DuplicateGroup, b: DuplicateGroup): number {
  return (
    getStrength(a.reasons[0]) - getStrength(b.reasons[0]) ||
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

interface MergeEffect {
  readonly adds: string[];
  readonly loses: string[];
  readonly refused?: string;
}

/** Returns the fields that a merge would add to the target, and those of the source that it would lose. */
export function compareMerge(source: Person, target: Person): MergeEffect {
  const merged = catchRefusal(() => mergePersons(source, target, [], []).target);
  if (merged instanceof Problem) return { adds: [], loses: [], refused: describeIssues(merged) };
  const [own, before] = [listValues(source), listValues(target)];
  const after = listValues({ ...target, ...merged } as Person);
  return {
    adds: [...after.keys()].filter((field) => !before.has(field)).sort(),
    loses: [...own]
      .filter(([field, value]) => after.get(field) !== value)
      .map(([field]) => field)
      .sort(),
  };
}

function catchRefusal<R>(work: () => R): R | Problem {
  try {
    return work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function describeIssues({ details, message }: Problem): string {
  const issues = (details?.["issues"] ?? []) as readonly Issue[];
  return issues.map((issue) => issue.message).join("; ") || message;
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
