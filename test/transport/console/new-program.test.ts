import { describe, expect } from "vitest";
import { programTemplate } from "../../../src/imports/template.ts";
import { maxSetUpFormBytes } from "../../../src/transport/console/set-up/set-up-text.ts";
import { type BrowserSession, openAs, type PageAnswer } from "../../identity/browser-session.ts";
import { type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const likeTemplate = { like: "", name: "Roof Fund", year: "2031", opensOn: "2031-02-01" };

/** Returns the text that a preview's form would send. */
function readText({ text }: PageAnswer): string {
  const [, value = ""] = /<input type="hidden" name="text" value="([^"]*)"/.exec(text) ?? [];
  return value.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&");
}

/** Creates a programme by the pages. Returns its path. */
async function createProgram(browser: BrowserSession, form = likeTemplate): Promise<string> {
  const preview = await browser.submit("/programmes/new/like", form);
  const made = await browser.submit("/programmes/new/apply", { text: readText(preview) });
  expect([preview.status, made.status]).toEqual([200, 303]);
  return made.headers.get("location")?.split("/set-up")[0] ?? "";
}

function listPrograms({ app, businessId }: TestServer) {
  return app.store.reader(businessId).find("programs", {}, { limit: 10 });
}

describe("a new programme in the console", () => {
  test("is previewed without a change, and created once, in the name of the person", async ({ server }) => {
    const browser = await openAs(server);
    const preview = await browser.submit("/programmes/new/like", likeTemplate);
    expect(preview.text).toContain("Nothing is written yet");
    expect(preview.text).toContain("2031-07-31");
    expect(await listPrograms(server)).toEqual([]);
    const text = readText(preview);
    const both = await Promise.all([1, 2].map(() => browser.submit("/programmes/new/apply", { text })));
    const [program, ...others] = await listPrograms(server);
    expect(others).toEqual([]);
    const path = `/programmes/${program?.programId}/set-up?done=created`;
    expect(both.map(({ status, headers }) => [status, headers.get("location")])).toEqual([
      [303, path],
      [303, path],
    ]);
    const user = await server.app.store.users.findByEmail("olga@example.org");
    const { rows } = await server.app.store
      .reader(server.businessId)
      .pageAudit({ programId: program?.programId }, { limit: 50 });
    expect(new Set(rows.map(({ actorType, actorId }) => `${actorType} ${actorId}`))).toEqual(
      new Set([`user ${user?.userId}`]),
    );
    expect(await recordTrace(server, () => browser.submit("/programmes/new/apply", { text }))).toMatchObject(nothing);
    const later = await browser.submit("/programmes/new/apply", { text: text.replace("Small grants", "Large grants") });
    expect([later.status, later.text.includes("A programme with this name and year exists")]).toEqual([422, true]);
  });

  test("is like last year's with its dates moved, and has no submissions, persons or reviewers", async ({ server }) => {
    const browser = await openAs(server, { seesSensitive: true });
    const text = programTemplate.replace("intakeOpen: true", "intakeOpen: true\n    intakeOpenDate: 2035-03-01");
    await browser.submit("/programmes/new/apply", { text });
    const [last] = await listPrograms(server);
    const like = last?.programId ?? "";
    const path = await createProgram(browser, { like, name: "Community Fund", year: "2036", opensOn: "2036-03-02" });
    const reader = server.app.store.reader(server.businessId);
    const programId = path.split("/").at(-1) ?? "";
    expect(await reader.get("programs", programId)).toMatchObject({
      lifecycleStatus: "draft",
      startDate: "2036-01-03T00:00:00.000Z",
    });
    const [track] = await reader.find("tracks", { where: { programId } }, { limit: 1 });
    expect(track).toMatchObject({
      intakeOpen: false,
      intakeOpenDate: "2036-03-02T00:00:00.000Z",
      intakeCloseDate: "2036-07-01T23:59:59.999Z",
      schemaVersion: 1,
    });
    expect(await reader.count("reviewers", { has: { programIds: programId } })).toBe(0);
    expect(await reader.count("schemas", {})).toBe(1);
  });

  test("is refused with the line and the name of each mistake, and nothing is written", async ({ server }) => {
    const browser = await openAs(server);
    const text = programTemplate.replace("year: 2035", "year: soon").replace("type: textarea", "type: essay");
    const { data: refused, ...trace } = await recordTrace(server, () =>
      browser.submit("/programmes/new/preview", { text }),
    );
    expect([refused.status, trace]).toEqual([422, nothing]);
    expect(refused.text).toMatch(/The text has 2 mistakes\. Nothing was written\./);
    const line = text.split("\n").findIndex((each) => each.includes("soon")) + 1;
    expect(refused.text.replaceAll(/\s+/g, " ")).toMatch(
      new RegExp(`<th role="rowheader" scope="row">${line}</th>.*year: soon.*program.year`),
    );
    expect(refused.text).not.toContain("Create the programme");
    expect((await browser.submit("/programmes/new/apply", { text })).status).toBe(422);
    expect(await listPrograms(server)).toEqual([]);
  });

  test("is for owners alone, from a page of this server, in a text of bounded size", async ({ server }) => {
    const text = programTemplate;
    for (const role of ["staff", "viewer"] as const) {
      const browser = await openAs(server, { email: `${role}@example.org`, role });
      expect((await browser.open("/programmes/new")).status).toBe(403);
      expect((await browser.submit("/programmes/new/apply", { text })).status).toBe(403);
      expect((await browser.open("/programmes")).text).not.toContain("New programme");
    }
    const owner = await openAs(server);
    const forged = await owner.submit("/programmes/new/apply", { text }, { origin: "https://collector.example.net" });
    expect(forged.status).toBe(403);
    expect((await owner.submit("/programmes/new/apply", { text: "x".repeat(maxSetUpFormBytes) })).status).toBe(413);
    const foreign = await server.other();
    const { programId } = await foreign.seed.program();
    const copied = await owner.submit("/programmes/new/like", { ...likeTemplate, like: programId });
    expect(copied.status).toBe(404);
    expect(await listPrograms(server)).toEqual([]);
  });
});
