import { describe, expect } from "vitest";
import { AssignmentStatus } from "../../../src/contract/assignments.ts";
import { readPages, seedMany } from "../../support/data/lists.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

interface Listed {
  readonly reviewerId: string;
}

const idsOf = (rows: readonly Listed[]) => rows.map(({ reviewerId }) => reviewerId);

async function panelOf({ seed }: TestServer) {
  const given = [
    { firstName: "Élodie", lastName: "Brun", affiliation: "Institut Pasteur", email: "elodie@example.org" },
    { firstName: "Rita", lastName: "Okafor", affiliation: "100% Water_Lab", email: "rita.o@example.org" },
    { firstName: null, lastName: null, affiliation: null, email: "Plain@Example.org", status: "invited" as const },
    { firstName: "Rita", lastName: "O'Neil", affiliation: "A\\B Consult", email: "neil@example.org" },
  ];
  const places = [
    { programIds: ["prg_a"], roundIds: ["rnd_1"] },
    { programIds: ["prg_a", "prg_b"], roundIds: ["rnd_1", "rnd_2"] },
    { programIds: ["prg_b"], roundIds: ["rnd_2"] },
    { programIds: [], roundIds: [] },
  ];
  return seedMany(given.length, (index) => seed.reviewer({ ...given[index], ...places[index] }));
}

describe.each(surfaces)("listing reviewers over %s", (surface) => {
  test("returns the reviewers that match each filter and all filters together, newest first", async ({ server }) => {
    const chair = await server.as(surface, ["reviewers:read"]);
    await panelOf(await server.other());
    const [elodie = "", rita = "", plain = "", neil = ""] = idsOf(await panelOf(server));
    const answers: readonly [query: Record<string, string>, found: string[]][] = [
      [{}, [neil, plain, rita, elodie]],
      [{ programId: "prg_a" }, [rita, elodie]],
      [{ roundId: "rnd_2" }, [plain, rita]],
      [{ status: "invited" }, [plain]],
      [{ status: "declined" }, []],
      [{ programId: "prg_b", roundId: "rnd_2", status: "active" }, [rita]],
      [{ search: "rita" }, [neil, rita]],
      [{ search: "RITA", roundId: "rnd_1" }, [rita]],
      [{ search: "élo" }, [elodie]],
      [{ search: "ÉLODIE brun" }, [elodie]],
      [{ search: "okafor rita" }, [rita]],
      [{ search: "rita pasteur" }, []],
      [{ search: "pasteur" }, [elodie]],
      [{ search: "plain@example.org" }, [plain]],
      [{ search: "o'n" }, [neil]],
      [{ search: "%" }, [rita]],
      [{ search: "r_b" }, []],
      [{ search: "r_l" }, [rita]],
      [{ search: "100%" }, [rita]],
      [{ search: "1%er" }, []],
      [{ search: "\\" }, [neil]],
      [{ search: "a\\b" }, [neil]],
    ];
    for (const [query, found] of answers) {
      expect(idsOf(await chair.list_reviewers(query)), JSON.stringify(query)).toEqual(found);
      const pages = await readPages<Listed>(chair, "list_reviewers", { ...query, limit: 1 });
      expect(idsOf(pages.flat()), JSON.stringify(query)).toEqual(found);
    }
    const refused = [{ search: "" }, { search: "x".repeat(201) }, { status: "retired" }, { role: "reviewer" }];
    for (const query of refused) {
      const issues = [expect.objectContaining({ path: Object.keys(query)[0] })];
      await expect(chair.list_reviewers(query)).rejects.toMatchProblem("validation_failed", { issues });
    }
  });

  test("counts a reviewer's active and completed assignments", async ({ server }) => {
    const chair = await server.as(surface);
    const round = await server.seed.round();
    const { trackId } = round;
    const [busy, idle] = [await server.seed.reviewer(), await server.seed.reviewer()];
    for (const status of AssignmentStatus.options) {
      const { submissionId } = await server.seed.submission({ trackId });
      const home = { ...round, submissionId, reviewerId: busy.reviewerId, status };
      for (const active of [true, true, false]) {
        const { programId, roundId, reviewerId } = home;
        await server.seed.assignment({ programId, trackId, roundId, submissionId, reviewerId, status, active });
      }
    }
    const counts = { assigned: 8, completed: 2 };
    expect(await chair.list_reviewers()).toEqual([
      { ...idle, assignmentCounts: { assigned: 0, completed: 0 } },
      { ...busy, assignmentCounts: counts },
    ]);
    expect(await chair.get_reviewer({ reviewerId: busy.reviewerId })).toEqual({ ...busy, assignmentCounts: counts });
  });

  test("does not find another tenant's reviewer", async ({ server }) => {
    const chair = await server.as(surface);
    const foreign = await (await server.other()).seed.reviewer();
    for (const reviewerId of [foreign.reviewerId, "rvw_none"]) {
      const call = () => chair.get_reviewer({ reviewerId });
      expect(await recordTrace(server, call)).toMatchObject({ problem: { code: "not_found" }, ...nothing });
    }
  });
});
