import * as z from "zod";
import { personal, sensitive } from "./marks.ts";
import { sensitiveScope } from "./scopes.ts";

const name = z.string().min(1).max(255);

/** An external reference as a caller names it (specification 4). */
export const ExternalRefInput = z.strictObject({
  namespace: name,
  objectType: name,
  externalId: personal(z.string().min(1).max(255)),
});
export type ExternalRefInput = z.output<typeof ExternalRefInput>;

/** An external reference as a person record shows it (specification 2.5). */
export const ExternalRef = z.object({
  namespace: z.string(),
  objectType: z.string(),
  externalId: sensitive(z.string().optional(), sensitiveScope),
});
