/** The tables whose records are found by their words. */
export const searchedTables = ["submissions", "persons", "reviewers"] as const;
export type SearchedTable = (typeof searchedTables)[number];

/** The words and filters that a record must match, all of them. */
export interface TextSearch {
  /** Beginnings of words, in lower case and without accents. */
  readonly words: readonly string[];
  /** Whole addresses in lower case. */
  readonly addresses: readonly string[];
  readonly programId?: string | undefined;
  /** Also finds the words of answers to personal form fields. */
  readonly includesPersonalAnswers: boolean;
}

/** Ids of records that may match a search. Every record that matches is among them, unless there are more. */
export interface Candidates {
  readonly ids: readonly string[];
  readonly hasMore: boolean;
}
