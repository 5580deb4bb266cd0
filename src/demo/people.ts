import type { Person } from "../contract/persons.ts";
import reasons from "./data/reasons.json" with { type: "json" };
import { pickFieldValues } from "./field-values.ts";
import type { PersonForm } from "./forms.ts";
import { createNames, type NewPerson } from "./names.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { ServiceSession } from "./service-session.ts";
import type { Timeline } from "./timeline.ts";

/** Somebody who hands in applications. */
export interface KnownApplicant {
  readonly email: string;
  readonly name: string;
  readonly personId: string | null;
}

interface NewRecord {
  readonly person?: NewPerson;
  readonly kinds: Person["kinds"];
  readonly source: "portal" | "crm" | "manual";
  readonly platformUserId?: string;
  readonly withoutEmail?: boolean;
}

/** Every sixth application comes from somebody who has applied before, every twelfth from somebody without a person. */
const returningEvery = 6;
const unlinkedEvery = 12;

/** Makes a tenant's persons and applicants. */
export class People {
  readonly nextPerson: () => NewPerson;
  readonly known: KnownApplicant[] = [];
  /** Those whose address two active persons share. */
  readonly ambiguous: NewPerson[] = [];
  /** The person schema in use. Without one, there are applicants and reviewers but no persons. */
  form: PersonForm | undefined;
  readonly #session: ServiceSession;
  readonly #picker: RandomPicker;
  readonly #nextDomain: () => string;
  #applications = 0;
  #lastCrmNumber = 10_000;

  constructor(session: ServiceSession, picker: RandomPicker, domains: readonly string[]) {
    this.#session = session;
    this.#picker = picker;
    this.nextPerson = createNames(picker);
    this.#nextDomain = picker.createDeck(domains);
  }

  addPerson({ kinds, source, platformUserId, withoutEmail, person = this.nextPerson() }: NewRecord): Promise<Person> {
    const picker = this.#picker;
    const { firstName, lastName, phone, organization, address, email } = person;
    const domain = this.#nextDomain();
    this.#lastCrmNumber += picker.pickInteger(1, 9);
    const crmId = `C-${this.#lastCrmNumber}`;
    const inCrm = source === "crm" || picker.isLikely(0.4);
    const texts = {
      main_domain: domain,
      short_bio: `${firstName} ${lastName} works with ${organization}, mostly on ${domain.toLowerCase()}.`,
      member_number: `M-${picker.pickInteger(10_000, 99_999)}`,
      emergency_contact: `Known to the office, file ${picker.pickInteger(100, 999)}`,
      access_needs: picker.pick(reasons.accessNeeds),
    };
    return this.#session.call("create_person", {
      kinds,
      provenance: { source, ...(source === "crm" ? { sourceId: crmId } : {}) },
      ...(withoutEmail ? {} : { primaryEmail: email }),
      contactDetails: {
        firstName,
        lastName,
        organization,
        ...(picker.isLikely(0.7) ? { phone } : {}),
        ...(inCrm ? { address } : {}),
      },
      ...(platformUserId === undefined ? {} : { platformUserId }),
      customFields: pickFieldValues(this.form?.fields ?? [], texts, picker),
      externalRefs: inCrm ? [{ namespace: "crm", objectType: "contact", externalId: crmId }] : [],
      ...(source === "crm" ? { metadata: { crmOwner: picker.pick(["north", "south", "west"]) } } : {}),
    });
  }

  /** Picks who applies next: somebody new, with or without a person, or somebody who has applied before. */
  async nextApplicant(): Promise<KnownApplicant> {
    this.#applications += 1;
    if (this.form && this.#applications % returningEvery === 0) return this.#picker.pick(this.known);
    const shared = this.ambiguous.pop();
    const person = shared ?? this.nextPerson();
    const unlinked = !this.form || shared !== undefined || this.#applications % unlinkedEvery === 1;
    const platformUserId = this.#session.newId("inn");
    const record = { person, kinds: ["applicant"], source: "portal", platformUserId } satisfies NewRecord;
    const personId = unlinked ? null : (await this.addPerson(record)).personId;
    const applicant = { email: person.email, name: `${person.firstName} ${person.lastName}`, personId };
    this.known.push(applicant);
    return applicant;
  }

  /** Registers an applicant on a track in the portal. The person takes over the id that the portal gives. */
  async register({ email, name, personId }: KnownApplicant, trackId: string): Promise<string> {
    const { applicantId } = await this.#session.act("register_applicant", { trackId, email, name });
    if (personId !== null) {
      const platformUserId = (await this.#session.reader.get("applicants", applicantId))?.innovatorId;
      const person = await this.#session.reader.get("persons", personId);
      if (person?.platformUserId !== platformUserId) {
        await this.#session.callOn("update_person", "persons", personId, { platformUserId });
      }
    }
    return applicantId;
  }
}

/** Plans the cases that a matching of persons has to handle. */
export function planSpecialPersons(people: People, timeline: Timeline, session: ServiceSession): void {
  const add = (kind: Person["kinds"][number], source: "crm" | "manual", person = people.nextPerson()) =>
    people.addPerson({ kinds: [kind], source, person });
  timeline.on(105, "staff", () => people.addPerson({ kinds: ["contact"], source: "manual", withoutEmail: true }));

  // Two pairs share an address. Somebody applies with one of them, who can then be matched to neither.
  const [shared, other, repeated] = [people.nextPerson(), people.nextPerson(), people.nextPerson()];
  timeline.on(96, "crm", async () => {
    await add("contact", "crm", shared);
    await add("applicant", "crm", { ...shared, phone: other.phone });
    await add("contact", "crm", repeated);
    people.ambiguous.push(shared);
  });
  const email = repeated.email.replace(/^./, (letter) => letter.toUpperCase());
  timeline.on(26, "staff", () => add("contact", "manual", { ...repeated, email }));

  let [target, source]: Person[] = [];
  timeline.on(92, "crm", async () => {
    const person = people.nextPerson();
    target = await add("contact", "crm", person);
    source = await add("applicant", "crm", { ...person, email: people.nextPerson().email });
  });
  timeline.on(33, "staff", () =>
    session.call("merge_person", {
      personId: source?.personId,
      sourceVersion: source?.version,
      targetPersonId: target?.personId,
      targetVersion: target?.version,
    }),
  );

  let anonymous: Person | undefined;
  timeline.on(88, "staff", async () => {
    anonymous = await add("contact", "manual");
  });
  const emptied = { primaryEmail: null, contactDetails: null, platformUserId: null, active: false };
  const lists = { customFields: {}, externalRefs: [], metadata: {} };
  timeline.on(19, "staff", () =>
    session.change("persons", anonymous?.personId ?? "", { ...emptied, ...lists, anonymizedAt: session.now }),
  );
}
