import { createRequire } from "node:module";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../processes/directory.ts";

interface S3Server {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}

const require = createRequire(import.meta.url);
const S3rver: new (options: object) => S3Server = require("@20minutes/s3rver");

/** An S3-compatible service with one bucket, for one test. */
export interface BucketServer {
  readonly endpoint: string;
  /** Where it keeps what it is given. */
  readonly directory: string;
  /** The settings by which a service uses the bucket. */
  readonly environment: Record<string, string>;
  close(): Promise<void>;
}

export async function openBucket(): Promise<BucketServer> {
  const directory = await temporaryDirectory();
  const configureBuckets = [{ name: "programme", configs: [] }];
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: directory.path,
    configureBuckets,
  });
  const { port } = await server.run();
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= server.close());
  onTestFinished(async () => {
    await close();
    await directory.remove();
  });
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    directory: directory.path,
    close,
    environment: {
      PROGRAMME_S3_ENDPOINT: endpoint,
      PROGRAMME_S3_BUCKET: "programme",
      // The only key that it knows.
      PROGRAMME_S3_ACCESS_KEY_ID: "S3RVER",
      PROGRAMME_S3_SECRET_ACCESS_KEY: "S3RVER",
    },
  };
}
