import type { Person } from "../contract/persons.ts";
import { mergePersons } from "../domain/persons.ts";
import type { Row } from "../store/tables.ts";
import type { Draw } from "./draw.ts";
import { createNames, type Name, type NewPerson } from "./names.ts";
import { type PersonForm, personValues } from "./person-form.ts";
import type { Author, Desk, Timeline } from "./timeline.ts";

/** Who hands in applications, as submissions name them. */
export type KnownApplicant = Pick<Row<"applicants">, "applicantId" | "innovatorId" | "email" | "name" | "personId">;

export interface PeopleOptions {
  readonly timeline: Timeline;
  readonly draw: Draw;
  /** The person schema in its two versions. */
  readonly forms: readonly [PersonForm, PersonForm];
  readonly domains: readonly string[];
}

interface Given {
  readonly person?: NewPerson;
  readonly kinds: Person["kinds"];
  readonly source: "portal" | "crm" | "manual";
  /** How the portal knows the person. */
  readonly platformUserId?: string;
  readonly by?: Author;
}

/** Every sixth application comes from somebody who has applied before, every twelfth from somebody without a person. */
const returningEvery = 6;
const unlinkedEvery = 12;
/** How many of the latest applicants may come again. */
const maxKnown = 40;

/** The programme and track that somebody applies to. */
interface Call {
  readonly programId: string;
  readonly trackId: string;
}

/** Makes a tenant's persons and applicants. */
export class People {
  readonly nextPerson: () => NewPerson;
  /** The latest applicants. */
  readonly known: KnownApplicant[] = [];
  /** Those whose address two active persons share. */
  readonly ambiguous: NewPerson[] = [];
  readonly #options: PeopleOptions;
  readonly #nextDomain: () => string;
  #applications = 0;
  #lastCrmNumber = 10_000;

  constructor(options: PeopleOptions) {
    this.#options = options;
    this.nextPerson = createNames(options.draw);
    this.#nextDomain = options.draw.deck(options.domains);
  }

  async addPerson(desk: Desk, given: Given): Promise<Row<"persons">> {
    const { draw, forms } = this.#options;
    const person = given.person ?? this.nextPerson();
    const form = formAt(forms, desk.now);
    const { firstName, lastName, phone, organization, address, email } = person;
    const domain = this.#nextDomain();
    const bio = `${firstName} ${lastName} works with ${organization}, mostly on ${domain.toLowerCase()}.`;
    this.#lastCrmNumber += draw.whole(1, 9);
    const crmId = `C-${this.#lastCrmNumber}`;
    const inCrm = given.source === "crm" || draw.chance(0.4);
    const row = {
      personId: desk.newId("per"),
      primaryEmail: email,
      contactDetails: {
        firstName,
        lastName,
        organization,
        ...(draw.chance(0.7) ? { phone } : {}),
        ...(inCrm ? { address } : {}),
      },
      kinds: given.kinds,
      ...(given.platformUserId === undefined ? {} : { platformUserId: given.platformUserId }),
      customFields: personValues(form, draw, { domain, bio }),
      customFieldSchemaVersion: form.schemaVersion,
      externalRefs: inCrm ? [{ namespace: "crm", objectType: "contact", externalId: crmId }] : [],
      provenance: { source: given.source, ...(given.source === "crm" ? { sourceId: crmId } : {}) },
      active: true,
      anonymizedAt: null,
      mergedIntoPersonId: null,
      metadata: given.source === "crm" ? { crmOwner: draw.one(["north", "south", "west"]) } : {},
    };
    return desk.add("persons", row, given.by ? { by: given.by } : {});
  }

  /** An applicant of a track: somebody new, or one who comes again. */
  async enrol(desk: Desk, call: Call): Promise<KnownApplicant> {
    this.#applications += 1;
    if (this.#applications % returningEvery === 0 && this.known.length > 0) {
      return this.#enrolAgain(desk, this.#options.draw.one(this.known), call);
    }
    const applicant = await this.#register(desk, call);
    this.known.push(applicant);
    if (this.known.length > maxKnown) this.known.shift();
    return applicant;
  }

