import { describe, expect } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { formatProgramConfig } from "../../src/imports/format-config.ts";
import { createImports } from "../../src/imports/imports.ts";
import { parseProgramConfig } from "../../src/imports/parse-config.ts";
import { programTemplate } from "../../src/imports/template.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { openStore } from "../../src/store/open.ts";
import { openSeeded } from "../demo/seeded.ts";
import { ClientProblem, type TestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";

/** Applies the template with changes of its text, and records what became of the organisation. */
function importerAt(server: TestServer) {
  const imports = createImports(server.app.store, systemClock);
  return (...changes: readonly (readonly [from: string, to: string])[]) => {
    const text = changes.reduce((changed, [from, to]) => {
      expect(changed).toContain(from);
      return changed.replace(from, to);
    }, programTemplate);
    const { config } = parseProgramConfig(text);
    return recordTrace(server, () =>
      imports.applyConfig(server.businessId, config, { dryRun: false }).catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        throw new ClientProblem({ code: error.code, message: error.message, details: { ...error.details } }, 0);
      }),
    );
  };
}

const refusal = (path: string, code: string) => ({
  problem: { code: "validation_failed", details: { issues: [{ path, code }] } },
  ...nothing,
});

describe("an import", () => {
  test("is audited as the operator's, and sends an event when the lifecycle changes", async ({ server }) => {
    const apply = importerAt(server);
    const first = await apply();
    expect(first.events).toEqual([]);
    expect(first.audit.toSorted()).toEqual([
      "person_schema.created",
      "program.imported",
      "reviewer.created",
      "round.created",
      "round.created",
      "rubric.created",
      "schema.created",
      "track.created",
    ]);
    expect(await apply()).toMatchObject(nothing);
    const completed = await apply(["lifecycleStatus: underway", "lifecycleStatus: completed"]);
    expect(completed).toMatchObject({ rows: ["programs updated: lifecycleStatus"], audit: ["program.imported"] });
    expect(completed.events).toMatchObject([
      {
        eventType: "program.lifecycle_status_changed",
        data: { fromStatus: "underway", toStatus: "completed", version: 1 },
      },
    ]);
    expect(await apply(["lifecycleStatus: underway", "lifecycleStatus: draft"])).toMatchObject(
      refusal("program.lifecycleStatus", "invalid_state_transition"),
    );
  });

  test("changes nothing of an archived programme", async ({ server }) => {
    const apply = importerAt(server);
    const archived = ["lifecycleStatus: underway", "lifecycleStatus: archived"] as const;
    await apply(archived);
    expect(await apply(archived)).toMatchObject(nothing);
    const changed = await apply(archived, ["intakeOpen: true", "intakeOpen: false"]);
    expect(changed).toMatchObject({ problem: { code: "program_archived" }, ...nothing });
  });

  test("never changes a published version", async ({ server }) => {
    const apply = importerAt(server);
    await apply();
    const label = ["label: Summary", "label: Abstract"] as const;
    const refused = await apply(["name: Application\n", "name: Application\n    version: 1\n"], label);
    expect(refused).toMatchObject(refusal("forms.0.version", "version_exists"));
    const next = await apply(["name: Application\n", "name: Application\n    version: 2\n"], label);
    expect(next.rows.toSorted()).toEqual(["schemas inserted", "tracks updated: schemaVersion"]);
    const { store } = server.app;
    const forms = await store.reader(server.businessId).find("schemas", {}, { limit: 10, orderBy: "schemaVersion" });
    expect(forms.map(({ schemaVersion, fields }) => [schemaVersion, fields[1]?.label, fields[1]?.fieldId])).toEqual([
      [1, "Summary", "fld_summary"],
      [2, "Abstract", "fld_summary"],
    ]);
  });

  test("does not change the rubric of a round that has reviews", async ({ server }) => {
    const apply = importerAt(server);
    await apply();
    const reader = server.app.store.reader(server.businessId);
    const [round] = await reader.find("rounds", { where: { sequence: 1 } }, { limit: 1 });
    if (!round) throw new Error("No round");
    const { programId, trackId, roundId } = round;
    const { submissionId } = await server.seed.submission({ trackId });
    const { reviewerId } = await server.seed.reviewer();
    const { assignmentId } = await server.seed.assignment({ programId, trackId, roundId, submissionId, reviewerId });
    await server.seed.review({ assignmentId, programId, roundId, submissionId, reviewerId });
    const refused = await apply(["label: Need", "label: Urgency"]);
    expect(refused).toMatchObject(refusal("tracks.0.rounds.0.rubric", "has_reviews"));
  });

  test("does not change the type of a person's field, and keeps fields that the file does not name", async ({
    server,
  }) => {
    const apply = importerAt(server);
    await apply();
    const type = await apply([
      "key: newsletter\n    label: Receives the newsletter\n    type: boolean",
      "key: newsletter\n    label: N\n    type: text",
    ]);
    expect(type).toMatchObject(refusal("personFields.1.type", "type_exists"));
    await apply(["key: newsletter", "key: phone_hours"]);
    const reader = server.app.store.reader(server.businessId);
    const active = await reader.find("personSchemas", { where: { active: true } }, { limit: 10 });
    expect(active).toMatchObject([{ schemaVersion: 2, sourceSchemaVersion: 1 }]);
    expect(active[0]?.fields.map(({ key }) => key)).toEqual(["pronouns", "newsletter", "phone_hours"]);
  });

  test("does not see another organisation's forms", async ({ server }) => {
    const apply = importerAt(server);
    await apply();
    const { config } = parseProgramConfig(programTemplate.replace(/\nforms:[\s\S]*?\nrubrics:/, "\nrubrics:"));
    const imports = createImports(server.app.store, systemClock);
    await expect(imports.applyConfig("biz_other", config, { dryRun: false })).rejects.toMatchObject({
      details: { issues: expect.arrayContaining([expect.objectContaining({ path: "tracks.0.form" })]) },
    });
  });
});

test("every demonstration programme is the same after an import into an empty database", async () => {
  const [seeded, empty] = [await openSeeded(), await openStore({ database: ":memory:" })];
  try {
    for (const { business, rows } of seeded.tenants) {
      const imports = createImports(seeded.store, systemClock);
      for (const { programId } of rows.programs) {
        const text = formatProgramConfig(await imports.describeProgram(business.businessId, programId));
        const { config } = parseProgramConfig(text);
        const again = await imports.applyConfig(business.businessId, config, { dryRun: true });
        expect(new Set(again.items.map(({ outcome }) => outcome))).toEqual(new Set(["unchanged"]));
        const copies = createImports(empty, systemClock);
        const copy = await copies.applyConfig(`biz_${programId}`, config, { dryRun: false });
        expect(formatProgramConfig(await copies.describeProgram(`biz_${programId}`, copy.programId))).toBe(text);
      }
    }
  } finally {
    await Promise.all([seeded.close(), empty.close()]);
  }
});
