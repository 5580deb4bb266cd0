import type { Clock } from "../../../lib/clock.ts";
import { formatSetUpPath, renderSetUpPage } from "../../../pages/console/set-up/overview.ts";
import type { PeopleApp } from "../../people/browser-request.ts";
import { addNewProgramRoutes } from "./new-program-routes.ts";
import { addPartRoutes } from "./part-routes.ts";
import {
  addSetUpChecks,
  addTextRoutes,
  answerText,
  openSetUp,
  requireOwner,
  type SetUpServices,
  setUpPath,
} from "./set-up-text.ts";

/** The notices of the page after a change. */
const outcomes: Readonly<Record<string, string>> = {
  created: "The programme is made. Applications arrive while the intake of a track is open.",
  changed: "The set-up is changed.",
  unread: "The file is empty, or is not UTF-8 text. Nothing was written.",
};

/** Adds the pages on which owners make programmes and change their set-up. */
export function addSetUpRoutes(app: PeopleApp, services: SetUpServices, clock: Clock): void {
  const { people, loadEditor } = services;
  addNewProgramRoutes(app, services, clock);
  addSetUpChecks(app, people, setUpPath);
  addPartRoutes(app, services);

  app.get(
    setUpPath,
    requireOwner(services, async (context, user) => {
      const { editor, setUp } = await openSetUp(services, context, user);
      const text = await editor.exportText(user.businessId, setUp.programId, false);
      const done = outcomes[context.req.query("done") ?? ""];
      return context.html(renderSetUpPage({ user, setUp, text, done }));
    }),
  );

  app.get(
    `${setUpPath}/programme.yaml`,
    requireOwner(
      services,
      async (context, user) => {
        const programId = context.req.param("programId") ?? "";
        // The addresses of reviewers are sensitive.
        const text = await (await loadEditor()).exportText(user.businessId, programId, user.seesSensitive);
        const disposition = 'attachment; filename="programme.yaml"';
        return context.body(text, 200, {
          "content-type": "application/yaml; charset=utf-8",
          "content-disposition": disposition,
        });
      },
      "program.exported",
    ),
  );

  addTextRoutes(app, services, setUpPath, async (context, user, form, dryRun) => {
    const { programId, config } = (await openSetUp(services, context, user)).setUp;
    const path = formatSetUpPath(programId);
    if (!form) return context.redirect(`${path}?done=unread`, 303);
    const { text, revision } = form;
    const target = { programId, revision };
    return answerText(services, context, user, { target, path, program: config.program.name, text, dryRun });
  });
}
