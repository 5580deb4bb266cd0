import { Email } from "../contract/definition/fields.ts";
import { validationProblem } from "../contract/errors.ts";
import type { Person } from "../contract/persons.ts";
import type { SearchKind, SearchResults } from "../contract/workflows/search.ts";
import { createRanking, type Ranking } from "../domain/workflows/ranking.ts";
import { createMatcher, listTexts, parseSearch, type SearchText } from "../domain/workflows/search.ts";
import type { RecordSource, WorkflowRunner } from "../upstream/port.ts";
import { compareText } from "./collections.ts";

type SearchResult = SearchResults["results"][number];
type Found = SearchResult & { readonly score: number; readonly createdAt: string };
type SearchInput = Parameters<WorkflowRunner<"search_records">>[1];

interface SearchedRecord extends Pick<Found, "kind" | "id" | "label" | "state" | "programId" | "createdAt"> {
  readonly texts: readonly SearchText[];
  readonly address?: { readonly field: string; readonly value: string | undefined };
}

/** Reads records of one kind, and offers each to the matcher. */
type Scan = (source: RecordSource, input: SearchInput, offer: (record: SearchedRecord) => void) => Promise<void>;

const labelWeight = 4;
const nameWeight = 3;

export const search_records: WorkflowRunner<"search_records"> = async (source, input) => {
  const { kinds = Object.keys(scans) as SearchKind[], limit } = input;
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
  for (const kind of kinds) {
    await source.ifPermitted(kindNames[kind], () => scans[kind](source, input, offer));
  }
  const found = source.truncate("results", ranking.list(), limit, ranking.count);
  return { results: found.map(({ score: _, createdAt: __, ...result }) => result) };
};

const kindNames: Readonly<Record<SearchKind, string>> = {
  program: "programmes",
  submission: "submissions",
  person: "persons",
  reviewer: "reviewers",
};

const scans: Readonly<Record<SearchKind, Scan>> = {
  async program(source, { programId }, offer) {
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

  async submission(source, { programId }, offer) {
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
    for await (const rows of source.list("list_submissions", { programId }, fields)) {
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

  async person(source, { words, programId }, offer) {
    if (programId !== undefined) return;
    const fields = ["personId", "contactDetails", "active", "mergedIntoPersonId", "createdAt"] as const;
    const [email, ...others] = parseSearch(words).addresses;
    if (others.length > 0 || (email !== undefined && !Email.safeParse(email).success)) return;
    // Callers who may not see addresses may still find a person by one.
    const batches =
      email === undefined ? source.list("list_persons", {}, fields) : source.list("resolve_persons", { email }, fields);
    for await (const rows of batches) {
      for (const row of rows) offer(toSearchedPerson(row, email));
    }
  },

  async reviewer(source, { programId }, offer) {
    const fields = ["reviewerId", "firstName", "lastName", "affiliation", "email", "status", "createdAt"] as const;
    for await (const rows of source.list("list_reviewers", { programId }, fields)) {
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
