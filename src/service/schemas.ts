import { problem } from "../contract/errors.ts";
import type { Handler } from "../store/handler-context.ts";
import { findForm } from "./forms.ts";

export const get_schema: Handler<"get_schema"> = async ({ store }, { schemaId, version }) => {
  const form = await findForm(store, schemaId, version);
  if (!form) throw problem("not_found");
  return form;
};

export const get_rubric: Handler<"get_rubric"> = async ({ store }, { rubricId, version }) => {
  const where = { rubricId, rubricVersion: version };
  const [rubric] = await store.find("rubrics", { where }, { limit: 1, orderBy: "rubricVersion", descending: true });
  if (!rubric) throw problem("not_found");
  return rubric;
};
