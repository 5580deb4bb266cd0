import type { User } from "../../../contract/access/roles.ts";
import { Problem } from "../../../contract/errors.ts";
import type { ProgramSetUp } from "../../../contract/set-up/set-up-plan.ts";
import type { FormMistakes } from "../../../pages/components/form-fields.ts";
import { formatSetUpPath } from "../../../pages/console/set-up/overview.ts";
import { renderPartPage, renderStalePage } from "../../../pages/console/set-up/part.ts";
import type { PageContext, PeopleApp } from "../../people/browser-request.ts";
import { openPersonFieldsPart, openVersionPart } from "./item-parts.ts";
import { openOrderPart } from "./order-part.ts";
import {
  openProgramPart,
  openProgramTextsPart,
  openRoundPart,
  openTrackPart,
  openTrackTextsPart,
  type Part,
  type PartPlace,
  type SentPart,
} from "./parts.ts";
import { toFormMistake } from "./place-mistakes.ts";
import { applyText, openSetUp, requireOwner, type SetUpServices, setUpPath, showPlan } from "./set-up-text.ts";

type OpenPart = (setUp: ProgramSetUp, place: PartPlace, trackPlace: PartPlace) => Part | undefined;

/** The pages of parts. Places in paths begin at 1, and `new` is a new part. */
const parts: Readonly<Record<string, OpenPart>> = {
  program: openProgramPart,
  texts: openProgramTextsPart,
  order: openOrderPart,
  "person-fields": openPersonFieldsPart,
  "tracks/:place": openTrackPart,
  "tracks/:place/texts": openTrackTextsPart,
  "tracks/:track/rounds/:place": (setUp, place, trackPlace) => openRoundPart(setUp, trackPlace, place),
  "forms/:place": (setUp, place) => openVersionPart(setUp, "forms", place),
  "rubrics/:place": (setUp, place) => openVersionPart(setUp, "rubrics", place),
};

/** Adds the pages on which owners edit the parts of a programme. Each form leads to a preview. */
export function addPartRoutes(app: PeopleApp, services: SetUpServices): void {
  for (const [path, openPart] of Object.entries(parts)) {
    app.get(
      `${setUpPath}/${path}`,
      requireOwner(services, async (context, user) => {
        const { setUp } = await openSetUp(services, context, user);
        return showPart(context, user, setUp, requirePart(context, setUp, openPart));
      }),
    );
    app.post(
      `${setUpPath}/${path}`,
      requireOwner(services, async (context, user) => answerPart(services, context, user, openPart)),
    );
  }
}

async function answerPart(
  services: SetUpServices,
  context: PageContext,
  user: User,
  openPart: OpenPart,
): Promise<Response> {
  const { editor, setUp } = await openSetUp(services, context, user);
  const { programId, revision } = setUp;
  const sent = await readPart(context);
  const path = formatSetUpPath(programId);
  // The form's places are those of the set-up that the person saw.
  if (sent.form["revision"] !== revision) return context.html(renderStalePage(user, path), 409);
  const part = requirePart(context, setUp, openPart);
  const target = { target: { programId, revision }, path, program: setUp.config.program.name };
  const faults = part.check?.(sent) ?? [];
  if (faults.length > 0) return showPart(context, user, setUp, part, { sent, mistakes: faults });
  const plan = await applyText(services, user, target, editor.formatText(part.change(sent)), true);
  if (plan.mistakes.length > 0) {
    const mistakes = plan.mistakes.map((mistake) => toFormMistake(mistake, part.place(mistake.path, sent)));
    return showPart(context, user, setUp, part, { sent, mistakes });
  }
  return showPlan(context, user, target, plan);
}

function showPart(
  context: PageContext,
  user: User,
  { programId, revision }: ProgramSetUp,
  part: Part,
  refused?: { readonly sent: SentPart; readonly mistakes: FormMistakes },
) {
  const page = renderPartPage({
    ...{ user, title: part.title, path: context.req.path, setUpPath: formatSetUpPath(programId), revision },
    content: part.render(refused?.sent, refused?.mistakes),
    mistakes: refused?.mistakes ?? [],
  });
  return context.html(page, refused ? 422 : 200);
}

/** @throws Problem `not_found` */
function requirePart({ req }: PageContext, setUp: ProgramSetUp, openPart: OpenPart): Part {
  const part = openPart(setUp, parsePlace(req.param("place")), parsePlace(req.param("track")));
  if (!part) throw new Problem("not_found");
  return part;
}

function parsePlace(text = ""): PartPlace {
  return text === "new" ? "new" : /^[1-9]\d{0,3}$/.test(text) ? Number(text) - 1 : -1;
}

async function readPart(context: PageContext): Promise<SentPart> {
  const body = await context.req.parseBody({ all: true });
  const form = Object.entries(body).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
  const users = [body["user"] ?? []].flat().filter((value) => typeof value === "string");
  return { form: Object.fromEntries(form), users: new Set(users) };
}
