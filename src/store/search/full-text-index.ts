import type { Db } from "../database.ts";
import type { SearchedTable } from "./candidates.ts";

/** The terms of a record. */
export interface SearchEntry {
  readonly businessId: string;
  readonly id: string;
  readonly terms: readonly string[];
}

/** A term to find: in whole, or as the beginning of others. */
export interface QueryTerm {
  readonly term: string;
  readonly isPrefix: boolean;
}

export interface TermQuery {
  readonly businessId: string;
  /** A record must have one term of each group. */
  readonly groups: readonly (readonly QueryTerm[])[];
  readonly limit: number;
}

/** The full-text index of a database, with one table for each table of records. */
export interface FullTextIndex {
  create(db: Db, table: SearchedTable): Promise<void>;
  /** Writes entries, in place of earlier ones of the same records. */
  write(db: Db, table: SearchedTable, entries: readonly SearchEntry[]): Promise<void>;
  remove(db: Db, table: SearchedTable, businessId: string, id: string): Promise<void>;
  /** Returns the ids of matching records, the latest first. */
  find(db: Db, table: SearchedTable, query: TermQuery): Promise<string[]>;
}

export function getIndexTable(table: SearchedTable): string {
  return `${table}Index`;
}
