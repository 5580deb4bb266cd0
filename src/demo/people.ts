import type { Person } from "../contract/persons.ts";
import { mergePersons } from "../domain/persons.ts";
import type { Row } from "../store/tables.ts";
import { createNames, type Name, type NewPerson } from "./names.ts";
import { createPersonValues, type PersonForm } from "./person-form.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { HistoryAuthor, HistoryTransaction, Timeline } from "./timeline.ts";

/** Who hands in applications, as submissions name them. */
export type KnownApplicant = Pick<Row<"applicants">, "applicantId" | "innovatorId" | "email" | "name" | "personId">;

export interface PeopleOptions {
  readonly timeline: Timeline;
  readonly picker: RandomPicker;
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
  readonly by?: HistoryAuthor;
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
    this.nextPerson = createNames(options.picker);
    this.#nextDomain = options.picker.createDeck(options.domains);
  }

  async addPerson(history: HistoryTransaction, given: Given): Promise<Row<"persons">> {
    const { picker, forms } = this.#options;
    const person = given.person ?? this.nextPerson();
    const form = formAt(forms, history.now);
    const { firstName, lastName, phone, organization, address, email } = person;
    const domain = this.#nextDomain();
    const bio = `${firstName} ${lastName} works with ${organization}, mostly on ${domain.toLowerCase()}.`;
    this.#lastCrmNumber += picker.pickInteger(1, 9);
    const crmId = `C-${this.#lastCrmNumber}`;
    const inCrm = given.source === "crm" || picker.isLikely(0.4);
    const row = {
      personId: history.newId("per"),
      primaryEmail: email,
      contactDetails: {
        firstName,
        lastName,
        organization,
        ...(picker.isLikely(0.7) ? { phone } : {}),
        ...(inCrm ? { address } : {}),
      },
      kinds: given.kinds,
      ...(given.platformUserId === undefined ? {} : { platformUserId: given.platformUserId }),
      customFields: createPersonValues(form, picker, { domain, bio }),
      customFieldSchemaVersion: form.schemaVersion,
      externalRefs: inCrm ? [{ namespace: "crm", objectType: "contact", externalId: crmId }] : [],
      provenance: { source: given.source, ...(given.source === "crm" ? { sourceId: crmId } : {}) },
      active: true,
      anonymizedAt: null,
      mergedIntoPersonId: null,
      metadata: given.source === "crm" ? { crmOwner: picker.pick(["north", "south", "west"]) } : {},
    };
    return history.add("persons", row, given.by ? { by: given.by } : {});
  }

  /** An applicant of a track: somebody new, or one who comes again. */
  async enrol(history: HistoryTransaction, call: Call): Promise<KnownApplicant> {
    this.#applications += 1;
    if (this.#applications % returningEvery === 0 && this.known.length > 0) {
      return this.#enrolAgain(history, this.#options.picker.pick(this.known), call);
    }
    const applicant = await this.#register(history, call);
    this.known.push(applicant);
    if (this.known.length > maxKnown) this.known.shift();
    return applicant;
  }

  async #enrolAgain(
    history: HistoryTransaction,
    applicant: KnownApplicant,
    { programId, trackId }: Call,
  ): Promise<KnownApplicant> {
    const { applicantId } = applicant;
    const union = ({ programIds, trackIds }: Row<"applicants">) => ({
      programIds: [...new Set([...programIds, programId])],
      trackIds: [...new Set([...trackIds, trackId])],
    });
    await history.change("applicants", applicantId, union, { by: { type: "applicant", id: applicantId } });
    return applicant;
  }

  async #register(history: HistoryTransaction, { programId, trackId }: Call): Promise<KnownApplicant> {
    const applicantId = history.newId("app");
    const innovatorId = history.newId("inn");
    const by: HistoryAuthor = { type: "applicant", id: applicantId };
    const shared = this.ambiguous.pop();
    const person = shared ?? this.nextPerson();
    const unlinked = shared !== undefined || this.#applications % unlinkedEvery === 1;
    const given = { person, kinds: ["applicant"], source: "portal", platformUserId: innovatorId, by } satisfies Given;
    const personId = unlinked ? null : (await this.addPerson(history, given)).personId;
    const applicant = { applicantId, innovatorId, email: person.email, name: fullName(person), personId };
    const enrolled = { programIds: [programId], trackIds: [trackId], registeredAt: history.now };
    await history.add("applicants", { ...applicant, ...enrolled }, { action: "applicant.registered", by });
    return applicant;
  }
}

