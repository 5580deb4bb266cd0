import type { ConnectedApp } from "../../contract/access/connected-apps.ts";
import { roles, type User } from "../../contract/access/roles.ts";
import type { AuditEntry } from "../../contract/audit.ts";
import { CalendarDate } from "../../contract/definition/fields.ts";
import type { FormMistakes } from "../../pages/components/form-fields.ts";
import { type AuditSearch, renderAuditPage } from "../../pages/console/audit.ts";
import type { PageContext, PeopleApp, PeopleServices } from "../people/browser-request.ts";
import type { AdminServices } from "./admin-services.ts";
import { describeReading, performAsPerson } from "./page-reader.ts";
import { listFilterMistakes, requireRole } from "./person-page.ts";

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
      const { action, actor, record } = search;
      const { from, to, mistakes } = parseDays(search);
      const cursor = context.req.query("cursor");
      const apps = await listApps(user.businessId);
      const connection = apps.find(({ connectionId }) => connectionId === actor);
      const narrowing = {
        // An app acts for the person who connected it.
        actorId: connection?.userId ?? (actor || undefined),
        tokenId: connection?.connectionId,
        entityId: record || undefined,
        from: from?.toISOString(),
        to: to?.toISOString(),
      };
      const input = { action, lastEvaluatedKey: cursor };
      const reading = describeReading(context, user);
      const isAsked = mistakes.length === 0;
      const answer = isAsked
        ? await performAsPerson(pipeline, reading, "list_audit_entries", input, narrowing)
        : undefined;
      const page = renderAuditPage({
        user,
        isRemote: embedded === undefined,
        search,
        actors: await listActors(user, apps),
        entries: answer?.ok ? (answer.data as readonly AuditEntry[]) : [],
        cursor: answer?.ok ? answer.page?.lastEvaluatedKey : undefined,
        mistakes: !answer || answer.ok ? mistakes : listFilterMistakes(answer.problem, ["action"]),
      });
      return context.html(page, !answer || answer.ok ? (isAsked ? 200 : 422) : (answer.problem.status as 400));
    }),
  );
}

const maxTextChars = 64;

function readSearch(context: PageContext): AuditSearch {
  const read = (name: keyof AuditSearch) => (context.req.query(name) ?? "").trim().slice(0, maxTextChars);
  return { actor: read("actor"), record: read("record"), action: read("action"), from: read("from"), to: read("to") };
}

/** Returns the start of the first day and the end of the last one, and what is wrong with them. */
function parseDays(search: AuditSearch) {
  const from = parseDay(search.from);
  const to = parseDay(search.to, dayMs - 1);
  const isWrong = (name: "from" | "to", day: Date | undefined) => search[name] !== "" && day === undefined;
  const mistakes: FormMistakes = [
    ...(isWrong("from", from) ? [{ input: "from", message: wrongDay }] : []),
    ...(isWrong("to", to) ? [{ input: "to", message: wrongDay }] : []),
    ...(from && to && to < from ? [{ input: "to", message: "The last day is before the first one." }] : []),
  ];
  return { from, to, mistakes };
}

const wrongDay = "Expected a day, as in 2026-11-20.";

/** Returns the start of a day plus an offset; undefined for a text that is not a day. */
function parseDay(text: string, offsetMs = 0): Date | undefined {
  const day = CalendarDate.safeParse(text);
  return day.success ? new Date(Date.parse(day.data) + offsetMs) : undefined;
}
