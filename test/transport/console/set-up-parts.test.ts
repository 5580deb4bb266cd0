import { describe, expect } from "vitest";
import { openAs, type PageAnswer } from "../../identity/browser-session.ts";
import { test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";
import { applyPreview, editPart, openProgram, readInputs } from "./set-up-pages.ts";

/** Returns the mistakes of a page by the inputs that its summary leads to, if each also stands beside its input. */
function readMistakes({ text }: PageAnswer): Record<string, string | undefined> {
  const links = [...text.matchAll(/<li>\s*<a href="#([^"]+)">([^<]+)<\/a>/g)];
  return Object.fromEntries(
    links.map(([, input = "", message]) => {
      const beside = new RegExp(`id="${input}-mistake">([^<]+)<`).exec(text)?.[1];
      const tag = new RegExp(`<(?:input|select|textarea)[^>]*\\bid="${input}"[^>]*>`).exec(text)?.[0] ?? "";
      const isNamed = tag.includes('aria-invalid="true"') && tag.includes(`${input}-mistake`);
      return [input, isNamed && beside === message ? message : undefined];
    }),
  );
}

describe("a form of the set-up with mistakes", () => {
  test("shows each mistake beside its input, in the words of the form", async ({ server }) => {
    const { browser, path } = await openProgram(server);
    const wrong = [
      ["tracks/1/rounds/1", { startDate: "2035-09-15T12:00", endDate: "2035-09-14T12:00" }, "endDate"],
      ["tracks/1", { feeAmountMinor: "many" }, "feeAmountMinor"],
      ["tracks/new", { name: "", version: "9 Nothing" }, "name"],
      ["tracks/new", { name: "Letters", version: "9 Nothing" }, "version"],
      ["program", { "assignmentRules.domainField": "nothing" }, "assignmentRules.domainField"],
      ["texts", { "branding.pages.landing.ctaLabel": "x".repeat(41) }, "branding.pages.landing.ctaLabel"],
      ["forms/1", { "item.2.position": "1", "item.0.constraints.minLength": "9000" }, "item.0.constraints.minLength"],
      ["forms/1", { "item.5.label": "Team", "item.5.type": "select" }, "item.5.constraints.options"],
      ["rubrics/1", { "item.0.weight": "much" }, "item.0.weight"],
      ["person-fields", { "item.2.label": "More", "item.2.key": "Not a key" }, "item.2.key"],
      ["order", { "track.0": "last" }, "track.0"],
    ] as const;
    for (const [part, changes, input] of wrong) {
      const { data: refused, ...trace } = await recordTrace(server, () =>
        editPart(browser, `${path}/${part}`, changes),
      );
      expect([part, refused.status, readMistakes(refused), trace]).toEqual([
        part,
        422,
        { [input]: expect.any(String) },
        nothing,
      ]);
      expect(refused.text).toContain("<title>Mistake: ");
      // A choice that is not offered cannot be shown again.
      const { version: _, ...kept } = changes as Readonly<Record<string, string>>;
      expect(readInputs(refused)).toMatchObject(kept);
    }
    const dates = await editPart(browser, `${path}/tracks/1/rounds/1`, wrong[0][1]);
    expect(readMistakes(dates)).toEqual({ endDate: "End: Expected a time after “Start”" });
    const times = { intakeOpenDate: "2035-09-15T12:00", intakeCloseDate: "2035-09-14T12:00" };
    const intake = await editPart(browser, `${path}/tracks/1`, times);
    expect(readMistakes(intake)).toEqual({ intakeCloseDate: "Intake closes: Expected a time after “Intake opens”" });
  });
});

describe("the order of tracks and rounds", () => {
  test("changes after a preview, and nothing else does", async ({ server }) => {
    const { browser, path, reader, programId } = await openProgram(server);
    const added = await editPart(browser, `${path}/tracks/new`, { name: "Letters", version: "1 Application" });
    await applyPreview(browser, path, added);
    const preview = await editPart(browser, `${path}/order`, { "track.1": "1", "track.0.round.0": "2" });
    expect(preview.text.replaceAll(/\s+/g, " ")).toMatch(
      /Order of each track<\/td><td[^>]*>Small grants, Letters<\/td><td[^>]*>Letters, Small grants/,
    );
    const { rows, audit } = await recordTrace(server, () => applyPreview(browser, path, preview));
    expect({ rows: rows.toSorted(), audit: audit.toSorted() }).toEqual({
      rows: ["rounds updated: sequence", "rounds updated: sequence", "tracks updated: order", "tracks updated: order"],
      audit: ["round.updated", "round.updated", "track.updated", "track.updated"],
    });
    const tracks = await reader.find("tracks", { where: { programId } }, { limit: 5, orderBy: "order" });
    expect(tracks.map(({ name }) => name)).toEqual(["Letters", "Small grants"]);
    const rounds = await reader.find("rounds", { where: { programId } }, { limit: 5, orderBy: "sequence" });
    expect(rounds.map(({ name }) => name)).toEqual(["Panel", "First review"]);
  });
});

describe("the texts for applicants", () => {
  test("of a programme and a track are written and removed", async ({ server }) => {
    const { browser, path, reader, programId, trackId } = await openProgram(server);
    const texts = { "branding.headerText": "Welcome", "branding.pages.landing.heroTitle": "<b>Grants</b>" };
    const stored = { headerText: "Welcome", pages: { landing: { heroTitle: "<b>Grants</b>" } } };
    for (const [part, read] of [
      ["texts", () => reader.get("programs", programId)],
      ["tracks/1/texts", () => reader.get("tracks", trackId)],
    ] as const) {
      const preview = await editPart(browser, `${path}/${part}`, texts);
      expect(preview.text).not.toContain("<b>Grants");
      await applyPreview(browser, path, preview);
      expect(await read()).toMatchObject({ branding: stored });
      const removed = { "branding.headerText": "", "branding.pages.landing.heroTitle": "" };
      await applyPreview(browser, path, await editPart(browser, `${path}/${part}`, removed));
      expect((await read())?.branding).toEqual({});
    }
  });
});

describe("the fields of persons", () => {
  test("are added, renamed, moved and archived in a next version, and keep their type", async ({ server }) => {
    const { browser, path, reader } = await openProgram(server);
    const page = `${path}/person-fields`;
    const added = await editPart(browser, page, { "item.2.label": "Born on", "item.2.type": "date" });
    expect(added.text).toContain("The fields of persons get version 2.");
    await applyPreview(browser, path, added);
    const changes = {
      "item.0.label": "Own pronouns",
      "item.0.archived": "yes",
      "item.0.type": "number",
      "item.2.position": "1",
    };
    await applyPreview(browser, path, await editPart(browser, page, changes));
    const schemas = await reader.find("personSchemas", {}, { limit: 10, orderBy: "schemaVersion" });
    expect(schemas.map(({ active, schemaVersion: version }) => [version, active])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect(schemas[2]?.fields).toMatchObject([
      { key: "born_on", label: "Born on", type: "date", archived: false },
      { key: "pronouns", label: "Own pronouns", type: "text", archived: true },
      { key: "newsletter", type: "boolean" },
    ]);
    expect((await browser.open(path)).text).toContain("This is version 3.");
    expect((await editPart(browser, page, { "item.0.removed": "yes" })).text).toContain("The text changes nothing.");
  });

  test("are disclosed only by a person who sees sensitive data", async ({ server }) => {
    const { browser, path } = await openProgram(server);
    const page = `${path}/person-fields`;
    await applyPreview(browser, path, await editPart(browser, page, { "item.0.sensitivity": "pii" }));
    const limited = await openAs(server, { email: "otto@example.org" });
    const refused = await editPart(limited, page, { "item.0.sensitivity": "standard" });
    expect(readMistakes(refused)).toEqual({ "item.0.sensitivity": expect.stringContaining("The field is sensitive") });
  });
});
