import { hashSha256Hex } from "../../lib/crypto/crypto.ts";
import { listTexts, listWords, removeContacts } from "../../lib/search-words.ts";
import { normalizeEmail, type Row } from "../tables.ts";
import type { SearchedTable, TextSearch } from "./candidates.ts";
import type { QueryTerm } from "./full-text-index.ts";

/** Longer words are cut, in the index and in a search. */
const maxWordChars = 32;
/** Most words of a search that the index compares: the longest, which the fewest records have. */
const maxQueryWords = 8;
/** Most text of one record in the index. PostgreSQL allows 1 MiB. */
const maxIndexedBytes = 256 * 1024;

/** The kinds of terms, by the letter with which they begin after the tenant. */
const letters = { word: "w", personalWord: "p", address: "a", program: "g", id: "i" } as const;

/**
 * Returns what every term of a tenant begins with. Terms consist of letters and digits, so a database need not split
 * them. Another tenant may have the same mark, and is excluded by its id.
 */
function createTenantMark(businessId: string): string {
  return hashSha256Hex(businessId).slice(0, tenantMarkChars);
}

const tenantMarkChars = 8;
/** Number of characters before the word in a term. */
export const termHeadChars = tenantMarkChars + 1;

/** A value that is found only whole is indexed by its digest. */
function digest(value: string): string {
  return hashSha256Hex(value).slice(0, 24);
}

/** Returns the term by which the entry of a record is found. */
export function createIdTerm(businessId: string, id: string): string {
  return createTenantMark(businessId) + letters.id + digest(id);
}

interface IndexedTexts {
  readonly texts: readonly string[];
  /** Answers that not all readers of the record may see. */
  readonly personalTexts?: readonly string[];
  readonly addresses?: readonly string[];
  readonly programIds?: readonly string[];
}

type TextReaders = {
  readonly [T in SearchedTable]: (row: Row<T>, standardFieldIds: ReadonlySet<string>) => IndexedTexts;
};

const joinName = (...parts: readonly (string | null | undefined)[]) => parts.filter((part) => part).join(" ");

const readTexts: TextReaders = {
  submissions({ title, innovatorName, innovatorEmail, programId, fields }, standardFieldIds) {
    const answers = Map.groupBy(Object.entries(fields), ([fieldId]) => standardFieldIds.has(fieldId));
    const listAnswers = (isStandard: boolean) =>
      answers.get(isStandard)?.flatMap(([, value]) => listTexts(value)) ?? [];
    return {
      texts: [title ?? "", innovatorName, ...listAnswers(true)],
      personalTexts: listAnswers(false),
      addresses: [innovatorEmail],
      programIds: [programId],
    };
  },
  persons({ contactDetails: { firstName, lastName, organization = "" } = {} }) {
    return { texts: [joinName(firstName, lastName), organization] };
  },
  reviewers({ firstName, lastName, affiliation, email, programIds }) {
    return { texts: [joinName(firstName, lastName), affiliation ?? ""], addresses: [email], programIds };
  },
};

/** Lists the terms of a record, without contact details in its texts. */
export function listTerms<T extends SearchedTable>(
  table: T,
  row: Row<T>,
  standardFieldIds: ReadonlySet<string>,
): string[] {
  const mark = createTenantMark(row.businessId);
  const { texts, personalTexts = [], addresses = [], programIds = [] } = readTexts[table](row, standardFieldIds);
  const terms = new Set([createIdTerm(row.businessId, String((row as never)[ids[table]]))]);
  for (const address of addresses) terms.add(mark + letters.address + digest(normalizeEmail(address)));
  for (const programId of programIds) terms.add(mark + letters.program + digest(programId));
  let bytes = 0;
  for (const [letter, own] of [
    [letters.word, texts],
    [letters.personalWord, personalTexts],
  ] as const) {
    for (const word of own.flatMap((text) => listWords(removeContacts(text)))) {
      const term = mark + letter + cutWord(word);
      if (terms.has(term)) continue;
      bytes += Buffer.byteLength(term) + 1;
      if (bytes > maxIndexedBytes) return [...terms];
      terms.add(term);
    }
  }
  return [...terms];
}

const ids = { submissions: "submissionId", persons: "personId", reviewers: "reviewerId" } as const;

/** Returns groups of terms. A record must have one term of each group. */
export function createQueryTerms(businessId: string, search: TextSearch): QueryTerm[][] {
  const mark = createTenantMark(businessId);
  const { words, addresses, programId, includesPersonalAnswers } = search;
  const wordLetters = includesPersonalAnswers ? [letters.word, letters.personalWord] : [letters.word];
  const longest = words.map(cutWord).toSorted((a, b) => b.length - a.length);
  const whole = [
    ...addresses.map((address) => letters.address + digest(address)),
    ...(programId === undefined ? [] : [letters.program + digest(programId)]),
  ];
  return [
    ...whole.map((term) => [{ term: mark + term, isPrefix: false }]),
    ...longest
      .slice(0, maxQueryWords)
      .map((word) => wordLetters.map((letter) => ({ term: mark + letter + word, isPrefix: true }))),
  ];
}

function cutWord(word: string): string {
  return word.length <= maxWordChars ? word : [...word].slice(0, maxWordChars).join("");
}
