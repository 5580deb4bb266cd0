import { describe, expect } from "vitest";
import { readPages, seedMany } from "../../support/data/lists.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";

interface Listed {
  readonly applicantId: string;
}

const idsOf = (rows: readonly Listed[]) => rows.map(({ applicantId }) => applicantId);

describe.each(surfaces)("listing applicants over %s", (surface) => {
  test("shows the legacy shape with the number of submissions", async ({ server }) => {
    const clerk = await server.as(surface, ["applicants:read"]);
    const { trackId, programId } = await server.seed.track();
    const { personId } = await server.seed.person();
    const row = await server.seed.applicant({ personId, programIds: [programId], trackIds: [trackId] });
    const { applicantId } = row;
    await server.seed.submission({ trackId, applicantId });
    await server.seed.submission({ trackId, applicantId, state: "WITHDRAWN" });
    await server.seed.submission({ trackId });
    await (await server.other()).seed.submission({ applicantId });
    const { personId: _, ...shown } = row;
    expect(await clerk.list_applicants()).toEqual([{ ...shown, submissionCount: 2 }]);
  });

  async function createSetup({ seed }: TestServer) {
    const given = [
      { programIds: ["prg_a"], trackIds: ["trk_1"] },
      { programIds: ["prg_a", "prg_b"], trackIds: ["trk_2", "trk_3"] },
      { programIds: ["prg_b"], trackIds: ["trk_3"] },
      { programIds: [], trackIds: [] },
    ];
    return seedMany(given.length, (index) => seed.applicant({ email: `a${index}@example.org`, ...given[index] }));
  }

  test("returns the applicants that match each filter and all filters together, newest first", async ({ server }) => {
    const clerk = await server.as(surface);
    await createSetup(await server.other());
    const [one = "", two = "", three = "", four = ""] = idsOf(await createSetup(server));
    const answers: readonly [query: Record<string, string>, found: string[]][] = [
      [{}, [four, three, two, one]],
      [{ programId: "prg_a" }, [two, one]],
      [{ programId: "prg_b" }, [three, two]],
      [{ trackId: "trk_3" }, [three, two]],
      [{ programId: "prg_a", trackId: "trk_3" }, [two]],
      [{ programId: "prg_a", trackId: "trk_none" }, []],
      [{ programId: "PRG_A" }, []],
    ];
    for (const [query, found] of answers) {
      expect(idsOf(await clerk.list_applicants(query)), JSON.stringify(query)).toEqual(found);
      const pages = await readPages<Listed>(clerk, "list_applicants", { ...query, limit: 1 });
      expect(idsOf(pages.flat()), JSON.stringify(query)).toEqual(found);
    }
  });

  test("accepts a cursor only with the same filters and tenant, expanded or not", async ({ server }) => {
    const clerk = await server.as(surface);
    const stranger = await (await server.other()).as(surface);
    await server.seed.personSchema();
    await createSetup(server);
    const query = { programId: "prg_a", limit: 1 };
    const { page, data } = await clerk.call("list_applicants", query);
    const lastEvaluatedKey = page?.lastEvaluatedKey;
    for (const call of [
      () => stranger.list_applicants({ ...query, lastEvaluatedKey }),
      () => clerk.list_applicants({ lastEvaluatedKey }),
      () => clerk.list_applicants({ ...query, trackId: "trk_1", lastEvaluatedKey }),
      () => clerk.list_reviewers({ ...query, lastEvaluatedKey }),
    ]) {
      await expect(call()).rejects.toMatchProblem("invalid_cursor");
    }
    const rest = await clerk.list_applicants({ ...query, lastEvaluatedKey, includePersonFieldIds: "fld_craft" });
    expect(rest).toHaveLength(1);
    expect(idsOf(rest)).not.toEqual(idsOf(data));
  });
});
