import type { User } from "../../../contract/access/roles.ts";
import { configLimits } from "../../../contract/set-up/program-config.ts";
import type { SetUpPlan } from "../../../contract/set-up/set-up-plan.ts";
import type { SetUpEditor, SetUpTarget } from "../../../imports/set-up.ts";
import { formatSetUpPath } from "../../../pages/console/set-up/overview.ts";
import { renderPreviewPage } from "../../../pages/console/set-up/preview.ts";
import type { PageContext, PeopleApp, PeopleServices, PersonHandler } from "../../people/browser-request.ts";
import { checkForms } from "../../people/page-errors.ts";
import { addPageHeaders } from "../../people/page-headers.ts";
import { requireSameOrigin } from "../../people/require-same-origin.ts";
import type { PageReadRule, ReadForPage } from "../admin-services.ts";
import { describeReading } from "../page-reader.ts";
import { requireRole, toAuthor } from "../person-page.ts";

/** A form with a text of the greatest size, whose line breaks a browser may double. */
export const maxSetUpFormBytes = 2 * configLimits.fileBytes;

/** The services that the pages of the set-up need. */
export interface SetUpServices {
  readonly people: PeopleServices;
  /** Loads the part that reads and applies texts, on first use. */
  readonly loadEditor: () => Promise<SetUpEditor>;
  readonly read: ReadForPage;
}

const scopes = ["programs:read", "tracks:read", "rounds:read", "schemas:read", "rubrics:read"] as const;

/**
 * Returns a route's handler for owners: who decides on forms decides what is asked of people, and who sees the answers.
 * Each request counts against the person's rate, and is in the audit.
 */
export function requireOwner(
  { people, read }: SetUpServices,
  answer: PersonHandler,
  audit: PageReadRule["audit"] = "program.set_up_read",
) {
  return requireRole(people, ["owner"], (context, user) => {
    const entityId = context.req.param("programId");
    const rule = { audit, scopes, ...(entityId === undefined ? {} : { entityId }) };
    return read(describeReading(context, user), rule, () => answer(context, user));
  });
}

/** Adds the checks of the forms below a path. */
export function addSetUpChecks(app: PeopleApp, people: PeopleServices, path: string): void {
  app.use(`${path}/*`, addPageHeaders, requireSameOrigin(people), checkForms(maxSetUpFormBytes));
}

/** The path of an existing programme's set-up. */
export const setUpPath = "/programmes/:programId/set-up";

/** @throws Problem `not_found` for a programme of another organisation */
export async function openSetUp({ loadEditor }: SetUpServices, context: PageContext, { businessId }: User) {
  const editor = await loadEditor();
  return { editor, setUp: await editor.describe(businessId, context.req.param("programId") ?? "") };
}

/** The texts of a form, of which one may be a file. */
interface TextForm {
  readonly text: string;
  readonly revision: string;
}

/** Reads the text of a form, or of its file. Undefined if it is not UTF-8, or there is no file. */
async function readTextForm(context: PageContext, name: "text" | "file"): Promise<TextForm | undefined> {
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

type AnswerText = (context: PageContext, user: User, form: TextForm | undefined, dryRun: boolean) => Promise<Response>;

/** Adds the forms that send a text below a path: a file or a text to preview, and a text to apply. */
export function addTextRoutes(app: PeopleApp, services: SetUpServices, path: string, answer: AnswerText): void {
  const add = (name: string, field: "text" | "file", dryRun: boolean) =>
    app.post(
      `${path}/${name}`,
      requireOwner(services, async (context, user) =>
        answer(context, user, await readTextForm(context, field), dryRun),
      ),
    );
  add("file", "file", true);
  add("preview", "text", true);
  add("apply", "text", false);
}

/** The programme that a text is for. */
export interface TextTarget {
  readonly target: SetUpTarget;
  /** The path of the pages. */
  readonly path: string;
  /** The name of the existing programme. */
  readonly program?: string;
}

/** Applies a text in the name of a person, or reports in a dry run what it would do. */
export async function applyText(
  { loadEditor }: SetUpServices,
  user: User,
  { target }: TextTarget,
  text: string,
  dryRun: boolean,
): Promise<SetUpPlan> {
  const { businessId, seesSensitive } = user;
  return (await loadEditor()).apply({ businessId, text, target, author: toAuthor(user), seesSensitive, dryRun });
}

/** Shows what a text would do, or what hinders it. */
export function showPlan(
  context: PageContext,
  user: User,
  { target, path, program }: TextTarget,
  plan: SetUpPlan,
  status: 200 | 409 = 200,
) {
  const page = renderPreviewPage({
    ...{ user, plan, path },
    ...(program === undefined ? {} : { program }),
    ...(target.programId === undefined ? {} : { revision: target.revision }),
  });
  return context.html(page, plan.outcome ? status : 422);
}

/** Answers with the preview of a text, or once it is applied, leads to the programme. */
export async function answerText(
  services: SetUpServices,
  context: PageContext,
  user: User,
  { text, dryRun, ...target }: TextTarget & { readonly text: string; readonly dryRun: boolean },
): Promise<Response> {
  const plan = await applyText(services, user, target, text, dryRun);
  if (dryRun || !plan.outcome) return showPlan(context, user, target, plan);
  if (plan.isStale) return showPlan(context, user, target, plan, 409);
  const done = target.target.programId === undefined ? "created" : "changed";
  return context.redirect(`${formatSetUpPath(plan.outcome.programId)}?done=${done}`, 303);
}
