import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BlobStore } from "../port.ts";
import { openDirectoryBlobStore } from "./directory-blob-store.ts";
import { type Bucket, openS3BlobStore } from "./s3-blob-store.ts";

export interface BlobStoreLocation {
  /** Files that applicants attach. */
  readonly content: BlobStore;
  /** Files of finished exports. */
  readonly artifacts: BlobStore;
  /** Directory for messages when no mail server is configured. */
  readonly mailDirectory: string;
  close(): Promise<void>;
}

/**
 * Opens blob stores in a bucket if one is configured, otherwise in directories.
 * @param beside - prefix of the directories; without it, they are temporary
 */
export async function openBlobStore(
  beside: string | undefined,
  bucket: Bucket | undefined,
): Promise<BlobStoreLocation> {
  const temporary = beside === undefined ? await mkdtemp(join(tmpdir(), "programme-")) : undefined;
  const getDirectory = (name: string) => (temporary === undefined ? `${beside}.${name}` : join(temporary, name));
  const getPlace = (name: string) => {
    const directory = getDirectory(name);
    return bucket ? openS3BlobStore(bucket, name, join(directory, "spool")) : openDirectoryBlobStore(directory);
  };
  return {
    content: getPlace("files"),
    artifacts: getPlace("exports"),
    mailDirectory: getDirectory("mail"),
    async close() {
      if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
    },
  };
}
