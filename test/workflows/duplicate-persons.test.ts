import { expect, test } from "vitest";
import type { Person } from "../../src/contract/persons.ts";
import { readData } from "../support/clients/clients.ts";
import { hasAddress } from "./addresses.ts";
import { openWorkflowFixture, type WorkflowFixture } from "./workflow-fixture.ts";

const details = (firstName: string, lastName: string, organization?: string, phone?: string) => ({
  firstName,
  lastName,
  ...(organization ? { organization } : {}),
  ...(phone ? { phone } : {}),
});

async function seedPersons({ seed }: WorkflowFixture["server"]) {
  const given: Partial<Person>[] = [
    { primaryEmail: "Ada.Marsh+calls@Example.org", contactDetails: details("Ada", "Marsh", "Roof Institute") },
    { primaryEmail: "ada.marsh@example.org", contactDetails: details("A.", "Marsh", "Elsewhere", "+44 20 7946 0018") },
    { primaryEmail: "other@example.org", contactDetails: details("Marsh", "ada", "roof institute!") },
    { contactDetails: details("John", "Müller", "Lab") },
    { contactDetails: details("Jon", "Mueller", "LAB") },
    { contactDetails: details("John", "Müller", "Another Lab") },
    { contactDetails: details("Mary", "Emet", undefined, "020 7946 0099") },
    { contactDetails: details("Mari", "Emet", undefined, "+44 (20) 7946-0099") },
    { contactDetails: details("Ben", "Emet", undefined, "+44 20 7946 0099") },
    { provenance: { source: "crm", sourceId: "77" }, contactDetails: details("X", "One") },
    { provenance: { source: "crm", sourceId: "77" }, contactDetails: details("Y", "Two") },
    { provenance: { source: "crm", sourceId: "78" }, contactDetails: details("Y", "Three") },
    { platformUserId: "u1", contactDetails: details("Zed", "Stone") },
    { platformUserId: "u1", active: false, contactDetails: details("Zed", "Stone") },
  ];
  const persons: Person[] = [];
  for (const [index, each] of given.entries()) {
    persons.push(await seed.person({ primaryEmail: `person${index}@example.org`, ...each }));
  }
  return persons;
}

/** Compares every person with every other. */
function groupByHand(persons: readonly Person[]): string[][] {
  const fold = (text = "") =>
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} ]/gu, "");
  const tokens = ({ contactDetails: { firstName, lastName } = {} }: Person) =>
    `${fold(firstName)} ${fold(lastName)}`.split(" ").filter((token) => token !== "");
  const bare = (token: string) =>
    [...token.replace(/[aeiouyh]/g, "")].filter((c, at, all) => c !== all[at - 1]).join("");
  const areOne = (a: Person, b: Person) => {
    const same = <V>(pick: (person: Person) => V) => pick(a) !== undefined && pick(a) === pick(b);
    if (same((each) => each.platformUserId)) return true;
    if (same((each) => each.primaryEmail?.toLowerCase().replace(/\+.*@/, "@"))) return true;
    if (same((each) => each.provenance.sourceId && `${each.provenance.source} ${each.provenance.sourceId}`))
      return true;
    const isNamed = [a, b].every(
      (each) => tokens(each).length > 1 && tokens(each).every((token) => bare(token) !== ""),
    );
    if (!isNamed || !same((each) => tokens(each).map(bare).sort().join(" "))) return false;
    return (
      same((each) => fold(each.contactDetails?.organization) || undefined) ||
      same((each) => each.contactDetails?.phone?.replace(/\D/g, "").slice(-8))
    );
  };
  const active = persons.filter((person) => person.active);
  const groups: Person[][] = [];
  for (const person of active) {
    const joined = groups.filter((group) => group.some((other) => areOne(person, other)));
    for (const group of joined) groups.splice(groups.indexOf(group), 1);
    groups.push([person, ...joined.flat()]);
  }
  return groups
    .filter((group) => group.length > 1)
    .map((group) => group.map(({ personId }) => personId).toSorted())
    .toSorted();
}

