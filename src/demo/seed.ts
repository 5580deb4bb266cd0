import { scopes } from "../contract/scopes.ts";
import { createSeededRandom } from "../lib/crypto/random.ts";
import { createSeededIds } from "../lib/ids.ts";
import type { ContentStore, Store } from "../store/port.ts";
import type { Batch } from "./batch.ts";
import type { Course } from "./course.ts";
import { type Documents, storeDocuments } from "./documents.ts";
import { createDraw, type Draw } from "./draw.ts";
import { createFees } from "./fees.ts";
import { planFoundation } from "./foundation.ts";
import {
  communityTraffic,
  type JourneyName,
  journeys,
  lastYearTraffic,
  pilotTraffic,
  residencyTraffic,
  type Step,
  stagger,
  type Traffic,
} from "./journeys.ts";
import { createMail, type Mail } from "./mail.ts";
import { People, type PeopleOptions, planContacts } from "./people.ts";
import { personForms } from "./person-form.ts";
import { fundDomains, fundProjects, residencyDomains, residencyProjects } from "./projects.ts";
import { Panel } from "./reviewers.ts";
import { Reviewing } from "./reviewing.ts";
import { createSteps } from "./submissions.ts";
import { Supplements } from "./supplements.ts";
import { type Door, dayMs, type OnProgress, Timeline } from "./timeline.ts";
import { planTrust } from "./trust.ts";

export interface DemoOptions {
  /** The present: the newest records are of the day before. */
  readonly now: Date;
  /** The same seed and `now` give the same records. Default 1. */
  readonly seed?: number;
  /** How many times as many submissions this year's programme of the first organisation has. Default 1: about sixty. */
  readonly scale?: number;
  /** Is told now and then how much is done, from 0 to 1, and waited for; what it throws ends the work. */
  readonly onProgress?: OnProgress;
}

/** Submissions that share each step of their journey; more of them take turns. */
const batchSize = 50;

/** How much of the work is the first organisation's, about. */
const foundationShare = 0.8;

/** Every how many submissions one comes in by the interface. */
const integrationEvery = 4;

/**
 * Fills an empty database with two organisations' work: a foundation with a fund for community projects and pilots,
 * and a smaller arts trust. Deterministic from `seed` and `now`: same ids, same texts. All of it is there or none.
 *
 * @returns false where the database is not empty: nothing is added
 */
export async function seedDemo(store: Store, content: ContentStore, options: DemoOptions): Promise<boolean> {
  // Not within the transaction, which would wait for another service.
  const documents = await storeDocuments(content, [...fundProjects, ...residencyProjects]);
  return store.fill((empty) => fillOrganisations(empty, documents, options));
}

async function fillOrganisations(store: Store, documents: Documents, options: DemoOptions): Promise<void> {
  const { now, seed = 1, scale = 1, onProgress = () => undefined } = options;
  const random = createSeededRandom(seed);
  const draw = createDraw(random);
  const newId = createSeededIds(random);

  const open = async (name: string, daysAgo: number): Promise<Setting> => {
    const openedMs = now.getTime() - daysAgo * dayMs;
    const businessId = newId("biz", openedMs);
    await store.insertBusiness({ businessId, name, createdAt: new Date(openedMs).toISOString() });
    const timeline = new Timeline({ store, businessId, now, random, draw });
    await store.insertToken({
      tokenId: timeline.crm.id,
      businessId,
      name: "CRM synchronisation",
      // The digest of nothing that is known: nobody can come in with this token.
      sha256: draw.digest(),
      prefix: draw.digest().slice(0, 6),
      scopes: scopes.filter((scope) => !scope.startsWith("exports:")),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: timeline.time(1, 4),
      createdAt: timeline.time(400, 10),
    });
    return { timeline, draw, documents, year: now.getUTCFullYear() };
  };
  await fillFoundation(await open("Aldersund Foundation", 900), scale, (share) => onProgress(share * foundationShare));
  const restShare = 1 - foundationShare;
  await fillTrust(await open("Harbourlight Arts Trust", 640), (share) =>
    onProgress(foundationShare + share * restShare),
  );
}

interface Setting {
  readonly timeline: Timeline;
  readonly draw: Draw;
  readonly documents: Documents;
  readonly year: number;
}

