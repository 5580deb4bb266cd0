import type { Person } from "../contract/persons.ts";
import type { Row } from "../store/tables.ts";
import type { HistorySession } from "./history-session.ts";
import { createNames, type NewPerson } from "./names.ts";
import { createPersonValues, type PersonForm } from "./person-form.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { Timeline } from "./timeline.ts";
import type { TrackFixture } from "./track-fixture.ts";

/** Somebody who hands in applications. */
export interface KnownApplicant {
  readonly email: string;
  readonly name: string;
  readonly personId: string | null;
}

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
  readonly platformUserId?: string;
  readonly withoutEmail?: boolean;
}

/** Every sixth application comes from somebody who has applied before, every twelfth from somebody without a person. */
const returningEvery = 6;
const unlinkedEvery = 12;
/** How many of the latest applicants may come again. */
const maxKnown = 40;

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

  addPerson(session: HistorySession, given: Given): Promise<Person> {
    const { picker, forms } = this.#options;
    const { firstName, lastName, phone, organization, address, email } = given.person ?? this.nextPerson();
    const { kinds, source, platformUserId, withoutEmail } = given;
    const domain = this.#nextDomain();
    const bio = `${firstName} ${lastName} works with ${organization}, mostly on ${domain.toLowerCase()}.`;
    this.#lastCrmNumber += picker.pickInteger(1, 9);
    const crmId = `C-${this.#lastCrmNumber}`;
    const inCrm = source === "crm" || picker.isLikely(0.4);
    const phoneKnown = picker.isLikely(0.7);
    const [first, second] = forms;
    const form = session.now >= (second.publishedAt ?? "") ? second : first;
    return session.call("create_person", {
      kinds,
      provenance: { source, ...(source === "crm" ? { sourceId: crmId } : {}) },
      ...(withoutEmail ? {} : { primaryEmail: email }),
      contactDetails: {
        firstName,
        lastName,
        organization,
        ...(phoneKnown ? { phone } : {}),
        ...(inCrm ? { address } : {}),
      },
      ...(platformUserId === undefined ? {} : { platformUserId }),
      customFields: createPersonValues(form, picker, { domain, bio }),
      externalRefs: inCrm ? [{ namespace: "crm", objectType: "contact", externalId: crmId }] : [],
      ...(source === "crm" ? { metadata: { crmOwner: picker.pick(["north", "south", "west"]) } } : {}),
    });
  }

  /** Picks who applies next: somebody new, with or without a person, or somebody who has applied before. */
  async nextApplicant(session: HistorySession): Promise<KnownApplicant> {
    this.#applications += 1;
    if (this.#applications % returningEvery === 0 && this.known.length > 0) {
      return this.#options.picker.pick(this.known);
    }
    const shared = this.ambiguous.pop();
    const person = shared ?? this.nextPerson();
    const unlinked = shared !== undefined || this.#applications % unlinkedEvery === 1;
    const platformUserId = session.newId("inn");
    const given = { person, kinds: ["applicant"], source: "portal", platformUserId } satisfies Given;
    const personId = unlinked ? null : (await this.addPerson(session, given)).personId;
    const applicant = { email: person.email, name: `${person.firstName} ${person.lastName}`, personId };
    this.known.push(applicant);
    if (this.known.length > maxKnown) this.known.shift();
    return applicant;
  }

  /** Registers an applicant on a track in the portal. The person takes over the id that the portal gives. */
  async register(
    session: HistorySession,
    { email, name, personId }: KnownApplicant,
    { track }: TrackFixture,
  ): Promise<string> {
    const { applicantId } = await session.act("register_applicant", { trackId: track.trackId, email, name });
    if (personId !== null) {
      const applicant = await session.reader.get("applicants", applicantId);
      const platformUserId = applicant?.innovatorId;
      const person = await session.reader.get("persons", personId);
      if (person?.platformUserId !== platformUserId) {
        await session.callOn("update_person", "persons", personId, { platformUserId });
      }
    }
    return applicantId;
  }
}

/** Plans persons who neither apply nor review, and the cases that a matching of persons has to handle. */
export function planContacts(people: People, timeline: Timeline): void {
  timeline.on(470, "crm", async (session) => {
    for (let count = 0; count < 12; count++) await people.addPerson(session, { kinds: ["contact"], source: "crm" });
  });
  timeline.on(105, "office", async (session) => {
    for (let count = 0; count < 8; count++) await people.addPerson(session, { kinds: ["contact"], source: "manual" });
    await people.addPerson(session, { kinds: ["contact"], source: "manual", withoutEmail: true });
  });
  planDuplicates(people, timeline);
  planMerge(people, timeline);
  planAnonymization(people, timeline);
}

/** Two pairs share an address. Somebody applies with one of them, who can then be matched to neither. */
function planDuplicates(people: People, timeline: Timeline): void {
  const shared = people.nextPerson();
  const [one, two]: [NewPerson, NewPerson] = [people.nextPerson(), people.nextPerson()];
  timeline.on(96, "crm", async (session) => {
    await people.addPerson(session, { person: shared, kinds: ["contact"], source: "crm" });
    await people.addPerson(session, { person: { ...shared, phone: two.phone }, kinds: ["applicant"], source: "crm" });
    await people.addPerson(session, { person: one, kinds: ["contact"], source: "crm" });
    people.ambiguous.push(shared);
  });
  timeline.on(26, "office", async (session) => {
    const email = `${one.email.charAt(0).toUpperCase()}${one.email.slice(1)}`;
    await people.addPerson(session, { person: { ...one, email }, kinds: ["contact"], source: "manual" });
  });
}

/** Plans two records of one person, and their merge. */
function planMerge(people: People, timeline: Timeline): void {
  const person = people.nextPerson();
  const { email } = people.nextPerson();
  const pair: Row<"persons">[] = [];
  timeline.on(92, "crm", async (session) => {
    pair.push(await people.addPerson(session, { person, kinds: ["contact"], source: "crm" }));
    pair.push(await people.addPerson(session, { person: { ...person, email }, kinds: ["applicant"], source: "crm" }));
  });
  timeline.on(33, "office", async (session) => {
    const [target, source] = pair;
    await session.call("merge_person", {
      personId: source?.personId,
      sourceVersion: source?.version,
      targetPersonId: target?.personId,
      targetVersion: target?.version,
    });
  });
}

function planAnonymization(people: People, timeline: Timeline): void {
  let personId = "";
  timeline.on(88, "office", async (session) => {
    ({ personId } = await people.addPerson(session, { kinds: ["contact"], source: "manual" }));
  });
  timeline.on(19, "office", (session) =>
    session.change("persons", personId, {
      primaryEmail: null,
      contactDetails: null,
      platformUserId: null,
      customFields: {},
      externalRefs: [],
      metadata: {},
      active: false,
      anonymizedAt: session.now,
    }),
  );
}
