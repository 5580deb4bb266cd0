import { sensitiveScope } from "../contract/access/scopes.ts";
import { Email } from "../contract/definition/fields.ts";
import { validationProblem } from "../contract/errors.ts";
import type { Person } from "../contract/persons.ts";
import type { SearchKind, SearchResults } from "../contract/workflows/search.ts";
import { createRanking, type Ranking } from "../domain/workflows/ranking.ts";
import { createMatcher, parseSearch, type SearchQuery, type SearchText } from "../domain/workflows/search.ts";
import { listTexts } from "../lib/search-words.ts";
import type { Candidates, RecordSource, SearchedList, WorkflowRunner } from "../upstream/port.ts";
import { compareText } from "./collections.ts";

type SearchResult = SearchResults["results"][number];
type Found = SearchResult & { readonly score: number; readonly createdAt: string };

interface SearchedRecord extends Pick<Found, "kind" | "id" | "label" | "state" | "programId" | "createdAt"> {
  readonly texts: readonly SearchText[];
  readonly address?: { readonly field: string; readonly value: string | undefined };
}

/** The words and kinds of a search. */
interface Search {
  readonly source: RecordSource;
  readonly query: SearchQuery;
  readonly programId: string | undefined;
  /** Compares a record with the query. */
  readonly offer: (record: SearchedRecord) => void;
  /** Finds the records to compare, by the index if there is one. */
  readonly findCandidates: (list: SearchedList) => Promise<Candidates | undefined>;
}

/** Reads records of one kind, and offers each to the matcher. */
type Scan = (search: Search) => Promise<void>;

const labelWeight = 4;
const nameWeight = 3;

export const search_records: WorkflowRunner<"search_records"> = async (source, input) => {
  const { kinds = Object.keys(scans) as SearchKind[], limit, programId } = input;
  const query = parseSearch(input.words);
  if (query.words.length + query.addresses.length === 0) {
    throw validationProblem({ path: "words", code: "invalid_value", message: "Expected a word or an e-mail address" });
  }
  const match = createMatcher(query);
  const ranking: Ranking<Found> = createRanking(limit, compareFound);
  const offer = ({ texts, address, ...record }: SearchedRecord) => {
    const found = match(texts, address);
    if (found) ranking.add({ ...record, ...found, matched: [...found.matched] });
  };
  const unindexed: SearchKind[] = [];
  for (const kind of kinds) {
    const findCandidates = async (list: SearchedList) => {
      const candidates = await source.findCandidates?.(list, { ...query, programId });
      if (source.findCandidates && !candidates) unindexed.push(kind);
      return candidates;
    };
    const search = { source, query, programId, offer, findCandidates };
    await source.ifPermitted(kindNames[kind], () => scans[kind](search));
  }
  const found = source.truncate("results", ranking.list(), limit, ranking.count);
  const results = found.map(({ score: _, createdAt: __, ...result }) => result);
  return { results, ...(unindexed.length > 0 ? { unindexed } : {}) };
};

const kindNames: Readonly<Record<SearchKind, string>> = {
  program: "programmes",
  submission: "submissions",
  person: "persons",
  reviewer: "reviewers",
};

