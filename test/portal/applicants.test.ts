import { expect } from "vitest";
import { tenantTest as test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";
import { actAt, lastEntries, loadRow } from "./portal-actions.ts";

const noor = { email: "Noor@example.org", name: "Noor Haddad" };

test("registering creates an applicant, who then acts under its id", async ({ server }) => {
  const act = actAt(server);
  const person = await server.seed.person({ primaryEmail: "noor@example.org" });
  const { trackId, programId } = await server.seed.track();
  const trace = await recordTrace(server, () => act("register_applicant", { trackId, ...noor }));
  const { applicantId } = trace.data;
  expect(trace).toMatchObject({
    data: { applicantId: expect.stringMatching(/^app_/), personId: person.personId, trackId, registered: true },
    rows: ["applicants inserted"],
    audit: ["applicant.registered"],
    events: [
      {
        eventType: "applicant.registered",
        data: { businessId: server.businessId, programId, applicantId, personId: person.personId, trackId },
      },
    ],
  });
  const [entry] = await lastEntries(server, 1);
  expect(entry).toMatchObject({ actorType: "applicant", actorId: applicantId, tokenId: null, entityId: applicantId });
  expect(JSON.stringify([entry, trace.events])).not.toMatch(/noor|haddad/i);
  expect(await loadRow(server, "applicants", applicantId)).toMatchObject({
    email: noor.email,
    name: noor.name,
    programIds: [programId],
    trackIds: [trackId],
    createdBy: applicantId,
    registeredAt: server.clock.now().toISOString(),
  });
});

test("registering again on a track changes nothing; on another it adds the track", async ({ server }) => {
  const act = actAt(server);
  const [one, two] = [await server.seed.track(), await server.seed.track()];
  const { applicantId } = await act("register_applicant", { trackId: one.trackId, ...noor });
  const again = { trackId: one.trackId, email: "NOOR@example.org", name: "Somebody else" };
  const repeated = await recordTrace(server, () => act("register_applicant", again));
  expect(repeated).toMatchObject({ data: { applicantId, registered: false }, ...nothing });
  const further = await recordTrace(server, () => act("register_applicant", { ...again, trackId: two.trackId }));
  expect(further).toMatchObject({ data: { applicantId, registered: true }, audit: ["applicant.registered"] });
  expect(further.rows).toEqual(["applicants updated: programIds trackIds"]);
  expect(further.events.map(({ eventType }) => eventType)).toEqual(["applicant.registered"]);
  const row = await loadRow(server, "applicants", applicantId);
  expect(row).toMatchObject({ name: noor.name, email: noor.email, trackIds: [one.trackId, two.trackId] });
});

test("registering is refused where applications are closed", async ({ server }) => {
  const act = actAt(server);
  const archived = await server.seed.program({ lifecycleStatus: "archived" });
  const past = "2026-11-01T00:00:00.000Z";
  const cases = [
    [await server.seed.track({ intakeOpen: false }), "intake_closed"],
    [await server.seed.track({ intakeCloseDate: past }), "intake_closed"],
    [await server.seed.track({ programId: archived.programId }), "program_archived"],
    [{ trackId: "trk_none" }, "not_found"],
    [await (await server.other()).seed.track(), "not_found"],
  ] as const;
  for (const [{ trackId }, code] of cases) {
    const trace = await recordTrace(server, () => act("register_applicant", { trackId, ...noor }));
    expect(trace).toMatchObject({ problem: { code }, ...nothing });
  }
  const { trackId } = await server.seed.track();
  const unfit = [{ email: "noor" }, { name: "" }, { email: `${"n".repeat(250)}@example.org` }, { more: 1 }];
  for (const given of unfit) {
    const registration = act("register_applicant", { trackId, ...noor, ...given });
    await expect(registration).rejects.toMatchProblem("validation_failed");
  }
});
