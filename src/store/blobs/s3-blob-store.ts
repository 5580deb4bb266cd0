import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { GetObjectCommandInput, S3Client } from "@aws-sdk/client-s3";
import type { Content, ContentStore } from "../port.ts";
import { checkDeclared, verifyStream } from "./blob-check.ts";
import { type Keep, openSpool, sweepSpools } from "./blob-spool.ts";
import { getBlobPath, putWhole } from "./directory-blob-store.ts";

/** A bucket of an S3-compatible service, and how it is reached. */
export interface Bucket {
  readonly name: string;
  readonly region: string;
  /** Of a service other than Amazon's; objects are addressed by path there, not by host. */
  readonly endpoint: string | undefined;
  /** Without, credentials come from where Amazon's tools look for them. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Whether whoever reads is sent to the bucket, rather than served from here. */
  readonly redirect: boolean;
}

const connectTimeoutMs = 5_000;
/** Silence after which a transfer is given up. */
const silenceMs = 30_000;
const maxAttempts = 3;
const addressTtlSeconds = 60;

/**
 * Content in a bucket; what talks to it is loaded when it is first needed.
 *
 * @param prefix - what the names of objects begin with, without a slash at the end
 * @param spools - a local directory for content on its way
 */
export function openS3BlobStore(bucket: Bucket, prefix: string, spools: string): ContentStore {
  let connecting: Promise<Connection> | undefined;
  const connectClient = () => (connecting ??= connect(bucket));
  const toObjectKey = (sha256: string) => ({ Bucket: bucket.name, Key: [prefix, ...getBlobPath(sha256)].join("/") });

  const keep: Keep = async (path, { sha256, sizeBytes }) => {
    const { s3, client } = await connectClient();
    const body = createReadStream(path);
    // The service computes the checksum too, and refuses what arrives otherwise.
    const checksum = Buffer.from(sha256, "hex").toString("base64");
    const content = { Body: body, ContentLength: sizeBytes, ChecksumSHA256: checksum };
    await client.send(new s3.PutObjectCommand({ ...toObjectKey(sha256), ...content }));
    if ((await find(sha256))?.sizeBytes !== sizeBytes) throw new Error(`The bucket has not kept ${sha256}`);
    await rm(path, { force: true });
  };

  async function find(sha256: string): Promise<Content | undefined> {
    const { s3, client } = await connectClient();
    try {
      const { ContentLength } = await client.send(new s3.HeadObjectCommand(toObjectKey(sha256)));
      return { sha256, sizeBytes: ContentLength ?? 0 };
    } catch (error) {
      if (error instanceof s3.S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
      throw error;
    }
  }

  const openBlobSpool: ContentStore["spool"] = (id) => openSpool(spools, id, keep);

  return {
    find,
    spool: openBlobSpool,
    put: async (bytes, declared = {}) =>
      putWhole(bytes, checkDeclared(bytes, declared), { find, spool: openBlobSpool }),
    async open(sha256, range) {
      const { s3, client } = await connectClient();
      const part = range ? { Range: `bytes=${range.start}-${range.end}` } : {};
      const { Body } = await client.send(new s3.GetObjectCommand({ ...toObjectKey(sha256), ...part }));
      if (!Body) throw new Error(`The bucket has not given ${sha256}`);
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
    // Compatible services know fewer kinds of checksums; those that matter are given one by one.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  return { s3, client };
}
