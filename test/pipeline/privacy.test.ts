import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, test as plain } from "vitest";
import { scopes, sensitiveScope } from "../../src/contract/access/scopes.ts";
import { Person } from "../../src/contract/persons.ts";
import { createId } from "../../src/lib/ids.ts";
import { createRedactor } from "../../src/pipeline/steps/redact.ts";
import { fieldIds, personFieldIds } from "../support/data/seed-factory.ts";
import { listChanges } from "../support/data/state.ts";
import { openTestServer, type TestServer, test } from "../support/servers/test-server.ts";

const ordinary = scopes.filter((scope) => scope !== sensitiveScope);

/** Lower-case words that turn up nowhere by chance. */
const secret = fc.stringMatching(/^[a-z]{16}$/);
function secrets<const Name extends string>(...names: Name[]): fc.Arbitrary<Record<Name, string>> {
  const words = fc.uniqueArray(secret, { minLength: names.length, maxLength: names.length });
  return words.map(
    (values) => Object.fromEntries(names.map((name, index) => [name, values[index]])) as Record<Name, string>,
  );
}

describe("personal data", () => {
  const contact = ["email", "first", "last", "address", "platform"] as const;
  const given = secrets(...contact, "custom", "external", "note", "noteKey", "title", "reason", "message");

  plain("enters no event, no audit value and no line of the log", async () => {
    const lines: string[] = [];
    const log = pino({ level: "trace" }, { write: (line) => lines.push(line) });
    const { server: first, close } = await openTestServer({}, { log });
    const paths = new Set<string>();
    await fc.assert(
      fc.asyncProperty(given, async (values) => {
        const server = await first.other();
        await actOn(server, values);
        const audit = (await listChanges(server.app.store, server.businessId)).map(({ reason: _, ...entry }) => entry);
        const kept = JSON.stringify([audit, await server.outbox()]) + lines.join("");
        for (const [name, value] of Object.entries(values)) expect(kept.includes(value), name).toBe(false);
        for (const { path } of audit.flatMap(({ changes }) => changes)) paths.add(path);
        expect((await server.outbox()).length).toBeGreaterThan(6);
      }),
      { numRuns: 10 },
    );
    await close();
    const named = ["primaryEmail", "contactDetails.firstName", "externalRefs", "metadata", "innovatorEmail", "email"];
    expect([...paths]).toEqual(expect.arrayContaining(named));
    expect([...paths]).toEqual(
      expect.arrayContaining([`customFields.${personFieldIds.pii}`, `fields.${fieldIds.title}`]),
    );
  });

  /** Every operation that takes personal data, with some of its own. */
  async function actOn(
    { seed, as }: TestServer,
    values: typeof given extends fc.Arbitrary<infer Values> ? Values : never,
  ) {
    const email = (prefix: string) => `${prefix}.${values.email}@example.org`;
    const chair = await as("REST");
    await seed.personSchema();
    const track = await seed.track();
    const { programId, trackId } = track;
    const round = await seed.round({ programId, trackId });
    const externalRef = (objectType: string) => ({ namespace: "crm", objectType, externalId: values.external });
    const person = await chair.create_person({
      kinds: ["contact"],
      provenance: { source: "crm" },
      primaryEmail: email("a"),
      contactDetails: { firstName: values.first, address: values.address },
      platformUserId: values.platform,
      customFields: { [personFieldIds.pii]: "1980-01-02", [personFieldIds.standard]: values.custom },
      externalRefs: [externalRef("contact")],
      metadata: { [values.noteKey]: values.note },
    });
    const { personId } = person;
    const contactDetails = { firstName: values.last, phone: values.address };
    const customFields = { [personFieldIds.standard]: null, [personFieldIds.restricted]: values.custom };
    const metadata = { [`more ${values.noteKey}`]: values.note };
    await chair.update_person({
      personId,
      version: 0,
      primaryEmail: email("b"),
      contactDetails,
      customFields,
      metadata,
    });
    await chair.add_person_external_ref({ personId, version: 1, externalRef: externalRef("account") });
    await chair.remove_person_external_ref({ personId, version: 2, ...externalRef("contact") });
    const target = await seed.person({ primaryEmail: email("c"), metadata: { [values.noteKey]: values.note } });
    const merge = { personId, targetPersonId: target.personId, sourceVersion: 3, targetVersion: 0 };
    await chair.merge_person(merge);

    const fields = { [fieldIds.title]: values.title };
    const deadline = "2026-12-31T00:00:00Z";
    const identity = { innovatorEmail: email("d"), innovatorName: values.first };
    const submission = await chair.create_submission({ trackId, fields, deadline, ...identity });
    const { submissionId } = submission;
    await chair.update_submission_fields({
      submissionId,
      version: 0,
      fields: { [fieldIds.title]: `New ${values.title}` },
    });
    await chair.submit_submission({ submissionId, version: 1 });
    await chair.screen_submission({ submissionId, version: 2, eligible: true, reason: values.reason });
    await chair.advance_submission({ submissionId, version: 3, toRoundId: round.roundId, reason: values.reason });

    const invitation = {
      firstName: values.first,
      lastName: values.last,
      affiliation: values.address,
      message: values.message,
    };
    const invite = { email: email("e"), ...invitation, roundIds: [round.roundId] };
    const { reviewerId } = await chair.invite_reviewer(invite);
    await chair.invite_reviewer({ ...invite, firstName: values.last });
    const other = await seed.reviewer();
    const { created } = await chair.bulk_assign_reviewers({
      roundId: round.roundId,
      submissionIds: [submissionId],
      reviewerIds: [other.reviewerId],
    });
    const third = await seed.reviewer();
    const { assignmentId } = created[0];
    await chair.reassign_assignment({
      assignmentId,
      newReviewerId: third.reviewerId,
      reason: values.reason,
      version: 0,
    });
    const message = { subject: values.title, body: values.message };
    const reviewers = { reviewerIds: [reviewerId], ...message };
    await chair.send_bulk_email({ programId, reviewers, applicants: { applicantEmails: [email("d")], ...message } });
    const feedback = await seed.feedback({ submissionId, programId, body: values.message });
    await chair.release_feedback({ feedbackId: feedback.feedbackId });
    await chair.list_email_sends({ recipientEmail: email("d") });
    await chair.list_reviewers({ search: values.last });
    await chair.eliminate_submission({ submissionId, version: 4, reason: values.reason });
    await chair.resolve_persons({ email: email("c") });
    await chair.withdraw_submission({ submissionId, version: 5, reason: values.reason });
    await chair.get_person({ personId: createId("per") }).catch(() => undefined);
  }
});

