import type { Readable } from "node:stream";

/** The identity of a stored blob. */
export interface BlobContent {
  /** In hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The declared properties of uploaded bytes. */
export interface DeclaredBlob {
  readonly contentType?: string | undefined;
  readonly sha256?: string | undefined;
  readonly sizeBytes?: number | undefined;
}

/** A range of bytes. Both ends are included and counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A blob that is being written, in a private file. A crash leaves no partial blob. */
export interface Spool {
  /** Bytes written so far. */
  readonly sizeBytes: number;
  write(bytes: string | Uint8Array): Promise<void>;
  /** Ends the writing. All bytes are on the disk then. */
  finish(): Promise<BlobContent>;
  /** Adds the finished blob to the store, all or nothing. */
  keep(): Promise<void>;
  /** Deletes the file if it was not added. */
  discard(): Promise<void>;
}

/** Stores blobs by their SHA-256, so no external name becomes a path. */
export interface BlobStore {
  /**
   * Stores bytes. Returns their SHA-256 in hexadecimal.
   * @throws Problem `validation_failed` when they do not match their declaration
   */
  put(bytes: Uint8Array, declared?: DeclaredBlob): Promise<string>;
  /** Begins to write a blob for the record with this id. */
  spool(id: string): Promise<Spool>;
  find(sha256: string): Promise<BlobContent | undefined>;
  /**
   * Opens a blob or a part of it. A stream of the whole blob ends without an error only if its hash matches.
   * @throws Error if there is none
   */
  open(sha256: string, range?: ByteRange): Promise<Readable>;
  /**
   * Returns an address at which the blob can be downloaded for a minute. Absent if the server itself delivers blobs.
   */
  address?(sha256: string, shown: { readonly contentType: string; readonly disposition: string }): Promise<string>;
  /** Deletes a blob. A missing blob is not an error. */
  remove(sha256: string): Promise<void>;
  /** Deletes unfinished files that were begun before this moment. @returns the number of deleted files */
  sweep(before: Date): Promise<number>;
}
