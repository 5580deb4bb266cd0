import type { personHandlers } from "../persons.ts";
import type { ModelPerson, ModelTenant } from "../tenant.ts";
import type { Call, RequestInput } from "./call.ts";

export function createPersonInput(
  { name, choice, target, versionOffset }: Call & { readonly name: keyof typeof personHandlers },
  { fixed, persons }: ModelTenant,
): RequestInput {
  const known = persons.slice(-4);
  const [person, other] = [known[target % known.length], known[choice % known.length]];
  const personId = person?.personId ?? "per_unknown";
  const toVersion = (each: ModelPerson | undefined) => Math.max(0, (each?.version ?? 0) + versionOffset);
  const record = { personId, version: toVersion(person) };
  const externalRef = { namespace: "crm", objectType: "contact", externalId: `E${choice}` };
  const kinds = choice % 2 ? ["contact"] : ["contact", "reviewer"];
  const contactDetails = { lastName: `Marsh ${choice % 3}` };
  switch (name) {
    case "get_person":
      return { personId: choice === 0 ? fixed.personId : personId };
    case "get_person_schema":
      return {};
    case "resolve_persons":
      return target > 1 ? { email: `person${target}@example.org` } : externalRef;
    case "create_person": {
      const refs = choice < 2 ? { externalRefs: [externalRef] } : {};
      // The address of some applicants. Addresses that differ in case are the same.
      const primaryEmail = target > 0 ? { primaryEmail: `Person${target}@example.org` } : {};
      return { kinds, provenance: { source: "crm" }, contactDetails, ...primaryEmail, ...refs };
    }
    case "update_person":
      return { ...record, ...(target % 2 ? { kinds } : { contactDetails }) };
    case "add_person_external_ref":
      return { ...record, externalRef };
    case "remove_person_external_ref":
      return { ...record, ...externalRef };
    case "merge_person": {
      const targetPersonId = other?.personId ?? "per_unknown";
      return { personId, targetPersonId, sourceVersion: record.version, targetVersion: toVersion(other) };
    }
  }
}
