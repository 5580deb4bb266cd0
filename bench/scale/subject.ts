import { createSecretKey } from "node:crypto";
import { type App, createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { splitInput } from "../../src/contract/definition/operation.ts";
import { operations } from "../../src/contract/index.ts";
import { createId } from "../../src/lib/ids.ts";
import type { Reader } from "../../src/store/port.ts";
import { createCursors } from "../../src/store/queries/cursor.ts";
import type { Row, TableName } from "../../src/store/tables.ts";
import type { Request, Samples } from "./cases.ts";
import type { Landmarks } from "./tenant.ts";

/** A filled database with the program on it. */
export interface Subject {
  readonly size: number;
  readonly samples: Samples;
  /** Sends a request through the pipeline. Returns the data and the number of rows. */
  send(request: Request): Promise<Sent>;
  close(): Promise<void>;
}

interface Sent {
  readonly data: Readonly<Record<string, unknown>>;
  readonly rows: number;
}

const months = Array.from({ length: 50 }, (_, month) => new Date(Date.UTC(2021, 11 + month, 5)).toISOString());

export async function openSubject(
  database: string,
  size: number,
  landmarks: Landmarks,
  dataDir: string,
): Promise<Subject> {
  const app = await createApp(
    loadConfig({
      PROGRAMME_DATABASE: database,
      PROGRAMME_DATA_DIR: dataDir,
      PROGRAMME_SECRET_KEY: "5e".repeat(32),
      PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
      PROGRAMME_LOG_LEVEL: "error",
    }),
  );
  const samples = await sample(app, landmarks);
  return {
    size,
    samples,
    async send([operation, input]) {
      const parts = splitInput(operations[operation], input);
      const answer = await app.pipeline.execute({
        operation,
        token: landmarks.token,
        parts,
        requestId: createId("req"),
      });
      if (!answer.ok) throw new Error(`${operation} ${JSON.stringify(input)}: ${answer.problem.message}`);
      const data = answer.data as Readonly<Record<string, unknown>>;
      return { data, rows: Array.isArray(data) ? data.length : 1 };
    },
    close: () => app.close(),
  };
}

async function sample({ store }: App, landmarks: Landmarks): Promise<Samples> {
  const { businessId } = landmarks;
  const reader = store.reader(businessId);
  const submissions = await spread(reader, "submissions");
  const persons = await spread(reader, "persons");
  const { rows: entries } = await reader.pageAudit({}, { limit: 100 });
  const key = createSecretKey(await store.secret("cursor"));
  const half = <R>(rows: readonly R[]) => rows[rows.length >> 1] as R;
  const cursor = (name: string, column: string, query: object, at: string, id: string) =>
    createCursors(key, [businessId, name, column, query]).encode([at, id]);
  const [submission, person] = [half(submissions), half(persons)];
  const inMiddle = { submittedAt: {}, updatedAt: {} };
  const { reviewerIds } = landmarks;
  return {
    ...landmarks,
    // The same number at every size, so that requests read equally many rows.
    reviewerIds: reviewerIds.filter((_, index) => index % Math.ceil(reviewerIds.length / 50) === 0),
    submissions,
    persons,
    reviewIds: (await spread(reader, "reviews")).map(({ reviewId }) => reviewId),
    fileIds: (await spread(reader, "files")).map(({ fileId }) => fileId),
    auditIds: entries.map(({ auditId }) => auditId),
    middles: {
      submissions: cursor(
        "submissions",
        "createdAt",
        { where: inMiddle },
        submission.createdAt,
        submission.submissionId,
      ),
      persons: cursor("persons", "createdAt", {}, person.createdAt, person.personId),
      audit: cursor("audit", "occurredAt", { where: {}, changesOnly: true }, submission.createdAt, "aud_"),
    },
  };
}

/** Returns some rows of each month. */
async function spread<T extends TableName>(reader: Reader, table: T): Promise<Row<T>[]> {
  const found: Row<T>[] = [];
  for (const gte of months) {
    const where = { createdAt: { gte } };
    found.push(...(await reader.find(table, { where } as never, { limit: 20 })));
  }
  return found;
}
