import { type Handler, type ModelTenant, ok, Refusal } from "./tenant.ts";

/** The part of the reference model that shows forms and rubrics in their versions (specification 4.11). */
export const formHandlers = {
  get_schema: ({ fixed }, { schemaId, version }) => ok(findVersion(fixed.schemas, { schemaId }, version)),
  get_rubric: ({ fixed }, { rubricId, version }) => ok(findVersion(fixed.rubrics, { rubricId }, version)),
} as const satisfies Record<string, Handler>;

type Versions = ModelTenant["fixed"]["schemas"];

/** Returns the requested version, by default the latest. Versions come in no order. */
function findVersion(rows: Versions, id: Readonly<Record<string, string>>, version: number | undefined) {
  const own = rows.filter(({ row }) => Object.entries(id).every(([name, value]) => row[name] === value));
  const wanted = version ?? Math.max(...own.map((each) => each.version));
  const found = own.find((each) => each.version === wanted);
  if (!found) throw new Refusal(404, "not_found");
  return found.row;
}
