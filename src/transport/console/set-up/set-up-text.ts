import { bodyLimit } from "hono/body-limit";
import type { User } from "../../../contract/access/roles.ts";
import { configLimits } from "../../../contract/set-up/program-config.ts";
import type { SetUpEditor, SetUpTarget } from "../../../imports/set-up.ts";
import { renderPreviewPage } from "../../../pages/console/set-up/preview.ts";
import type { PageContext, PeopleApp, PeopleServices } from "../../people/browser-request.ts";
import { addPageHeaders } from "../../people/page-headers.ts";
import { requireSameOrigin } from "../../people/require-same-origin.ts";
import { toAuthor } from "../person-page.ts";

/** A form with a text of the greatest size, whose line breaks a browser may double. */
export const maxSetUpFormBytes = 2 * configLimits.fileBytes;

/** What the pages of the set-up need. */
export interface SetUpServices {
  readonly people: PeopleServices;
  /** Loads the part that reads and applies texts, on first use. */
  readonly loadEditor: () => Promise<SetUpEditor>;
}

/** Adds the checks of the forms below a path. */
export function addSetUpChecks(app: PeopleApp, people: PeopleServices, path: string): void {
  const limitBody = bodyLimit({
    maxSize: maxSetUpFormBytes,
    onError: (context) => context.text(`The form is larger than ${maxSetUpFormBytes} bytes.`, 413),
  });
  app.use(`${path}/*`, addPageHeaders, requireSameOrigin(people), limitBody);
}

/** The texts of a form, of which one may be a file. */
export interface TextForm {
  readonly text: string;
  readonly revision: string;
}

/** Reads the text of a form, or of its file. Undefined if it is not UTF-8, or there is no file. */
export async function readTextForm(context: PageContext, name: "text" | "file"): Promise<TextForm | undefined> {
  const { [name]: given, revision } = await context.req.parseBody();
  const text = typeof given === "string" ? given : await decodeFile(given);
  if (!text) return undefined;
  // Browsers send the line breaks of a form as CRLF.
  return { text: text.replaceAll("\r\n", "\n"), revision: typeof revision === "string" ? revision : "" };
}

async function decodeFile(file: unknown): Promise<string | undefined> {
  if (!(file instanceof File)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

export interface PreviewedProgram {
  readonly target: SetUpTarget;
  readonly path: string;
  /** The name of the existing programme. */
  readonly program?: string;
}

/** Answers with the preview of a text, or if it is agreed to and can be applied, leads to the programme. */
export async function answerText(
  { loadEditor }: SetUpServices,
  context: PageContext,
  user: User,
  { target, ...shown }: PreviewedProgram & { readonly text: string; readonly dryRun: boolean },
): Promise<Response> {
  const { text, dryRun, ...page } = shown;
  const { businessId, seesSensitive } = user;
  const editor = await loadEditor();
  const request = { businessId, text, target, author: toAuthor(user), seesSensitive, dryRun };
  const plan = await editor.apply(request);
  const { outcome, isStale } = plan;
  if (outcome && !dryRun && !isStale) {
    const done = target.programId === undefined ? "created" : "changed";
    return context.redirect(`/programmes/${outcome.programId}/set-up?done=${done}`, 303);
  }
  const revision = target.programId === undefined ? {} : { revision: target.revision };
  const status = outcome ? (isStale && !dryRun ? 409 : 200) : 422;
  return context.html(renderPreviewPage({ user, plan, ...page, ...revision }), status);
}
