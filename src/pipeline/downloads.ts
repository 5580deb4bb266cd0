import type { Readable } from "node:stream";
import type { Log } from "../lib/log.ts";
import type { BlobContent, BlobStore, ByteRange, Store } from "../store/port.ts";
import type { LinkVerifier, SignedUrl } from "./signed-urls.ts";

/** The content behind a signed link. */
export interface Download extends BlobContent {
  readonly fileName: string;
  readonly contentType: string;
  open(range?: ByteRange): Promise<Readable>;
  /** Returns the address of the blob store that serves the content, if it does; `disposition` is the response header. */
  readonly address: ((disposition: string) => Promise<string>) | undefined;
}

export interface Downloads {
  /** Returns undefined if the link is altered, expired or foreign, or its content is gone. The cases look alike. */
  find(link: SignedUrl): Promise<Download | undefined>;
}

export interface DownloadDeps {
  readonly links: LinkVerifier;
  readonly store: Store;
  /** Stores uploaded files. */
  readonly content: BlobStore;
  /** Stores the files of exports. */
  readonly artifacts: BlobStore;
  readonly log: Log;
}

/** Serves downloads of files and exports to anyone who has a signed link. */
export function createDownloads({ links, store, content, artifacts, log }: DownloadDeps): Downloads {
  const loaders: Record<SignedUrl["kind"], (businessId: string, id: string) => Promise<StoredDownload | undefined>> = {
    async file(businessId, fileId) {
      const file = await store.reader(businessId).get("files", fileId);
      // A scan may have found the file infected since the link was made.
      return file?.scanStatus === "clean" ? { ...file, blobs: content } : undefined;
    },
    async export(businessId, exportId) {
      const job = await store.reader(businessId).get("exports", exportId);
      const { status, sha256, sizeBytes } = job ?? {};
      if (status !== "completed" || !sha256 || sizeBytes === undefined || sizeBytes === null) return undefined;
      const header = { fileName: `${exportId}.json`, contentType: "application/json" };
      return { ...header, sha256, sizeBytes, blobs: artifacts };
    },
  };

  return {
    async find(link) {
      const verified = await links.verify(link);
      const record = verified && (await loaders[link.kind](verified.businessId, link.id));
      if (!record) return undefined;
      const { fileName, contentType, sha256, sizeBytes, blobs } = record;
      const idName = `${link.kind}Id`;
      const stored = await blobs.find(sha256);
      if (stored?.sizeBytes !== sizeBytes) {
        log.error(
          { [idName]: link.id },
          stored ? "The stored content has an unexpected size" : "The stored content is missing",
        );
        return undefined;
      }
      const { address } = blobs;
      return {
        fileName,
        contentType,
        sha256,
        sizeBytes,
        async open(range) {
          const stream = await blobs.open(sha256, range);
          return stream.once("error", (error) => log.error({ err: error, [idName]: link.id }, "A download failed"));
        },
        address: address && ((disposition) => address(sha256, { contentType, disposition })),
      };
    },
  };
}

interface StoredDownload extends BlobContent {
  readonly fileName: string;
  readonly contentType: string;
  readonly blobs: BlobStore;
}
