import type { Random } from "../../src/lib/crypto/random.ts";
import { createId } from "../../src/lib/ids.ts";
import { draftOf, pick, type Request, type Samples } from "./cases.ts";
import { fieldId } from "./tenant.ts";

type Data = Readonly<Record<string, unknown>>;
export type Send = (request: Request) => Promise<Data>;

/** Runs the writes that follow each other: a submission from draft to decision, and a person. */
export async function travel(samples: Samples, random: Random, send: Send): Promise<void> {
  const [track] = samples.programs.at(-1)?.tracks ?? [];
  const toRoundId = track?.roundIds[0] ?? "";
  const { submissionId, version } = await send(["create_submission", draftOf(samples)]);
  const of = { submissionId };
  const edited = await send(["update_submission_fields", { ...of, version, fields: { [fieldId]: "A lighter roof" } }]);
  const submitted = await send(["submit_submission", { ...of, version: edited["version"] }]);
  const screened = await send(["screen_submission", { ...of, version: submitted["version"], eligible: true }]);
  const advanced = await send(["advance_submission", { ...of, version: screened["version"], toRoundId }]);
  const reviewerId = pick(samples.reviewerIds, random);
  await send(["bulk_assign_reviewers", { roundId: toRoundId, pairs: [{ submissionId, reviewerId }] }]);
  await send(["eliminate_submission", { ...of, version: advanced["version"], reason: "Not this time" }]);
  const email = `${createId("per").toLowerCase()}@example.org`;
  const provenance = { source: "crm" };
  const person = await send(["create_person", { kinds: ["contact"], provenance, primaryEmail: email }]);
  const { personId } = person;
  const externalRef = { namespace: "crm", objectType: "contact", externalId: personId };
  const named = await send(["add_person_external_ref", { personId, version: person["version"], externalRef }]);
  await send(["update_person", { personId, version: named["version"], contactDetails: { firstName: "Ada" } }]);
  await send(["invite_reviewer", { email, roundIds: [toRoundId] }]);
}