describe("a person", () => {
  const open = [
    "active",
    "anonymizedAt",
    "businessId",
    "createdAt",
    "createdBy",
    "customFieldSchemaVersion",
    "customFields",
  ];
  const always = [...open, "externalRefs", "kinds", "mergedIntoPersonId", "metadata", "personId", "platformUserId"];
  const rest = ["provenance", "updatedAt", "updatedBy", "version"];

  test("shows exactly this with and without persons:sensitive:read", async ({ server }) => {
    const { personId } = await seedPerson(server, { email: "grace@example.org" });
    const shown = await (await server.as("REST", ordinary)).get_person({ personId });
    expect(Object.keys(shown).sort()).toEqual([...always, ...rest].sort());
    expect(shown).toMatchObject({
      metadata: {},
      externalRefs: [{ namespace: "crm", objectType: "contact" }],
      customFields: { [personFieldIds.standard]: "weaving" },
    });
    expect(Object.keys(shown.externalRefs[0])).toEqual(["namespace", "objectType"]);
    expect(Object.keys(shown.customFields)).toEqual([personFieldIds.standard]);

    const whole = await (await server.as("REST")).get_person({ personId });
    expect(Object.keys(whole).sort()).toEqual([...always, ...rest, "contactDetails", "primaryEmail"].sort());
    expect(whole).toEqual((await server.app.store.reader(server.businessId).get("persons", personId)) ?? {});
  });

  test("shows no custom field to an ordinary token that the published schema does not call standard", async ({
    server,
  }) => {
    const { personId } = await seedPerson(server, { email: "grace@example.org", extra: { fld_unknown: "hidden" } });
    const reader = await server.as("REST", ordinary);
    expect((await reader.get_person({ personId })).customFields).toEqual({ [personFieldIds.standard]: "weaving" });
    const [schema] = await server.app.store.reader(server.businessId).find("personSchemas", {}, { limit: 1 });
    await server.write((tx) => tx.update("personSchemas", schema as never, { published: false }));
    expect((await reader.get_person({ personId })).customFields).toEqual({});
  });

  plain("shows nothing that the contract does not declare", () => {
    const redact = createRedactor(Person);
    const view = { scopes: new Set(scopes), standardFieldIds: new Set<string>() };
    expect(redact?.({ personId: "per_1", passport: "X1", contactDetails: { firstName: "Grace" } }, view)).toEqual({
      personId: "per_1",
      contactDetails: { firstName: "Grace" },
    });
  });

  test("reveals no sensitive value to an ordinary token in any answer", async ({ server: first }) => {
    const given = secrets("email", "first", "phone", "pii", "restricted", "external", "note");
    await fc.assert(
      fc.asyncProperty(given, async (values) => {
        const server = await first.other();
        const reader = await server.as("REST", ordinary);
        const agent = await server.as("MCP", ordinary);
        const { personId } = await seedPerson(server, values);
        const { personId: other } = await seedPerson(server, { email: "other" });
        const email = `${values.email}@example.org`;
        const ref = { namespace: "crm", objectType: "contact", externalId: values.external };
        const change = {
          contactDetails: { firstName: values.first, phone: values.phone },
          metadata: { again: values.note },
        };
        const duplicate = { kinds: [], provenance: { source: "crm" }, externalRefs: [ref] };
        const answers: unknown[] = [
          await reader.get_person({ personId }),
          await reader.list_persons({ updatedAfter: "2026-01-01" }),
          await reader.resolve_persons({ email }),
          await reader.resolve_persons(ref),
          await agent.get_person({ personId }),
          await agent.resolve_persons({ personId }),
          await reader.update_person({ personId, version: 0, ...change }),
          await reader.remove_person_external_ref({ personId, version: 1, ...ref }),
          await reader.add_person_external_ref({ personId, version: 2, externalRef: ref }),
          await reader.merge_person({ personId, targetPersonId: other, sourceVersion: 3, targetVersion: 0 }),
          await reader.list_audit_entries({}),
          await reader.create_person(duplicate).catch(({ message, details }) => ({ message, details })),
        ];
        const text = JSON.stringify(answers);
        for (const [name, value] of Object.entries(values)) expect(text.includes(value), name).toBe(false);
        const whole = JSON.stringify(await (await server.as("REST")).get_person({ personId: other }));
        for (const name of ["email", "first", "phone", "pii", "restricted", "external"] as const) {
          expect(whole, name).toContain(values[name]);
        }
      }),
      { numRuns: 15 },
    );
  });
});

async function seedPerson(
  { seed, app, businessId }: TestServer,
  values: Partial<Record<"email" | "first" | "phone" | "pii" | "restricted" | "external" | "note", string>> & {
    extra?: object;
  },
) {
  if ((await app.store.reader(businessId).count("personSchemas", {})) === 0) await seed.personSchema();
  const {
    email,
    first = "Grace",
    phone = "+46 8 123 456",
    pii = "1971",
    restricted = "asthma",
    external,
    note,
  } = values;
  const target = email === "other";
  return seed.person(
    target
      ? { primaryEmail: undefined as never, contactDetails: undefined as never }
      : {
          primaryEmail: email?.includes("@") ? email : `${email}@example.org`,
          contactDetails: { firstName: first, phone },
          platformUserId: createId("usr"),
          customFields: {
            [personFieldIds.standard]: "weaving",
            [personFieldIds.pii]: pii,
            [personFieldIds.restricted]: restricted,
            ...values.extra,
          },
          externalRefs: [{ namespace: "crm", objectType: "contact", externalId: external ?? "C-1" }],
          metadata: { note: note ?? "met at the fair" },
        },
  );
}