const scans: Readonly<Record<SearchKind, Scan>> = {
  async program({ source, programId, offer }) {
    const fields = ["programId", "name", "description", "lifecycleStatus", "createdAt"] as const;
    for await (const rows of source.list("list_programs", {}, fields)) {
      for (const row of rows) {
        if (programId !== undefined && row.programId !== programId) continue;
        const { name, description, lifecycleStatus: state, createdAt } = row;
        const texts = [
          { field: "name", text: name, weight: labelWeight },
          { field: "description", text: description ?? "", weight: 1, isLong: true },
        ];
        offer({ kind: "program", id: row.programId, label: name, state, programId: row.programId, createdAt, texts });
      }
    }
  },

  async submission({ source, programId, offer, findCandidates }) {
    const fields = [
      "submissionId",
      "programId",
      "title",
      "state",
      "fields",
      "innovatorName",
      "innovatorEmail",
      "createdAt",
    ] as const;
    const candidates = await findCandidates("list_submissions");
    for await (const rows of source.list("list_submissions", { programId }, fields, candidates)) {
      for (const row of rows) {
        const { submissionId, title, state, innovatorName, innovatorEmail, createdAt } = row;
        const texts = [
          { field: "title", text: title ?? "", weight: labelWeight },
          { field: "innovatorName", text: innovatorName, weight: nameWeight },
          ...Object.entries(row.fields).flatMap(([fieldId, answer]) =>
            listTexts(answer).map((text) => ({ field: `fields.${fieldId}`, text, weight: 1, isLong: true })),
          ),
        ];
        const address = { field: "innovatorEmail", value: innovatorEmail };
        const home = { programId: row.programId, createdAt };
        offer({ kind: "submission", id: submissionId, label: title, state, ...home, texts, address });
      }
    }
  },

  async person({ source, query, programId, offer, findCandidates }) {
    if (programId !== undefined) return;
    const [email, ...others] = query.addresses;
    if (others.length > 0 || (email !== undefined && !Email.safeParse(email).success)) return;
    const fields = ["personId", "contactDetails", "active", "mergedIntoPersonId", "createdAt"] as const;
    source.requireScope("persons:read");
    const read = async (batches: AsyncIterable<readonly Pick<Person, (typeof fields)[number]>[]>) => {
      for await (const rows of batches) for (const row of rows) offer(toSearchedPerson(row, email));
    };
    if (query.words.length === 0) {
      // Callers who may not see addresses may still find a person by one.
      await read(source.list("resolve_persons", { email }, fields));
      return;
    }
    await source.ifPermitted("names of persons", async () => {
      source.requireScope(sensitiveScope);
      if (email !== undefined) await read(source.list("resolve_persons", { email }, fields));
      else await read(source.list("list_persons", {}, fields, await findCandidates("list_persons")));
    });
  },

  async reviewer({ source, programId, offer, findCandidates }) {
    const fields = ["reviewerId", "firstName", "lastName", "affiliation", "email", "status", "createdAt"] as const;
    const candidates = await findCandidates("list_reviewers");
    for await (const rows of source.list("list_reviewers", { programId }, fields, candidates)) {
      for (const { reviewerId, firstName, lastName, affiliation, email, status: state, createdAt } of rows) {
        const label = joinName(firstName, lastName);
        const texts = [
          { field: "name", text: label ?? "", weight: labelWeight },
          { field: "affiliation", text: affiliation ?? "", weight: nameWeight },
        ];
        const address = { field: "email", value: email };
        offer({ kind: "reviewer", id: reviewerId, label, state, programId: null, createdAt, texts, address });
      }
    }
  },
};

function toSearchedPerson(
  {
    personId,
    contactDetails,
    active,
    mergedIntoPersonId,
    createdAt,
  }: Pick<Person, "personId" | "contactDetails" | "active" | "mergedIntoPersonId" | "createdAt">,
  email: string | undefined,
): SearchedRecord {
  const { firstName, lastName, organization = "" } = contactDetails ?? {};
  const label = joinName(firstName, lastName);
  const state = mergedIntoPersonId === null ? (active ? "active" : "inactive") : "merged";
  const texts = [
    { field: "name", text: label ?? "", weight: labelWeight },
    { field: "contactDetails.organization", text: organization, weight: nameWeight },
  ];
  const address = { field: "primaryEmail", value: email };
  return { kind: "person", id: personId, label, state, programId: null, createdAt, texts, address };
}

function joinName(...parts: readonly (string | null | undefined)[]): string | null {
  return parts.filter((part) => part).join(" ") || null;
}

const kindOrder = Object.keys(kindNames);

function compareFound(a: Found, b: Found): number {
  return (
    b.score - a.score ||
    kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind) ||
    compareText(b.createdAt, a.createdAt) ||
    compareText(a.id, b.id)
  );
}
