import { shouldHideContacts } from "../../contract/access/privacy.ts";
import type { User } from "../../contract/access/roles.ts";
import { Problem } from "../../contract/errors.ts";
import { type ExportJob, mayShowSensitive } from "../../contract/exports.ts";
import type { OperationName } from "../../contract/index.ts";
import type { Program } from "../../contract/programs.ts";
import { renderExportsPage } from "../../pages/console/integrations/exports.ts";
import type { PageContext, PeopleApp, PeopleServices } from "../people/browser-request.ts";
import { readForm } from "../people/forms.ts";
import type { EmbeddedAdmin } from "./admin-services.ts";
import { describeReading, performAsPerson } from "./page-reader.ts";
import { requireListed, requireRole } from "./person-page.ts";

const pageSize = 50;
const maxPrograms = 100;

type ExportRoutesDeps = Pick<EmbeddedAdmin, "pipeline" | "read">;

/** Adds the pages of exports, which run with the rights of the person who starts them. */
export function addExportRoutes(app: PeopleApp, people: PeopleServices, deps: ExportRoutesDeps): void {
  const { pipeline, read } = deps;

  /** Runs an operation as the person. @throws Problem that the operation answers */
  async function run(
    context: PageContext,
    user: User,
    operation: OperationName,
    input: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    const answer = await performAsPerson(pipeline, describeReading(context, user), operation, input);
    if (!answer.ok) throw answer.problem;
    return answer.data;
  }

  app.get(
    "/integrations/exports",
    requireRole(people, ["owner", "staff"], async (context, user) => {
      const page = { limit: pageSize, lastEvaluatedKey: context.req.query("cursor") };
      const rule = { audit: "export.listed", scopes: ["exports:read"] } as const;
      const { rows, lastEvaluatedKey } = await read(describeReading(context, user), rule, ({ records }) =>
        records.page("exports", {}, "newest", page),
      );
      const programs = await run(context, user, "list_programs", { limit: maxPrograms });
      const done = context.req.query("done") === "started" ? "The export is being made." : undefined;
      const choices = (programs as readonly Program[]).map(({ programId, name }) => ({
        value: programId,
        label: name,
      }));
      return context.html(
        renderExportsPage({ user, exports: rows, programs: choices, cursor: lastEvaluatedKey, done }),
      );
    }),
  );

  app.post(
    "/integrations/exports",
    requireRole(people, ["owner", "staff"], async (context, user) => {
      const { programId } = await readForm(context, ["programId"]);
      await run(context, user, "create_export", { programId });
      return context.redirect("/integrations/exports?done=started", 303);
    }),
  );

  app.get(
    "/integrations/exports/:exportId/file",
    requireRole(people, ["owner", "staff"], async (context, user) => {
      const exportId = context.req.param("exportId") ?? "";
      // A file shows what the person or agent who started it may see.
      const rule = { audit: "export.opened", scopes: ["exports:read"], entityId: exportId } as const;
      const reading = describeReading(context, user);
      const stored = requireListed(await read(reading, rule, ({ records }) => records.get("exports", exportId)));
      const isHidden = shouldHideContacts(stored.privacy ?? undefined) && !mayShowSensitive(stored);
      if (!user.seesSensitive && !isHidden) {
        const text = "This file shows personal data that you may not see. Start an export of your own.";
        throw new Problem("insufficient_scope", undefined, text);
      }
      const { downloadUrl } = (await run(context, user, "get_export", { exportId })) as ExportJob;
      if (downloadUrl === null) return context.redirect("/integrations/exports", 303);
      return context.redirect(downloadUrl, 303);
    }),
  );
}
