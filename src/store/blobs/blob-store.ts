import type { Readable } from "node:stream";

/** What bytes are known by. */
export interface Content {
  /** In hexadecimal. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** What is said of bytes that come in. */
export interface DeclaredContent {
  readonly contentType?: string | undefined;
  readonly sha256?: string | undefined;
  readonly sizeBytes?: number | undefined;
}

/** A part of some bytes: both ends are part of it, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Bytes on their way into a content store, in a file that nothing else sees: a crash leaves nothing half done. */
export interface Spool {
  /** What was written so far. */
  readonly sizeBytes: number;
  write(bytes: string | Uint8Array): Promise<void>;
  /** Ends the writing: everything is on the disk. */
  finish(): Promise<Content>;
  /** Makes what was finished part of the store, all or nothing. */
  keep(): Promise<void>;
  /** Forgets what was not kept. */
  discard(): Promise<void>;
}

/** Where the bytes of files are: by their own SHA-256, so no name from outside becomes a path. */
export interface ContentStore {
  /**
   * Keeps bytes; gives their SHA-256 in hexadecimal.
   * @throws Problem `validation_failed` when they are not what they are declared as
   */
  put(bytes: Uint8Array, declared?: DeclaredContent): Promise<string>;
  /** Begins to take bytes as they come, for the record of this id. */
  spool(id: string): Promise<Spool>;
  find(sha256: string): Promise<Content | undefined>;
  /**
   * The bytes, or a part of them. A stream of all of them ends well only if they are the ones that were kept.
   * @throws Error where there are none
   */
  open(sha256: string, range?: ByteRange): Promise<Readable>;
  /** Where whoever has this address gets the bytes for a minute, if that is not here. */
  address?(sha256: string, shown: { readonly contentType: string; readonly disposition: string }): Promise<string>;
  /** Forgets bytes; none of this SHA-256 is fine. */
  remove(sha256: string): Promise<void>;
  /** Forgets what was begun before this moment and neither kept nor discarded. */
  sweep(before: Date): Promise<void>;
}
