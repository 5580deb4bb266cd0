import { scopes } from "../contract/scopes.ts";
import { createSeededRandom } from "../lib/crypto/random.ts";
import { createSeededIds } from "../lib/ids.ts";
import type { ContentStore, Store } from "../store/port.ts";
import { planArtsTenant } from "./arts-tenant.ts";
import { type Documents, storeDocuments } from "./documents.ts";
import { createFees } from "./fees.ts";
import { planFundTenant } from "./fund-tenant.ts";
import { createMail, type Mail } from "./mail.ts";
import { People, type PeopleOptions, planContacts } from "./people.ts";
import { createPersonForms } from "./person-form.ts";
import { fundDomains, fundProjects, residencyDomains, residencyProjects } from "./projects.ts";
import { createRandomPicker, type RandomPicker } from "./random-picker.ts";
import { Panel } from "./reviewers.ts";
import { Reviewing } from "./reviewing.ts";
import {
  communityCounts,
  computeStaggerDays,
  lastYearCounts,
  pilotCounts,
  residencyCounts,
  type ScenarioCounts,
  type ScenarioName,
  type ScenarioStep,
  scenarios,
} from "./scenarios.ts";
import type { SubmissionGroup } from "./submission-group.ts";
import { createSteps } from "./submissions.ts";
import { Supplements } from "./supplements.ts";
import { type Channel, dayMs, type OnProgress, Timeline } from "./timeline.ts";
import type { TrackFixture } from "./track-fixture.ts";

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
const groupSize = 50;

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
  const picker = createRandomPicker(random);
  const newId = createSeededIds(random);

  const open = async (name: string, daysAgo: number): Promise<TenantSetting> => {
    const openedMs = now.getTime() - daysAgo * dayMs;
    const businessId = newId("biz", openedMs);
    await store.insertBusiness({ businessId, name, createdAt: new Date(openedMs).toISOString() });
    const timeline = new Timeline({ store, businessId, now, random, picker });
    await store.insertToken({
      tokenId: timeline.crm.id,
      businessId,
      name: "CRM synchronisation",
      // The digest of nothing that is known: nobody can come in with this token.
      sha256: picker.pickDigest(),
      prefix: picker.pickDigest().slice(0, 6),
      scopes: scopes.filter((scope) => !scope.startsWith("exports:")),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: timeline.time(1, 4),
      createdAt: timeline.time(400, 10),
    });
    return { timeline, picker, documents, year: now.getUTCFullYear() };
  };
  await fillFundTenant(await open("Aldersund Foundation", 900), scale, (share) => onProgress(share * foundationShare));
  const restShare = 1 - foundationShare;
  await fillArtsTenant(await open("Harbourlight Arts Trust", 640), (share) =>
    onProgress(foundationShare + share * restShare),
  );
}

interface TenantSetting {
  readonly timeline: Timeline;
  readonly picker: RandomPicker;
  readonly documents: Documents;
  readonly year: number;
}

async function fillFundTenant(setting: TenantSetting, scale: number, onProgress: OnProgress): Promise<void> {
  const { timeline } = setting;
  // With more submissions there are more reviewers, and each reads more.
  const growth = Math.sqrt(Math.max(1, scale));
  const calls = planFundTenant({ ...setting, maxPerReviewer: Math.ceil(16 * growth) });
  const { people, peopleOptions, panel, mail, planSubmissions } = createTenantServices(setting, fundDomains, 520);
  const { community, pilot, lastYear } = calls;

  const before = { fate: "active", invitedDaysAgo: 430, fixtures: [lastYear], addedLater: [community] } as const;
  panel.invite({ ...before, lead: true, final: true });
  panel.invite({ ...before, addedLater: [community, pilot] });
  panel.invite({ ...before, maxAssignments: Math.ceil(24 * growth) });
  panel.invite(before);
  panel.invite({ ...before, fate: "inactive", addedLater: [] });
  const both = { fate: "active", invitedDaysAgo: 88, fixtures: [community, pilot] } as const;
  panel.invite({ ...both, lead: true, final: true });
  for (let more = 0; more < Math.round(5 * growth + 9 * (growth - 1)); more++) {
    panel.invite(more % 3 === 0 ? { ...both, maxAssignments: Math.ceil(28 * growth) } : both);
  }
  panel.invite({ ...both, fate: "declined" });
  panel.invite({ ...both, fate: "invited", invitedDaysAgo: 32 });
  panel.invite({ ...both, fate: "invited", invitedDaysAgo: 5, fixtures: [community] });
  planContacts(people, peopleOptions);

  planSubmissions(lastYear, lastYearCounts, 1);
  planSubmissions(community, communityCounts, scale);
  planSubmissions(pilot, pilotCounts, scale);
  planInformation(timeline, people, mail, community);
  await timeline.run(onProgress);
}

