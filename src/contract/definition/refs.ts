import * as z from "zod";
import { sensitiveScope } from "../scopes.ts";
import { contactDetail, sensitive } from "./field-annotations.ts";

const name = z.string().min(1).max(255);

/** An external reference as a caller names it (specification 4). */
export const ExternalRefInput = z.strictObject({
  namespace: name.describe("other system, as crm"),
  objectType: name,
  externalId: contactDetail(z.string().min(1).max(255), "externalId"),
});
export type ExternalRefInput = z.output<typeof ExternalRefInput>;

/** An external reference as a person record shows it (specification 2.5). */
export const ExternalRef = z.object({
  namespace: z.string(),
  objectType: z.string(),
  externalId: sensitive(contactDetail(z.string(), "externalId").optional(), sensitiveScope),
});
