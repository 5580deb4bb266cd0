import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { inspectDatabase, inspectDatabaseReplicas, MissingRights } from "../../app/app.ts";
import type { Config } from "../../config/load.ts";
import { createFailure, createPass, createWarning, type DoctorCheck, formatSentence } from "./check.ts";
import { findExistingDirectory } from "./files.ts";

/** The findings about a PostgreSQL database. */
export interface PostgresFindings {
  readonly checks: DoctorCheck[];
  /** The database contains data. */
  readonly hasData: boolean;
}

/** Checks that a PostgreSQL database can be used, and which settings processes on it must share. */
export async function checkPostgres(config: Config): Promise<PostgresFindings> {
  const name = "database server";
  const { databaseName } = config;
  try {
    const { applied, pending } = await inspectDatabase(config);
    const hasData = applied.length > 0;
    const found = hasData
      ? `${databaseName} can be reached.`
      : `${databaseName} is empty; the first start makes its tables.`;
    const late = hasData && pending.length > 0;
    const reached = late
      ? createWarning(
          name,
          `${databaseName} is of an earlier version.`,
          "Bring it to this one with: programme-mcp migrate",
        )
      : createPass(name, found);
    return { hasData, checks: [reached, ...(await checkReplicas(config)), ...checkShared(config)] };
  } catch (error) {
    if (error instanceof MissingRights) {
      const found = `The user of ${databaseName} lacks rights there.`;
      return { hasData: false, checks: [createFailure(name, found, `As its owner: ${error.grant}`)] };
    }
    const fix = "Correct PROGRAMME_DATABASE, or repair the server.";
    return { hasData: false, checks: [createFailure(name, formatSentence(error), fix)] };
  }
}

async function checkReplicas(config: Config): Promise<DoctorCheck[]> {
  const name = "read replica";
  return (await inspectDatabaseReplicas(config)).map(({ server, fault }) =>
    fault === undefined
      ? createPass(name, `${server} has all changes of the database.`)
      : createWarning(
          name,
          `${server} cannot be used: ${fault}. The primary answers in its place.`,
          "Repair the server, or correct PROGRAMME_DATABASE_READ_REPLICAS.",
        ),
  );
}

function checkShared({ secretKey, baseUrl, bucket, filesBeside = "" }: Config): DoctorCheck[] {
  const checks: DoctorCheck[] = [];
  if (secretKey === undefined && baseUrl === undefined) {
    const fix = "Set it to what this prints, the same for all processes: openssl rand -hex 32";
    checks.push(
      createFailure("server key", "PROGRAMME_SECRET_KEY is not set, which a PostgreSQL database needs.", fix),
    );
  }
  if (bucket) return checks;
  const name = "files";
  const directory = findExistingDirectory(dirname(filesBeside));
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    const found = `Files are kept in ${dirname(filesBeside)}, which all processes on the database have to share.`;
    checks.push(
      createWarning(name, found, "With several machines set PROGRAMME_S3_BUCKET, or mount one directory on all."),
    );
  } catch {
    checks.push(
      createFailure(name, `${directory} cannot be written.`, "Set PROGRAMME_DATA_DIR or PROGRAMME_S3_BUCKET."),
    );
  }
  return checks;
}