test("groups are those of a comparison of every person with every other, embedded and remote", async () => {
  const fixture = await openWorkflowFixture();
  const persons = await seedPersons(fixture.server);
  const { groups } = await fixture.ask("find_duplicate_persons", { limit: 500 });
  const ids = groups.map((group: { persons: Person[] }) => group.persons.map(({ personId }) => personId).toSorted());
  expect(ids.toSorted()).toEqual(groupByHand(await fixture.list("list_persons")));
  expect(ids).toHaveLength(4);
  expect(groups.map(({ reasons }: { reasons: string[] }) => reasons)).toEqual([
    ["same_external_id"],
    ["same_email", "same_name_and_organization", "similar_name_and_organization"],
    ["similar_name_and_phone"],
    ["similar_name_and_organization"],
  ]);
  expect(groups[1].persons[0].personId).toBe(persons[1]?.personId);
});

test("what a merge is said to add and to lose is what merge_person does", async () => {
  const fixture = await openWorkflowFixture();
  await seedPersons(fixture.server);
  const { groups } = await fixture.ask("find_duplicate_persons", {});
  const rest = await fixture.server.as("REST");
  for (const { persons, merges } of groups) {
    if (persons.length > 2) continue;
    const [target, source] = persons;
    const before = (await rest.call("get_person", { personId: target.personId })).data;
    const lost = (await rest.call("get_person", { personId: source.personId })).data;
    const merged = await rest.call("merge_person", {
      personId: source.personId,
      targetPersonId: target.personId,
      sourceVersion: source.version,
      targetVersion: target.version,
    });
    for (const key of ["firstName", "lastName", "organization", "phone"]) {
      const [own, other, after] = [before, lost, merged.data].map((person) => person.contactDetails[key]);
      const [merge] = merges;
      expect(merge.adds.includes(`contactDetails.${key}`), key).toBe(own === undefined && after !== undefined);
      expect(merge.loses.includes(`contactDetails.${key}`), key).toBe(other !== undefined && other !== after);
    }
  }
});

test("a merge that would exceed the limits of a person is said to be refused, and the others are still shown", async () => {
  const fixture = await openWorkflowFixture();
  await seedPersons(fixture.server);
  const refs = (from: number) =>
    Array.from({ length: 300 }, (_, index) => ({
      namespace: "crm",
      objectType: "contact",
      externalId: String(from + index),
    }));
  const name = details("Olga", "Brandt", "Archive");
  const [target, source] = [
    await fixture.server.seed.person({ contactDetails: name, externalRefs: refs(0) }),
    await fixture.server.seed.person({ contactDetails: name, externalRefs: refs(300) }),
  ];
  const { groups } = await fixture.ask("find_duplicate_persons", { limit: 500 });
  expect(groups).toHaveLength(5);
  const merges = groups.flatMap((group: { merges: { refused?: string }[] }) => group.merges);
  const refused = merges.filter((merge: { refused?: string }) => merge.refused !== undefined);
  const sourcePersonId = expect.stringMatching(new RegExp(`^(${target?.personId}|${source?.personId})$`));
  expect(refused).toEqual([{ sourcePersonId, adds: [], loses: [], refused: expect.any(String) }]);
  const rest = await fixture.server.as("REST");
  const merge = rest.call("merge_person", {
    personId: source?.personId,
    targetPersonId: target?.personId,
    sourceVersion: 0,
    targetVersion: 0,
  });
  const issues = [expect.objectContaining({ message: refused[0].refused })];
  await expect(merge).rejects.toMatchProblem("validation_failed", { issues });
});

test("fewer groups than there are say how many there are", async () => {
  const fixture = await openWorkflowFixture();
  await seedPersons(fixture.server);
  const { groups, truncated } = await fixture.ask("find_duplicate_persons", { limit: 1 });
  expect(groups).toHaveLength(1);
  expect(truncated).toEqual([{ list: "groups", shown: 1, of: 4 }]);
});

test.each(["pseudonymize", "redact"])("with %s, duplicates show no address or number", async (privacy) => {
  const fixture = await openWorkflowFixture({ PROGRAMME_PRIVACY: privacy });
  await seedPersons(fixture.server);
  for (const agent of Object.values(fixture.agents)) {
    const result = await agent.call("find_duplicate_persons", {});
    const text = JSON.stringify(result);
    expect(hasAddress(text)).toBe(false);
    expect(text).not.toContain("7946");
    const { groups } = readData(result);
    expect(groups.length).toBe(privacy === "redact" ? 0 : 4);
  }
});

test("a token without the scope of persons finds no duplicates", async () => {
  const { agents } = await openWorkflowFixture({}, ["programs:read"]);
  const result = await agents.embedded.call("find_duplicate_persons", {});
  expect(JSON.parse(result.content[0]?.text ?? "{}").error.code).toBe("insufficient_scope");
});
