import type { Row } from "../../../src/store/tables.ts";
import { field } from "../../support/data/seed-factory.ts";
import type { TestServer } from "../../support/servers/test-server.ts";

type Seed = TestServer["seed"];

/** Creates payments and files of the first submissions, and a file of a supplement. */
export async function createAttachments(
  seed: Seed,
  { programId, trackId }: Row<"tracks">,
  [paidId = "", pendingId = "", waivedId = ""]: readonly string[],
  supplementResponseId: string,
) {
  const home = { programId, trackId };
  const unpaid = { method: null, paidAt: null, providerRef: null };
  const payments = [
    await seed.payment({ ...home, submissionId: paidId, status: "failed", failureCode: "card_declined", ...unpaid }),
    await seed.payment({ ...home, submissionId: paidId, amountMinor: 3000 }),
    await seed.payment({ ...home, submissionId: pendingId, status: "pending", ...unpaid }),
    await seed.payment({ ...home, submissionId: waivedId, status: "waived", ...unpaid, method: "waiver" }),
  ];
  const files = [
    await seed.file({ submissionId: paidId, fileName: "plan.pdf" }),
    await seed.file({ submissionId: paidId, scanStatus: "infected" }),
    await seed.file({ submissionId: pendingId, scanStatus: "pending" }),
    await seed.file({ submissionId: pendingId, contentType: "image/png" }),
    await seed.file({ supplementResponseId }),
  ];
  return { payments, files };
}

/** Creates later versions of a form and a rubric, of which records use the first. The latest one is not the newest row. */
export async function createFormVersions(seed: Seed, schemaId: string, rubricId: string) {
  const schemas: Row<"schemas">[] = [];
  const rubrics: Row<"rubrics">[] = [];
  for (const version of [3, 2]) {
    const fields = [field("fld_title", "title", "text", { required: true, label: `Title ${version}` })];
    schemas.push(await seed.schema({ schemaId, schemaVersion: version, fields }));
    rubrics.push(await seed.rubric({ rubricId, rubricVersion: version, name: `Rubric ${version}` }));
  }
  return {
    schemas: schemas.map((row) => ({ version: row.schemaVersion, row: { ...row } })),
    rubrics: rubrics.map((row) => ({ version: row.rubricVersion, row: { ...row } })),
  };
}
