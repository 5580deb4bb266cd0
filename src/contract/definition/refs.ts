import * as z from "zod";
import { sensitiveScope } from "../access/scopes.ts";
import { contactDetail, sensitive } from "./field-annotations.ts";

const name = z.string().min(1).max(255);

/** An external reference in arguments (specification 4). */
export const ExternalRefInput = z.strictObject({
  namespace: name.describe("other system, e.g. crm"),
  objectType: name,
  externalId: contactDetail(z.string().min(1).max(255), "externalId"),
});
export type ExternalRefInput = z.output<typeof ExternalRefInput>;

/** An external reference in a person record (specification 2.5). */
export const ExternalRef = z.object({
  namespace: z.string(),
  objectType: z.string(),
  externalId: sensitive(contactDetail(z.string(), "externalId").optional(), sensitiveScope),
});
