import { expect } from "vitest";
import { createImports } from "../../../src/imports/imports.ts";
import { parseProgramConfig } from "../../../src/imports/parse-config.ts";
import { programTemplate } from "../../../src/imports/template.ts";
import { type BrowserSession, openAs, type PageAnswer } from "../../identity/browser-session.ts";
import type { TestServer } from "../../support/servers/test-server.ts";

/** Reads the values that the forms of a page would send. */
export function readInputs({ text }: PageAnswer): Record<string, string> {
  const inputs = [...text.matchAll(/<input\s[^>]*>/g)].map(([tag]) => tag);
  const areas = [...text.matchAll(/<textarea id="([^"]*)"[^>]*>\n?([^<]*)/g)];
  const selects = [...text.matchAll(/<select id="([^"]*)"[\s\S]*?<\/select>/g)];
  const read = (tag: string, name: string) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
  const sent = inputs.filter((tag) => !tag.includes('type="checkbox"') || / checked/.test(tag));
  return Object.fromEntries(
    [
      ...sent.map((tag) => [read(tag, "name"), read(tag, "value")]),
      ...areas.map(([, name, value]) => [name, value]),
      ...selects.map(([list, name]) => {
        const [, value] = /value="([^"]*)"\s+selected/.exec(list) ?? /value="([^"]*)"/.exec(list) ?? [];
        return [name, value];
      }),
    ].map(([name, value = ""]) => [
      name,
      value
        .replaceAll("&quot;", '"')
        .replaceAll("&#39;", "'")
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">")
        .replaceAll("&amp;", "&"),
    ]),
  );
}

/** Sets the template's programme up. */
export async function openProgram(server: TestServer) {
  const imports = createImports(server.app.store, server.clock);
  const { config } = parseProgramConfig(programTemplate);
  const { programId } = await imports.applyConfig(server.businessId, config, { dryRun: false });
  const path = `/programmes/${programId}/set-up`;
  const reader = server.app.store.reader(server.businessId);
  const [track] = await reader.find("tracks", { where: { programId } }, { limit: 1 });
  return {
    programId,
    path,
    reader,
    trackId: track?.trackId ?? "",
    browser: await openAs(server, { seesSensitive: true }),
  };
}

/** Opens the page of a part, and sends its form with changes. */
export async function editPart(
  browser: BrowserSession,
  path: string,
  changes: Record<string, string>,
): Promise<PageAnswer> {
  return browser.submit(path, { ...readInputs(await browser.open(path)), ...changes });
}

/** Agrees to what a preview shows. */
export async function applyPreview(browser: BrowserSession, path: string, preview: PageAnswer): Promise<PageAnswer> {
  const { text = "", revision = "" } = readInputs({
    ...preview,
    text: preview.text.slice(preview.text.indexOf(`${path}/apply`), preview.text.indexOf("<details")),
  });
  expect(text).not.toBe("");
  return browser.submit(`${path}/apply`, { text, revision });
}