/** Persons who neither apply nor review, and the cases that a matching of persons has to stand. */
export function planContacts(people: People, { timeline, forms }: PeopleOptions): void {
  const contact = (history: HistoryTransaction, person?: NewPerson) =>
    people.addPerson(history, { kinds: ["contact"], source: "crm", ...(person ? { person } : {}) });
  timeline.on(470, "crm", async (history) => {
    for (let count = 0; count < 12; count++) await contact(history);
  });
  timeline.on(105, "office", async (history) => {
    for (let count = 0; count < 8; count++) await people.addPerson(history, { kinds: ["contact"], source: "manual" });
    const { personId } = await people.addPerson(history, { kinds: ["contact"], source: "manual" });
    await history.change("persons", personId, { primaryEmail: null });
  });
  planDuplicates(people, timeline);
  planMerge(people, timeline, forms[1]);
  planAnonymization(people, timeline);
}

/** Two pairs share an address; with one of them somebody applies, who can then be matched to neither. */
function planDuplicates(people: People, timeline: Timeline): void {
  const shared = people.nextPerson();
  const [one, two]: [NewPerson, NewPerson] = [people.nextPerson(), people.nextPerson()];
  timeline.on(96, "crm", async (history) => {
    await people.addPerson(history, { person: shared, kinds: ["contact"], source: "crm" });
    await people.addPerson(history, { person: { ...shared, phone: two.phone }, kinds: ["applicant"], source: "crm" });
    await people.addPerson(history, { person: one, kinds: ["contact"], source: "crm" });
    people.ambiguous.push(shared);
  });
  timeline.on(26, "office", async (history) => {
    const email = `${one.email.charAt(0).toUpperCase()}${one.email.slice(1)}`;
    await people.addPerson(history, { person: { ...one, email }, kinds: ["contact"], source: "manual" });
  });
}

/** Two records of one person, and their merge. */
function planMerge(people: People, timeline: Timeline, form: PersonForm): void {
  const person = people.nextPerson();
  const privately = people.nextPerson();
  let pair: readonly [source: string, target: string] | undefined;
  timeline.on(92, "crm", async (history) => {
    const target = await people.addPerson(history, { person, kinds: ["contact"], source: "crm" });
    const source = await people.addPerson(history, {
      person: { ...person, email: privately.email },
      kinds: ["applicant"],
      source: "crm",
    });
    pair = [source.personId, target.personId];
  });
  timeline.on(33, "office", async (history) => {
    const [source, target] = [
      await history.tx.get("persons", pair?.[0] ?? ""),
      await history.tx.get("persons", pair?.[1] ?? ""),
    ];
    if (!source || !target) throw new Error("No persons to merge");
    const merged = mergePersons(source, target, form.fields, []);
    // The source lets go of its references before the target takes them over.
    await history.change("persons", source.personId, merged.source, { action: "person.merged" });
    await history.change("persons", target.personId, merged.target, { action: "person.merged" });
  });
}

function planAnonymization(people: People, timeline: Timeline): void {
  let personId = "";
  timeline.on(88, "office", async (history) => {
    ({ personId } = await people.addPerson(history, { kinds: ["contact"], source: "manual" }));
  });
  timeline.on(19, "office", async (history) => {
    const nothing = {
      primaryEmail: null,
      contactDetails: null,
      platformUserId: null,
      customFields: {},
      externalRefs: [],
      metadata: {},
    };
    await history.change(
      "persons",
      personId,
      { ...nothing, active: false, anonymizedAt: history.now },
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
