import type { AuditEntry } from "../../src/contract/audit.ts";
import type { Person } from "../../src/contract/persons.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import {
  listChangeErrors,
  listDateForms,
  listForbidden,
  listMissingFacts,
  listMissingRows,
} from "../harness/checks.ts";
import { findRound, listSubmissions } from "../harness/records.ts";
import type { Task } from "../harness/task.ts";

const findByWord: Task = {
  name: "find-by-word",
  kind: "reading",
  prompt:
    "Somebody rang about an application to the Common Ground Fund 2026 and remembers one word of its text: “{word}”. It is not in the title. Which applications could it be? All titles, and no others.",
  limits: { calls: 6, bytes: 150_000 },
  async prepare({ rest }) {
    return { names: { word: chooseWord(await listSubmissions(rest)) } };
  },
  async check({ world, names: { word = "" }, answer }) {
    const submissions = await listSubmissions(world.rest);
    const found = submissions.filter((submission) => listWords(submission).has(word));
    const others = submissions.filter((submission) => !found.includes(submission));
    const listTitles = (rows: readonly Submission[]) => rows.flatMap(({ title }) => title ?? []);
    return [
      ...listMissingFacts(answer, listTitles(found)),
      ...listForbidden(answer, listTitles(others)),
      ...(await listChangeErrors(world, {})),
    ];
  },
};

/** Returns the first long word by alphabet that the texts of two to four submissions have, but no longer word begins with. */
function chooseWord(submissions: readonly Submission[]): string {
  const counts = new Map<string, number>();
  for (const submission of submissions) {
    for (const word of listWords(submission)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const titles = submissions.map(({ title }) => String(title).toLowerCase()).join(" ");
  const isPrefix = (word: string) => [...counts.keys()].some((other) => other !== word && other.startsWith(word));
  const words = [...counts].filter(([word, count]) => count >= 2 && count <= 4 && word.length >= 7);
  const [chosen] = words
    .map(([word]) => word)
    .filter((word) => !titles.includes(word) && !isPrefix(word))
    .toSorted();
  if (chosen === undefined) throw new Error("The demonstration data have no word that a few applications share");
  return chosen;
}

/** Returns the words of a submission's answers in lower case. */
function listWords({ fields }: Submission): ReadonlySet<string> {
  const texts = Object.values(fields)
    .flat()
    .filter((value) => typeof value === "string");
  return new Set(
    texts
      .join(" ")
      .toLowerCase()
      .match(/\p{L}+/gu),
  );
}

const duplicatePersons: Task = {
  name: "duplicate-persons",
  kind: "reading",
  prompt:
    "Before we write to everybody: which people are in our records more than once with the same e-mail address, however it is spelled? One line for each: name, organisation, number of records. Change nothing.",
  limits: { calls: 4, bytes: 80_000 },
  async check({ world, answer }) {
    const persons = (await world.rest.list<Person>("/persons")).filter(
      ({ active, primaryEmail }) => active && primaryEmail,
    );
    const groups = Map.groupBy(persons, ({ primaryEmail }) => String(primaryEmail).toLowerCase());
    const rows = [...groups.values()]
      .filter(({ length }) => length > 1)
      .map((group) => {
        const { firstName, lastName, organization = "" } = group[0]?.contactDetails ?? {};
        return [`${firstName} ${lastName}`, organization, group.length];
      });
    if (rows.length === 0) throw new Error("The demonstration data have no duplicate person");
    return [...listMissingRows(answer, rows), ...(await listChangeErrors(world, {}))];
  },
};

const roundHistory: Task = {
  name: "round-history",
  kind: "reading",
  prompt:
    "The dates of the panel review of Community projects (Common Ground Fund 2026) are not those that we had agreed on Monday, 16 November. What has been changed since, from which day to which, and who did it (the id will do)?",
  limits: { calls: 8, bytes: 20_000 },
  async prepare({ rest }) {
    const { programId, trackId, roundId } = await findRound(rest, "Community projects", "Panel review");
    const path = `/programs/${programId}/tracks/${trackId}/rounds/${roundId}`;
    for (const dates of [{ deadline: "2027-01-09T22:00:00.000Z" }, { endDate: "2027-01-19T22:00:00.000Z" }]) {
      const { version } = await findRound(rest, "Community projects", "Panel review");
      await rest.send("PATCH", path, { version, ...dates });
    }
    return { subjects: [roundId] };
  },
  async check({ world, subjects: [roundId], answer }) {
    const entries = await world.rest.list<AuditEntry>("/audit?action=round.updated");
    const changes = entries
      .filter(({ entityId, occurredAt }) => entityId === roundId && occurredAt >= "2026-11-16")
      .flatMap(({ actorId, changes }) => changes.map((change) => ({ actorId, ...change })))
      .filter(({ path }) => path === "deadline" || path === "endDate");
    const days = changes.flatMap(({ from, to }) => [listDateForms(String(from)), listDateForms(String(to))]);
    const actors = changes.map(({ actorId }) => [actorId, "Programme desk"]);
    return [...listMissingFacts(answer, [...days, ...actors]), ...(await listChangeErrors(world, {}))];
  },
};

export const lookupTasks: readonly Task[] = [findByWord, duplicatePersons, roundHistory];
