import type { Readable } from "node:stream";
import type { Log } from "../lib/log.ts";
import type { ByteRange, Content, ContentStore, Store } from "../store/port.ts";
import type { LinkVerifier, SignedUrl } from "./signed-urls.ts";

/** What a signed link leads to. */
export interface Download extends Content {
  readonly fileName: string;
  readonly contentType: string;
  open(range?: ByteRange): Promise<Readable>;
  /** Where to get it instead, if that is not here; `disposition` is the header that it is to come with. */
  readonly address: ((disposition: string) => Promise<string>) | undefined;
}

export interface Downloads {
  /** What a link leads to; nothing where the link is altered, expired or foreign, or its content gone: all alike. */
  find(link: SignedUrl): Promise<Download | undefined>;
}

export interface DownloadDeps {
  readonly links: LinkVerifier;
  readonly store: Store;
  /** Of files. */
  readonly content: ContentStore;
  /** Of exports. */
  readonly artifacts: ContentStore;
  readonly log: Log;
}

/** Downloads of files and exports, by signed links alone. */
export function createDownloads({ links, store, content, artifacts, log }: DownloadDeps): Downloads {
  const kept: Record<SignedUrl["kind"], (businessId: string, id: string) => Promise<Kept | undefined>> = {
    async file(businessId, fileId) {
      const file = await store.reader(businessId).get("files", fileId);
      // What was found infected since the link was made is not handed on.
      return file?.scanStatus === "clean" ? { ...file, where: content } : undefined;
    },
    async export(businessId, exportId) {
      const job = await store.reader(businessId).get("exports", exportId);
      const { status, sha256, sizeBytes } = job ?? {};
      if (status !== "completed" || !sha256 || sizeBytes === undefined || sizeBytes === null) return undefined;
      const shown = { fileName: `${exportId}.json`, contentType: "application/json" };
      return { ...shown, sha256, sizeBytes, where: artifacts };
    },
  };

  return {
    async find(link) {
      const verified = await links.verify(link);
      const found = verified && (await kept[link.kind](verified.businessId, link.id));
      if (!found) return undefined;
      const { fileName, contentType, sha256, sizeBytes, where } = found;
      const idName = `${link.kind}Id`;
      const stored = await where.find(sha256);
      if (stored?.sizeBytes !== sizeBytes) {
        log.error({ [idName]: link.id }, stored ? "Content has another size than it had" : "Content is missing");
        return undefined;
      }
      const { address } = where;
      return {
        fileName,
        contentType,
        sha256,
        sizeBytes,
        async open(range) {
          const stream = await where.open(sha256, range);
          return stream.once("error", (error) => log.error({ err: error, [idName]: link.id }, "A download broke off"));
        },
        address: address && ((disposition) => address(sha256, { contentType, disposition })),
      };
    },
  };
}

interface Kept extends Content {
  readonly fileName: string;
  readonly contentType: string;
  readonly where: ContentStore;
}