  async #enrolAgain(desk: Desk, applicant: KnownApplicant, { programId, trackId }: Call): Promise<KnownApplicant> {
    const { applicantId } = applicant;
    const union = ({ programIds, trackIds }: Row<"applicants">) => ({
      programIds: [...new Set([...programIds, programId])],
      trackIds: [...new Set([...trackIds, trackId])],
    });
    await desk.change("applicants", applicantId, union, { by: { type: "applicant", id: applicantId } });
    return applicant;
  }

  async #register(desk: Desk, { programId, trackId }: Call): Promise<KnownApplicant> {
    const applicantId = desk.newId("app");
    const innovatorId = desk.newId("inn");
    const by: Author = { type: "applicant", id: applicantId };
    const shared = this.ambiguous.pop();
    const person = shared ?? this.nextPerson();
    const unlinked = shared !== undefined || this.#applications % unlinkedEvery === 1;
    const given = { person, kinds: ["applicant"], source: "portal", platformUserId: innovatorId, by } satisfies Given;
    const personId = unlinked ? null : (await this.addPerson(desk, given)).personId;
    const applicant = { applicantId, innovatorId, email: person.email, name: fullName(person), personId };
    const enrolled = { programIds: [programId], trackIds: [trackId], registeredAt: desk.now };
    await desk.add("applicants", { ...applicant, ...enrolled }, { action: "applicant.registered", by });
    return applicant;
  }
}

/** Persons who neither apply nor review, and the cases that a matching of persons has to stand. */
export function planContacts(people: People, { timeline, forms }: PeopleOptions): void {
  const contact = (desk: Desk, person?: NewPerson) =>
    people.addPerson(desk, { kinds: ["contact"], source: "crm", ...(person ? { person } : {}) });
  timeline.on(470, "crm", async (desk) => {
    for (let count = 0; count < 12; count++) await contact(desk);
  });
  timeline.on(105, "office", async (desk) => {
    for (let count = 0; count < 8; count++) await people.addPerson(desk, { kinds: ["contact"], source: "manual" });
    const { personId } = await people.addPerson(desk, { kinds: ["contact"], source: "manual" });
    await desk.change("persons", personId, { primaryEmail: null });
  });
  planDuplicates(people, timeline);
  planMerge(people, timeline, forms[1]);
  planAnonymization(people, timeline);
}

/** Two pairs share an address; with one of them somebody applies, who can then be matched to neither. */
function planDuplicates(people: People, timeline: Timeline): void {
  const shared = people.nextPerson();
  const [one, two]: [NewPerson, NewPerson] = [people.nextPerson(), people.nextPerson()];
  timeline.on(96, "crm", async (desk) => {
    await people.addPerson(desk, { person: shared, kinds: ["contact"], source: "crm" });
    await people.addPerson(desk, { person: { ...shared, phone: two.phone }, kinds: ["applicant"], source: "crm" });
    await people.addPerson(desk, { person: one, kinds: ["contact"], source: "crm" });
    people.ambiguous.push(shared);
  });
  timeline.on(26, "office", async (desk) => {
    const email = `${one.email.charAt(0).toUpperCase()}${one.email.slice(1)}`;
    await people.addPerson(desk, { person: { ...one, email }, kinds: ["contact"], source: "manual" });
  });
}

/** Two records of one person, and their merge. */
function planMerge(people: People, timeline: Timeline, form: PersonForm): void {
  const person = people.nextPerson();
  const privately = people.nextPerson();
  let pair: readonly [source: string, target: string] | undefined;
  timeline.on(92, "crm", async (desk) => {
    const target = await people.addPerson(desk, { person, kinds: ["contact"], source: "crm" });
    const source = await people.addPerson(desk, {
      person: { ...person, email: privately.email },
      kinds: ["applicant"],
      source: "crm",
    });
    pair = [source.personId, target.personId];
  });
  timeline.on(33, "office", async (desk) => {
    const [source, target] = [
      await desk.tx.get("persons", pair?.[0] ?? ""),
      await desk.tx.get("persons", pair?.[1] ?? ""),
    ];
    if (!source || !target) throw new Error("No persons to merge");
    const merged = mergePersons(source, target, form.fields, []);
    // The source lets go of its references before the target takes them over.
    await desk.change("persons", source.personId, merged.source, { action: "person.merged" });
    await desk.change("persons", target.personId, merged.target, { action: "person.merged" });
  });
}

function planAnonymization(people: People, timeline: Timeline): void {
  let personId = "";
  timeline.on(88, "office", async (desk) => {
    ({ personId } = await people.addPerson(desk, { kinds: ["contact"], source: "manual" }));
  });
  timeline.on(19, "office", async (desk) => {
    const nothing = {
      primaryEmail: null,
      contactDetails: null,
      platformUserId: null,
      customFields: {},
      externalRefs: [],
      metadata: {},
    };
    await desk.change(
      "persons",
      personId,
      { ...nothing, active: false, anonymizedAt: desk.now },
      { action: "person.anonymized" },
    );
  });
}

/** The version that was in use at a time. */
function formAt([first, second]: PeopleOptions["forms"], at: string): PersonForm {
  return second.publishedAt !== null && at >= second.publishedAt ? second : first;
}

function fullName({ firstName, lastName }: Name): string {
  return `${firstName} ${lastName}`;
}