async function fillArtsTenant(setting: TenantSetting, onProgress: OnProgress): Promise<void> {
  const fixture = planArtsTenant({ ...setting, maxPerReviewer: 12 });
  const { people, panel, planSubmissions } = createTenantServices(setting, residencyDomains, 120);
  setting.timeline.on(100, "crm", async (history) => {
    for (let count = 0; count < 4; count++) await people.addPerson(history, { kinds: ["contact"], source: "crm" });
  });
  for (let count = 0; count < 4; count++) {
    panel.invite({ fate: "active", invitedDaysAgo: 85, fixtures: [fixture], lead: count === 0 });
  }
  panel.invite({ fate: "invited", invitedDaysAgo: 6, fixtures: [fixture] });
  planSubmissions(fixture, residencyCounts, 1);
  await setting.timeline.run(onProgress);
}

/** The people of a tenant, and what sends submissions of a course on their journeys. */
function createTenantServices(
  { timeline, picker, documents }: TenantSetting,
  domains: readonly string[],
  daysAgo: number,
) {
  const [first, form] = createPersonForms(timeline, domains, daysAgo, 110);
  timeline.on(
    daysAgo,
    "office",
    async (history) => void (await history.add("personSchemas", first, { action: "person_schema.published" })),
  );
  timeline.on(110, "office", async (history) => {
    await history.change("personSchemas", first.personSchemaId, { active: false });
    await history.add("personSchemas", form, { action: "person_schema.published" });
  });
  const peopleOptions: PeopleOptions = { timeline, picker, forms: [first, form], domains };
  const people = new People(peopleOptions);
  const mail = createMail(picker);
  const panel = new Panel({ timeline, picker, people, mail, domains });
  const steps = createSteps({
    picker,
    people,
    documents,
    mail,
    fees: createFees(picker, timeline.staff[0]),
    supplements: new Supplements({ picker, documents, nextPerson: people.nextPerson }),
    reviewing: new Reviewing({ picker, panel, mail }),
  });
  let submissions = 0;

  const planSubmissions = (fixture: TrackFixture, counts: ScenarioCounts, scale: number): void => {
    for (const [name, count] of Object.entries(counts)) {
      for (let index = 0; index < count; index++) {
        const source = ++submissions % integrationEvery === 0 ? "integration" : "portal";
        for (const size of listGroupSizes(scale)) {
          const scenario = scenarios[name as ScenarioName];
          const group: SubmissionGroup = {
            fixture,
            scenario,
            variant: index,
            size,
            source,
            project: fixture.nextProject(),
            copies: [],
            seats: [],
          };
          for (const [step, daysBefore] of scenario.steps) {
            const day = toWorkingDay(fixture.endsDaysAgo + daysBefore + computeStaggerDays(index));
            timeline.on(day, getChannel(step, source), (history) => steps[step](history, group), size);
          }
        }
      }
    }
  };
  return { people, peopleOptions, panel, mail, planSubmissions };
}

function* listGroupSizes(scale: number): Generator<number> {
  for (let left = Math.max(1, Math.floor(scale)); left > 0; left -= groupSize) yield Math.min(left, groupSize);
}

/** Work of three days is told as that of the last, for every transaction waits for the disk. */
const workEveryDays = 3;

function toWorkingDay(daysAgo: number): number {
  return daysAgo - ((daysAgo - 1) % workEveryDays);
}

const portalSteps: ReadonlySet<ScenarioStep> = new Set([
  "answer",
  "respond",
  "review",
  "respond2",
  "review2",
  "withdraw",
]);

/** What applicants do who come by the interface: the CRM does it. */
const applicantSteps: ReadonlySet<ScenarioStep> = new Set(["begin", "create", "pay", "submit"]);

function getChannel(step: ScenarioStep, source: SubmissionGroup["source"]): Channel {
  if (applicantSteps.has(step)) return source === "portal" ? "portal" : "crm";
  return portalSteps.has(step) ? "portal" : "office";
}

/** A message to many applicants at once; the latest are still in the queue. */
function planInformation(timeline: Timeline, people: People, mail: Mail, { program }: TrackFixture): void {
  timeline.on(1, "office", async (history) => {
    const about = { programId: program.programId, programName: program.name, bulkId: history.newId("blk") };
    for (const [index, { email, name }] of people.known.slice(-14).entries()) {
      const status = index < 10 ? {} : ({ status: "queued" } as const);
      await mail(history, "session", { email, name, kind: "applicant" }, { ...about, ...status });
    }
  });
}
