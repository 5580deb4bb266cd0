import type { ConnectedApp } from "../../contract/access/connected-apps.ts";
import { roles, type User } from "../../contract/access/roles.ts";
import type { AuditEntry } from "../../contract/audit.ts";
import { DateFrom } from "../../contract/definition/fields.ts";
import { type AuditSearch, renderAuditPage } from "../../pages/console/audit.ts";
import type { PageContext, PeopleApp, PeopleServices } from "../people/browser-request.ts";
import type { AdminServices } from "./admin-services.ts";
import { describeReading, performAsPerson } from "./page-reader.ts";
import { requireRole } from "./person-page.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Adds the page that shows who did what in the organisation; with a remote service, who did what here. */
export function addAuditRoutes(
  app: PeopleApp,
  people: PeopleServices,
  { pipeline, listUsers, listApps, embedded }: AdminServices,
): void {
  async function listActors({ businessId }: User, apps: readonly ConnectedApp[]) {
    const [users, tokens] = await Promise.all([listUsers(businessId), embedded?.listTokens(businessId) ?? []]);
    const names = new Map(users.map(({ userId, name }) => [userId, name || userId]));
    return [
      ...[...names].map(([value, name]) => ({ value, label: `${name} (person)` })),
      ...tokens.map(({ tokenId, name }) => ({ value: tokenId, label: `${name || tokenId} (token)` })),
      ...apps.map(({ connectionId, name, userId }) => ({
        value: connectionId,
        label: `${name || connectionId} (app of ${names.get(userId)})`,
      })),
    ];
  }

  app.get(
    "/audit",
    requireRole(people, roles, async (context, user) => {
      const search = readSearch(context);
      const { action, actor, record, from, to } = search;
      const cursor = context.req.query("cursor");
      const apps = await listApps(user.businessId);
      const connection = apps.find(({ connectionId }) => connectionId === actor);
      const narrowing = {
        // An app acts for the person who connected it.
        actorId: connection?.userId ?? (actor || undefined),
        tokenId: connection?.connectionId,
        entityId: record || undefined,
        from: parseDay(from)?.toISOString(),
        to: parseDay(to, dayMs - 1)?.toISOString(),
      };
      const input = { action, lastEvaluatedKey: cursor };
      const reading = describeReading(context, user);
      const answer = await performAsPerson(pipeline, reading, "list_audit_entries", input, narrowing);
      const page = renderAuditPage({
        user,
        isRemote: embedded === undefined,
        search,
        actors: await listActors(user, apps),
        entries: answer.ok ? (answer.data as readonly AuditEntry[]) : [],
        cursor: answer.ok ? answer.page?.lastEvaluatedKey : undefined,
        error: answer.ok ? undefined : answer.problem.message,
      });
      return context.html(page, answer.ok ? 200 : (answer.problem.status as 400));
    }),
  );
}

const maxTextChars = 64;

function readSearch(context: PageContext): AuditSearch {
  const read = (name: keyof AuditSearch) => (context.req.query(name) ?? "").trim().slice(0, maxTextChars);
  return { actor: read("actor"), record: read("record"), action: read("action"), from: read("from"), to: read("to") };
}

/** Returns the start of a day plus an offset; undefined for a text that is not a day. */
function parseDay(text: string, offsetMs = 0): Date | undefined {
  const day = DateFrom.safeParse(text);
  return day.success ? new Date(Date.parse(day.data) + offsetMs) : undefined;
}
