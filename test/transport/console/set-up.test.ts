import { describe, expect } from "vitest";
import { formatProgramConfig } from "../../../src/imports/format-config.ts";
import { parseProgramConfig } from "../../../src/imports/parse-config.ts";
import { programTemplate } from "../../../src/imports/template.ts";
import { openAs } from "../../identity/browser-session.ts";
import { test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";
import { applyPreview, editPart, openProgram, readInputs } from "./set-up-pages.ts";

describe("the set-up of a programme in the console", () => {
  test("changes a round's deadline after a preview, in the name of the person", async ({ server }) => {
    const { browser, path, reader, programId } = await openProgram(server);
    const page = `${path}/tracks/1/rounds/1`;
    const { data: unchanged, ...none } = await recordTrace(server, () => editPart(browser, page, {}));
    expect([unchanged.text.includes("The text changes nothing."), none]).toEqual([true, nothing]);
    const { data: preview, ...trace } = await recordTrace(server, () =>
      editPart(browser, page, { deadline: "2035-09-15T12:00", startDate: "" }),
    );
    expect(trace).toEqual(nothing);
    expect(preview.text.replaceAll(/\s+/g, " ")).toMatch(
      /Track Small grants, round First review<\/th> <td[^>]*>Deadline<\/td><td[^>]*>2035-08-31 23:59 UTC<\/td><td[^>]*>2035-09-15 12:00 UTC/,
    );
    const applied = await recordTrace(server, () => applyPreview(browser, path, preview));
    expect(applied).toMatchObject({ rows: ["rounds updated: deadline"], audit: ["round.updated"] });
    expect(applied.data.headers.get("location")).toBe(`${path}?done=changed`);
    const user = await server.app.store.users.findByEmail("olga@example.org");
    const { rows } = await reader.pageAudit({ programId, entityType: "round" }, { limit: 1 });
    expect(rows).toMatchObject([{ actorType: "user", actorId: user?.userId }]);
    expect((await applyPreview(browser, path, preview)).headers.get("location")).toBe(`${path}?done=changed`);
  });

  test("refuses a change for a set-up that somebody else has changed", async ({ server }) => {
    const { browser, path } = await openProgram(server);
    const page = `${path}/tracks/1/rounds/1`;
    const opened = readInputs(await browser.open(page));
    const preview = await editPart(browser, page, { deadline: "2035-09-15T12:00" });
    const other = await openAs(server, { email: "otto@example.org" });
    await applyPreview(other, path, await editPart(other, `${path}/tracks/1`, { intakeCloseDate: "2035-07-15T12:00" }));
    const { data: stale, ...trace } = await recordTrace(server, () => applyPreview(browser, path, preview));
    expect([stale.status, trace]).toEqual([409, nothing]);
    expect(stale.text).toMatch(/Somebody else changed the set-up[\s\S]*2035-07-15 12:00 UTC/);
    const refused = await browser.submit(page, { ...opened, deadline: "2035-09-15T12:00" });
    expect([refused.status, refused.text.includes("Somebody else changed the set-up")]).toEqual([409, true]);
  });

  test("publishes the next version of a form, and says which submissions keep which", async ({ server }) => {
    const { browser, path, reader, trackId, programId } = await openProgram(server);
    const [track] = await reader.find("tracks", { where: { trackId } }, { limit: 1 });
    const { schemaId = "", schemaVersion = 0 } = track ?? {};
    await server.seed.submission({ trackId, programId, schemaId, schemaVersion });
    const page = `${path}/forms/1`;
    expect((await browser.open(page)).text).toMatch(/1 submission keeps\s+version 1 of Application/);
    const changes = {
      "item.3.removed": "yes",
      "item.1.position": "1",
      "item.5.label": "Zahl der Köpfe",
      "item.5.type": "number",
      "item.5.constraints.min": "1",
    };
    const preview = await editPart(browser, page, changes);
    expect(preview.text).toMatch(/The form Application gets version 2\.[\s\S]*1 submission keeps\s+version 1/);
    await applyPreview(browser, path, preview);
    const forms = await reader.find("schemas", {}, { limit: 10, orderBy: "schemaVersion" });
    expect(forms.map(({ schemaVersion: version, fields }) => [version, fields.map(({ fieldId }) => fieldId)])).toEqual([
      [1, ["fld_title", "fld_summary", "fld_domain", "fld_budget", "fld_date_of_birth"]],
      [2, ["fld_summary", "fld_title", "fld_domain", "fld_date_of_birth", "fld_zahl_der_kopfe"]],
    ]);
    expect(await reader.get("tracks", trackId)).toMatchObject({ schemaVersion: 2 });
    const wrong = await editPart(browser, page, { "item.0.constraints.minLength": "9000" });
    expect([wrong.status, wrong.text.includes("Expected at most 2000, the upper bound")]).toEqual([422, true]);
    expect(readInputs(wrong)).toMatchObject({ "item.0.constraints.minLength": "9000" });
  });

  test("keeps the rubric of a round that has reviews, and gives other rounds the next version", async ({ server }) => {
    const { browser, path, reader, trackId, programId } = await openProgram(server);
    const [first, second] = await reader.find("rounds", { where: { programId } }, { limit: 2, orderBy: "sequence" });
    const { submissionId } = await server.seed.submission({ trackId });
    const { reviewerId } = await server.seed.reviewer();
    const ids = { programId, trackId, submissionId, reviewerId, roundId: first?.roundId ?? "" };
    const { assignmentId } = await server.seed.assignment(ids);
    await server.seed.review({ ...ids, assignmentId });
    const page = `${path}/rubrics/1`;
    const refused = await editPart(browser, page, { "item.0.weight": "3", user: "0.0" });
    expect([refused.status, refused.text.includes("The round has reviews by another rubric")]).toEqual([422, true]);
    const preview = await editPart(browser, page, { "item.0.weight": "3", user: "0.1" });
    await applyPreview(browser, path, preview);
    const rounds = await reader.find("rounds", { where: { programId } }, { limit: 2, orderBy: "sequence" });
    expect(rounds.map(({ rubricVersion }) => rubricVersion)).toEqual([1, 2]);
    expect(rounds[1]?.rubricId).toBe(second?.rubricId);
  });

  test("adds tracks, rounds, forms and rubrics, and changes the programme", async ({ server }) => {
    const { browser, path, reader, programId } = await openProgram(server);
    const steps = [
      ["forms/new", { name: "Letter", "item.0.label": "Letter" }],
      ["tracks/new", { name: "Letters", version: "1 Letter", intakeOpen: "yes" }],
      ["rubrics/new", { name: "Style", scoringMethod: "sum", "item.0.label": "Style" }],
      ["tracks/2/rounds/new", { name: "Reading", version: "1 Style", deadline: "2035-09-15T12:00" }],
      ["program", { description: "", lifecycleStatus: "completed", "assignmentRules.maxPerReviewer": "7" }],
    ] as const;
    for (const [part, changes] of steps) {
      const preview = await editPart(browser, `${path}/${part}`, changes);
      expect([part, (await applyPreview(browser, path, preview)).status]).toEqual([part, 303]);
    }
    const tracks = await reader.find("tracks", { where: { programId } }, { limit: 5, orderBy: "order" });
    expect(tracks).toMatchObject([{ name: "Small grants" }, { name: "Letters", intakeOpen: true }]);
    const where = { trackId: tracks[1]?.trackId };
    expect(await reader.find("rounds", { where }, { limit: 2 })).toMatchObject([
      { name: "Reading", deadline: "2035-09-15T12:00:00.000Z", rubricVersion: 1 },
    ]);
    expect(await reader.get("programs", programId)).toMatchObject({
      description: null,
      lifecycleStatus: "completed",
      assignmentRules: { maxPerReviewer: 7, domainFieldId: "fld_domain" },
    });
    const refused = await editPart(browser, `${path}/program`, { lifecycleStatus: "draft" });
    expect([refused.status, refused.text.includes('href="#lifecycleStatus"')]).toEqual([422, true]);
    for (const missing of ["tracks/9", "tracks/1/rounds/9", "forms/0", "rubrics/x"]) {
      expect((await browser.open(`${path}/${missing}`)).status).toBe(404);
    }
  });

  test("is downloaded with reviewers only by people who see sensitive data, who alone may disclose a field", async ({
    server,
  }) => {
    const { browser, path } = await openProgram(server);
    const download = await browser.open(`${path}/programme.yaml`);
    expect(download.headers.get("content-disposition")).toContain("programme.yaml");
    expect(formatProgramConfig(parseProgramConfig(download.text).config)).toContain("ada@example.org");
    const text = download.text.replace(
      /(label: Pronouns\s+type: text\s+required: false\s+sensitivity:) standard/,
      "$1 pii",
    );
    const hidden = await browser.submit(`${path}/preview`, { text });
    await applyPreview(browser, path, hidden);
    const limited = await openAs(server, { email: "otto@example.org" });
    const seen = await limited.open(`${path}/programme.yaml`);
    expect(seen.text).not.toContain("ada@example.org");
    expect((await limited.open(path)).text).not.toContain("ada@example.org");
    const disclosed = await limited.submit(`${path}/preview`, {
      text: seen.text.replaceAll("sensitivity: pii", "sensitivity: standard"),
    });
    expect(disclosed.status).toBe(422);
    const renamed = await limited.submit(`${path}/preview`, {
      text: seen.text.replace("Community Fund", "Other Fund"),
    });
    expect([renamed.status, renamed.text.includes("this is another one")]).toEqual([422, true]);
  });

  test("is for the owners of its organisation, from a page of this server", async ({ server }) => {
    const { browser, path } = await openProgram(server);
    const pages = ["", "/program", "/texts", "/order", "/person-fields", "/tracks/1", "/forms/new", "/programme.yaml"];
    for (const role of ["staff", "viewer"] as const) {
      const other = await openAs(server, { email: `${role}@example.org`, role });
      for (const page of pages) expect((await other.open(path + page)).status).toBe(403);
      expect((await other.submit(`${path}/apply`, { text: programTemplate })).status).toBe(403);
      expect((await other.open(path.replace("/set-up", ""))).text).not.toContain("/set-up");
    }
    const foreign = await openAs(await server.other(), { email: "fay@example.org" });
    for (const page of pages) expect((await foreign.open(path + page)).status).toBe(404);
    expect((await foreign.submit(`${path}/apply`, { text: programTemplate })).status).toBe(404);
    const forged = { origin: "https://collector.example.net" };
    for (const page of ["/program", "/apply", "/preview"]) {
      expect((await browser.submit(path + page, { text: programTemplate }, forged)).status).toBe(403);
    }
  });
});
