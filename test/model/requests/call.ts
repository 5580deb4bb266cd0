import type { ModelOperation } from "../model.ts";

/** The page of a list: all, the first row, the next page of this or any list, or with a cursor of another list. */
export const pages = ["all", "first", "first", "next", "next", "nextOfAny", "ofOther"] as const;

/** A call before the records that it names are known. */
export interface Call {
  readonly tenant: number;
  /** The first token of a tenant may do all, the others lack scopes, and the last may only read. */
  readonly token: number;
  readonly process: number;
  /** One of a few keys, so that some requests come again. */
  readonly key: number | undefined;
  readonly name: ModelOperation;
  /** Position of the record among those that exist. */
  readonly target: number;
  /** Difference to the current version. */
  readonly versionOffset: number;
  /** Names the record of the other tenant. */
  readonly isForeign: boolean;
  readonly choice: number;
  readonly page: (typeof pages)[number];
}

/** A record of the service, or one that does not exist, with the version that the client has seen. */
export interface NamedSubmission {
  readonly submissionId: string;
  readonly version: number;
}

/** The arguments of a request. */
export type RequestInput = Readonly<Record<string, unknown>>;
