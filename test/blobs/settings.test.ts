import { describe, expect, test } from "vitest";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";

const bucket = { PROGRAMME_S3_BUCKET: "programme" };
const key = { PROGRAMME_S3_ACCESS_KEY_ID: "id", PROGRAMME_S3_SECRET_ACCESS_KEY: "hush" };

describe("the settings of a bucket", () => {
  test("are empty by default, and are read from the variables", () => {
    expect(loadConfig({}).bucket).toBeUndefined();
    expect(loadConfig(bucket).bucket).toEqual({
      name: "programme",
      region: "us-east-1",
      endpoint: undefined,
      credentials: undefined,
      redirect: false,
    });
    const endpoint = { PROGRAMME_S3_ENDPOINT: "http://minio:9000/", PROGRAMME_S3_REGION: "eu-central-1" };
    expect(loadConfig({ ...bucket, ...key, ...endpoint, PROGRAMME_S3_REDIRECT: "yes" }).bucket).toEqual({
      name: "programme",
      region: "eu-central-1",
      endpoint: "http://minio:9000",
      credentials: { accessKeyId: "id", secretAccessKey: "hush" },
      redirect: true,
    });
  });

  test.each([
    [key, "PROGRAMME_S3_BUCKET is needed"],
    [{ PROGRAMME_S3_ENDPOINT: "http://minio:9000" }, "PROGRAMME_S3_BUCKET is needed"],
    [{ ...bucket, PROGRAMME_S3_ACCESS_KEY_ID: "id" }, "belong together"],
    [{ ...bucket, PROGRAMME_S3_SECRET_ACCESS_KEY: "hush" }, "belong together"],
    [{ PROGRAMME_S3_BUCKET: "../other" }, "PROGRAMME_S3_BUCKET must be"],
    [{ ...bucket, PROGRAMME_S3_ENDPOINT: "minio:9000" }, "PROGRAMME_S3_ENDPOINT must be"],
  ])("%o are refused, and no secret is repeated", (environment, message) => {
    expect(() => loadConfig(environment)).toThrow(message);
    expect(() => loadConfig(environment)).not.toThrow("hush");
  });

  test("are not checked at the start: an unreachable bucket stops nothing else", async () => {
    const endpoint = { PROGRAMME_S3_ENDPOINT: "http://127.0.0.1:1" };
    const config = loadConfig({
      ...bucket,
      ...key,
      ...endpoint,
      PROGRAMME_DATABASE: ":memory:",
      PROGRAMME_LOG_LEVEL: "silent",
    });
    const app = await createApp(config);
    await expect(app.content.put(Buffer.from("x"))).rejects.toThrow();
    await app.close();
  });
});
