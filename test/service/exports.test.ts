import { describe, expect } from "vitest";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { personFieldIds } from "../support/data/seed-factory.ts";
import { surfaces, test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";

const { standard, pii, restricted } = personFieldIds;

describe.each(surfaces)("exports over %s", (surface) => {
  test("an export starts as pending, and shows its parsed filters", async ({ server }) => {
    const granted: readonly Scope[] = ["exports:write", "exports:read"];
    const clerk = await server.as(surface, granted);
    const { programId, trackId } = await server.seed.track({
      programId: (await server.seed.program({ lifecycleStatus: "archived" })).programId,
    });
    const filters = {
      state: "IN_REVIEW",
      submittedFrom: "2026-11-01T01:00:00+01:00",
      submittedTo: "2026-11-30T00:00:00Z",
    };
    const trace = await recordTrace(server, () => clerk.create_export({ programId, trackId, ...filters }));
    const now = server.clock.now().toISOString();
    const none = {
      downloadUrl: null,
      downloadExpiresAt: null,
      sizeBytes: null,
      sha256: null,
      errorCode: null,
      completedAt: null,
    };
    expect(trace.data).toEqual({
      exportId: expect.stringMatching(/^exp_/),
      businessId: server.businessId,
      programId,
      trackId,
      filters: {
        state: "IN_REVIEW",
        submittedFrom: "2026-11-01T00:00:00.000Z",
        submittedTo: "2026-11-30T00:00:00.000Z",
      },
      persons: null,
      status: "pending",
      ...none,
      version: 0,
      createdAt: now,
      updatedAt: now,
      createdBy: expect.stringMatching(/^tok_/),
      updatedBy: trace.data.createdBy,
    });
    expect(trace).toMatchObject({ rows: ["exports inserted"], events: [], audit: ["export.created"] });
    expect(await clerk.get_export({ exportId: trace.data.exportId })).toEqual(trace.data);
    // The job runs as the token that asked; no answer shows as what.
    const row = await server.app.store.reader(server.businessId).get("exports", trace.data.exportId);
    expect(row).toMatchObject({ tokenId: trace.data.createdBy, scopes: granted });
  });

  test("an export of a whole programme has no filters", async ({ server }) => {
    const clerk = await server.as(surface);
    const { programId } = await server.seed.program();
    expect(await clerk.create_export({ programId })).toMatchObject({
      trackId: null,
      filters: { state: null, submittedFrom: null, submittedTo: null },
      persons: null,
    });
  });

  test("an export of an unknown state starts, with a warning that nothing matches", async ({ server }) => {
    const clerk = await server.as(surface);
    const { programId } = await server.seed.program();
    for (const state of ["in_review", "S", "X".repeat(64)]) {
      const job = await clerk.create_export({ programId, state });
      expect(job).toMatchObject({ status: "pending", filters: { state } });
      expect(job.warnings).toEqual([expect.stringContaining("The states are DRAFT, SUBMITTED")]);
      expect(await clerk.get_export({ exportId: job.exportId })).toEqual(job);
      server.clock.advance(300_000);
    }
    expect((await clerk.create_export({ programId, state: "WINNER" })).warnings).toBeUndefined();
  });

  const day = "2026-11-20T00:00:00Z";
  const refused: readonly [given: object, ...paths: string[]][] = [
    [{ programId: undefined }, "programId"],
    [{ state: "" }, "state"],
    [{ state: "X".repeat(65) }, "state"],
    [{ submittedFrom: "2026-11-20" }, "submittedFrom"],
    [{ submittedTo: "2026-11-20T00:00:00" }, "submittedTo"],
    [{ submittedFrom: day, submittedTo: "2026-11-20T00:30:00+01:00" }, "submittedFrom", "submittedTo"],
    [{ persons: {} }, "persons.fieldIds"],
    [{ persons: { fieldIds: [""] } }, "persons.fieldIds.0"],
    [{ persons: { fieldIds: ["x".repeat(256)] } }, "persons.fieldIds.0"],
    [{ persons: { fieldIds: Array(26).fill(standard) } }, "persons.fieldIds"],
    [{ persons: { fieldIds: [standard, "fld_none", "toString"] } }, "persons.fieldIds.1", "persons.fieldIds.2"],
    [{ persons: { fieldIds: [standard], all: true } }, "persons.all"],
    [{ format: "csv" }, "format"],
  ];

  test("unknown input is refused with its path, and no export starts", async ({ server }) => {
    const clerk = await server.as(surface);
    await server.seed.personSchema();
    const { programId } = await server.seed.program();
    for (const [given, ...paths] of refused) {
      const trace = await recordTrace(server, () => clerk.create_export({ programId, ...given }));
      expect(trace, String(paths)).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
      expect(trace.problem?.details["issues"], String(paths)).toMatchObject(paths.map((path) => ({ path })));
    }
    // None of them has used the quota up.
    await clerk.create_export({ programId, submittedFrom: day, submittedTo: day });
  });

  test("the persons section needs the scopes of its fields", async ({ server }) => {
    await server.seed.personSchema();
    const { programId } = await server.seed.program();
    const start = async (granted: readonly Scope[], ...fieldIds: string[]) => {
      const clerk = await server.as(surface, ["exports:write", ...granted]);
      return recordTrace(server, () => clerk.create_export({ programId, persons: { fieldIds } }));
    };
    const sensitive = ["persons:read", "persons:sensitive:read"] as const;
    const taken = [
      [["persons:read"], [standard], [standard]],
      [["persons:read"], [], []],
      [sensitive, [pii, standard, restricted, pii], [pii, standard, restricted]],
    ] as const;
    for (const [granted, fieldIds, kept] of taken) {
      const { data } = await start(granted, ...fieldIds);
      expect(data).toMatchObject({ persons: { fieldIds: kept }, status: "pending" });
    }
    const lacking = [
      [[], [standard], "persons:read"],
      [[], [], "persons:read"],
      [["persons:sensitive:read"], [pii], "persons:read"],
      [["persons:read"], [standard, pii], "persons:sensitive:read"],
      [["persons:read"], [restricted], "persons:sensitive:read"],
    ] as const;
    for (const [granted, fieldIds, scope] of lacking) {
      const problem = { code: "insufficient_scope", details: { requiredScopes: [scope] } };
      expect(await start(granted, ...fieldIds)).toMatchObject({ problem, ...nothing });
    }
  });

  test("the programme must be the tenant's own, and the track must belong to it", async ({ server }) => {
    const clerk = await server.as(surface);
    const [here, there] = [await server.seed.track(), await server.seed.track()];
    const foreign = await (await server.other()).seed.track();
    const elsewhere = [
      { programId: "prg_none" },
      { programId: foreign.programId },
      { programId: here.programId, trackId: there.trackId },
      { programId: here.programId, trackId: foreign.trackId },
      { programId: here.programId, trackId: "trk_none" },
    ];
    for (const given of elsewhere) {
      const trace = await recordTrace(server, () => clerk.create_export(given));
      expect(trace).toMatchObject({ problem: { code: "not_found" }, ...nothing });
    }
  });

  test("an export job shows its status, and another tenant's job is not found", async ({ server }) => {
    const clerk = await server.as(surface, ["exports:read"]);
    const other = await server.other();
    const { programId } = await server.seed.program();
    const states = [
      { status: "pending" },
      { status: "failed", errorCode: "internal_error" },
      { status: "completed", sizeBytes: 12, sha256: "0".repeat(64), completedAt: "2026-11-20T08:00:00.000Z" },
    ] as const;
    for (const state of states) {
      const { exportId } = await server.seed.exportJob({
        programId,
        ...state,
        tokenId: "tok_1",
        scopes: ["persons:read"],
      });
      const job = await clerk.get_export({ exportId });
      expect(job).toMatchObject({ exportId, ...state });
      for (const hidden of ["tokenId", "scopes"]) expect(job).not.toHaveProperty(hidden);
      if (state.status !== "completed") expect(job).toMatchObject({ downloadUrl: null, downloadExpiresAt: null });
    }
    const foreign = await other.seed.exportJob({ programId: (await other.seed.program()).programId });
    for (const exportId of [foreign.exportId, "exp_none"]) {
      const trace = await recordTrace(server, () => clerk.get_export({ exportId }));
      expect(trace).toMatchObject({ problem: { code: "not_found" }, ...nothing });
    }
  });
});
