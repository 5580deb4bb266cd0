import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openContentDirectory } from "./content.ts";
import { type Bucket, openContentBucket } from "./content-s3.ts";
import type { ContentStore } from "./port.ts";

export interface ContentPlaces {
  /** What applicants attach. */
  readonly content: ContentStore;
  /** The files of finished exports. */
  readonly artifacts: ContentStore;
  /** A directory for messages that no server is there to take. */
  readonly mailDirectory: string;
  close(): Promise<void>;
}

/**
 * Content in a bucket if there is one, else in directories.
 *
 * @param beside - what their paths begin with; without they are there until the end of the program
 */
export async function openContent(beside: string | undefined, bucket: Bucket | undefined): Promise<ContentPlaces> {
  const temporary = beside === undefined ? await mkdtemp(join(tmpdir(), "programme-")) : undefined;
  const directoryOf = (name: string) => (temporary === undefined ? `${beside}.${name}` : join(temporary, name));
  const place = (name: string) => {
    const directory = directoryOf(name);
    return bucket ? openContentBucket(bucket, name, join(directory, "spool")) : openContentDirectory(directory);
  };
  return {
    content: place("files"),
    artifacts: place("exports"),
    mailDirectory: directoryOf("mail"),
    async close() {
      if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
    },
  };
}