async function fillFoundation(setting: Setting, scale: number, onProgress: OnProgress): Promise<void> {
  const { timeline } = setting;
  // With more submissions there are more reviewers, and each reads more.
  const growth = Math.sqrt(Math.max(1, scale));
  const calls = planFoundation({ ...setting, maxPerReviewer: Math.ceil(16 * growth) });
  const { people, peopleOptions, panel, mail, travel } = gather(setting, fundDomains, 520);
  const { community, pilot, lastYear } = calls;

  const before = { fate: "active", invitedDaysAgo: 430, courses: [lastYear], addedLater: [community] } as const;
  panel.invite({ ...before, lead: true, final: true });
  panel.invite({ ...before, addedLater: [community, pilot] });
  panel.invite({ ...before, maxAssignments: Math.ceil(24 * growth) });
  panel.invite(before);
  panel.invite({ ...before, fate: "inactive", addedLater: [] });
  const both = { fate: "active", invitedDaysAgo: 88, courses: [community, pilot] } as const;
  panel.invite({ ...both, lead: true, final: true });
  for (let more = 0; more < Math.round(5 * growth + 9 * (growth - 1)); more++) {
    panel.invite(more % 3 === 0 ? { ...both, maxAssignments: Math.ceil(28 * growth) } : both);
  }
  panel.invite({ ...both, fate: "declined" });
  panel.invite({ ...both, fate: "invited", invitedDaysAgo: 32 });
  panel.invite({ ...both, fate: "invited", invitedDaysAgo: 5, courses: [community] });
  planContacts(people, peopleOptions);

  travel(lastYear, lastYearTraffic, 1);
  travel(community, communityTraffic, scale);
  travel(pilot, pilotTraffic, scale);
  planInformation(timeline, people, mail, community);
  await timeline.run(onProgress);
}

async function fillTrust(setting: Setting, onProgress: OnProgress): Promise<void> {
  const course = planTrust({ ...setting, maxPerReviewer: 12 });
  const { people, panel, travel } = gather(setting, residencyDomains, 120);
  setting.timeline.on(100, "crm", async (desk) => {
    for (let count = 0; count < 4; count++) await people.addPerson(desk, { kinds: ["contact"], source: "crm" });
  });
  for (let count = 0; count < 4; count++) {
    panel.invite({ fate: "active", invitedDaysAgo: 85, courses: [course], lead: count === 0 });
  }
  panel.invite({ fate: "invited", invitedDaysAgo: 6, courses: [course] });
  travel(course, residencyTraffic, 1);
  await setting.timeline.run(onProgress);
}

/** The people of a tenant, and what sends submissions of a course on their journeys. */
function gather({ timeline, draw, documents }: Setting, domains: readonly string[], daysAgo: number) {
  const [first, form] = personForms(timeline, domains, daysAgo, 110);
  timeline.on(
    daysAgo,
    "office",
    async (desk) => void (await desk.add("personSchemas", first, { action: "person_schema.published" })),
  );
  timeline.on(110, "office", async (desk) => {
    await desk.change("personSchemas", first.personSchemaId, { active: false });
    await desk.add("personSchemas", form, { action: "person_schema.published" });
  });
  const peopleOptions: PeopleOptions = { timeline, draw, forms: [first, form], domains };
  const people = new People(peopleOptions);
  const mail = createMail(draw);
  const panel = new Panel({ timeline, draw, people, mail, domains });
  const steps = createSteps({
    draw,
    people,
    documents,
    mail,
    fees: createFees(draw, timeline.staff[0]),
    supplements: new Supplements({ draw, documents, nextPerson: people.nextPerson }),
    reviewing: new Reviewing({ draw, panel, mail }),
  });
  let submissions = 0;

  const travel = (course: Course, traffic: Traffic, scale: number): void => {
    for (const [name, count] of Object.entries(traffic)) {
      for (let index = 0; index < count; index++) {
        const source = ++submissions % integrationEvery === 0 ? "integration" : "portal";
        for (const size of sizes(scale)) {
          const journey = journeys[name as JourneyName];
          const batch: Batch = {
            course,
            journey,
            variant: index,
            size,
            source,
            project: course.nextProject(),
            copies: [],
            seats: [],
          };
          for (const [step, daysBefore] of journey.steps) {
            const day = workingDay(course.endsDaysAgo + daysBefore + stagger(index));
            timeline.on(day, doorOf(step, source), (desk) => steps[step](desk, batch), size);
          }
        }
      }
    }
  };
  return { people, peopleOptions, panel, mail, travel };
}

function* sizes(scale: number): Generator<number> {
  for (let left = Math.max(1, Math.floor(scale)); left > 0; left -= batchSize) yield Math.min(left, batchSize);
}

/** Work of three days is told as that of the last, for every transaction waits for the disk. */
const workEveryDays = 3;

function workingDay(daysAgo: number): number {
  return daysAgo - ((daysAgo - 1) % workEveryDays);
}

const portalSteps: ReadonlySet<Step> = new Set(["answer", "respond", "review", "respond2", "review2", "withdraw"]);

/** What applicants do who come by the interface: the CRM does it. */
const applicantSteps: ReadonlySet<Step> = new Set(["begin", "create", "pay", "submit"]);

function doorOf(step: Step, source: Batch["source"]): Door {
  if (applicantSteps.has(step)) return source === "portal" ? "portal" : "crm";
  return portalSteps.has(step) ? "portal" : "office";
}

/** A message to many applicants at once; the latest are still in the queue. */
function planInformation(timeline: Timeline, people: People, mail: Mail, { program }: Course): void {
  timeline.on(1, "office", async (desk) => {
    const about = { programId: program.programId, programName: program.name, bulkId: desk.newId("blk") };
    for (const [index, { email, name }] of people.known.slice(-14).entries()) {
      const status = index < 10 ? {} : ({ status: "queued" } as const);
      await mail(desk, "session", { email, name, kind: "applicant" }, { ...about, ...status });
    }
  });
}
