import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { GetObjectCommandInput, S3Client } from "@aws-sdk/client-s3";
import type { BlobContent, BlobStore } from "../port.ts";
import { checkDeclared, verifyStream } from "./blob-check.ts";
import { openSpool, type StoreFile, sweepSpools } from "./blob-spool.ts";
import { getBlobPath, putWhole } from "./directory-blob-store.ts";

/** A bucket of an S3-compatible service, and its access. */
export interface Bucket {
  readonly name: string;
  readonly region: string;
  /** Endpoint of a service other than Amazon's. Objects are addressed by path there. */
  readonly endpoint: string | undefined;
  /** Without credentials, Amazon's default sources are used. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Readers are redirected to the bucket instead of being served from here. */
  readonly redirect: boolean;
}

const connectTimeoutMs = 5_000;
/** Time without data after which a transfer fails. */
const silenceMs = 30_000;
const maxAttempts = 3;
const addressTtlSeconds = 60;

/**
 * Opens a blob store in a bucket. Loads the client on first use.
 * @param prefix - prefix of object names, without a trailing slash
 * @param spools - local directory for unfinished files
 */
export function openS3BlobStore(bucket: Bucket, prefix: string, spools: string): BlobStore {
  let connecting: Promise<Connection> | undefined;
  const connectClient = () => (connecting ??= connect(bucket));
  const toObjectKey = (sha256: string) => ({ Bucket: bucket.name, Key: [prefix, ...getBlobPath(sha256)].join("/") });

  const keep: StoreFile = async (path, { sha256, sizeBytes }) => {
    const { s3, client } = await connectClient();
    const body = createReadStream(path);
    // The service computes the checksum too, and rejects a damaged upload.
    const checksum = Buffer.from(sha256, "hex").toString("base64");
    const content = { Body: body, ContentLength: sizeBytes, ChecksumSHA256: checksum };
    await client.send(new s3.PutObjectCommand({ ...toObjectKey(sha256), ...content }));
    if ((await find(sha256))?.sizeBytes !== sizeBytes) throw new Error(`The bucket did not store ${sha256}`);
    await rm(path, { force: true });
  };

  async function find(sha256: string): Promise<BlobContent | undefined> {
    const { s3, client } = await connectClient();
    try {
      const { ContentLength } = await client.send(new s3.HeadObjectCommand(toObjectKey(sha256)));
      return { sha256, sizeBytes: ContentLength ?? 0 };
    } catch (error) {
      if (error instanceof s3.S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
      throw error;
    }
  }

  const openBlobSpool: BlobStore["spool"] = (id) => openSpool(spools, id, keep);

  return {
    find,
    spool: openBlobSpool,
    put: async (bytes, declared = {}) =>
      putWhole(bytes, checkDeclared(bytes, declared), { find, spool: openBlobSpool }),
    async open(sha256, range) {
      const { s3, client } = await connectClient();
      const part = range ? { Range: `bytes=${range.start}-${range.end}` } : {};
      const { Body } = await client.send(new s3.GetObjectCommand({ ...toObjectKey(sha256), ...part }));
      if (!Body) throw new Error(`The bucket did not return ${sha256}`);
      return range ? (Body as Readable) : verifyStream(Body as Readable, sha256);
    },
    ...(bucket.redirect ? { address: (sha256, shown) => presignUrl(toObjectKey(sha256), shown) } : {}),
    async remove(sha256) {
      const { s3, client } = await connectClient();
      await client.send(new s3.DeleteObjectCommand(toObjectKey(sha256)));
    },
    sweep: (before) => sweepSpools(spools, before),
  };

  async function presignUrl(
    object: GetObjectCommandInput,
    { contentType, disposition }: { readonly contentType: string; readonly disposition: string },
  ): Promise<string> {
    const { s3, client } = await connectClient();
    const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
    const shown = { ResponseContentType: contentType, ResponseContentDisposition: disposition };
    return getSignedUrl(client, new s3.GetObjectCommand({ ...object, ...shown }), { expiresIn: addressTtlSeconds });
  }
}

interface Connection {
  readonly s3: typeof import("@aws-sdk/client-s3");
  readonly client: S3Client;
}

async function connect({ region, endpoint, credentials }: Bucket): Promise<Connection> {
  const s3 = await import("@aws-sdk/client-s3");
  const client = new s3.S3Client({
    region,
    maxAttempts,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: silenceMs },
    // Compatible services support fewer checksums. The necessary ones are set explicitly.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  return { s3, client };
}
