import { createSeededRandom } from "../lib/crypto/random.ts";
import { createSeededIds } from "../lib/ids.ts";
import type { ContentStore, Store } from "../store/port.ts";
import { planArtsTenant } from "./arts-tenant.ts";
import { type Documents, storeDocuments } from "./documents.ts";
import { planFundTenant } from "./fund-tenant.ts";
import { MailHistory } from "./mail.ts";
import { People, planContacts } from "./people.ts";
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
  type Scenario,
  type ScenarioCounts,
  type ScenarioName,
  type ScenarioStep,
  scenarios,
} from "./scenarios.ts";
import type { SubmissionPlan } from "./submission-plan.ts";
import { createSteps } from "./submission-steps.ts";
import { fillPlaceholders, letters } from "./texts.ts";
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
      ...timeline.caller,
      name: "CRM synchronisation",
      // The digest of an unknown secret: nobody can use this token.
      sha256: picker.pickDigest(),
      prefix: picker.pickDigest().slice(0, 6),
      scopes: [...timeline.caller.scopes],
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
  const { people, panel, mail, planSubmissions } = createTenantServices(setting, fundDomains, 520);
  const { community, pilot, lastYear } = calls;

  const before = { status: "active", invitedDaysAgo: 430, fixtures: [lastYear], addedLater: [community] } as const;
  panel.invite({ ...before, lead: true, final: true });
  panel.invite({ ...before, addedLater: [community, pilot] });
  panel.invite({ ...before, maxAssignments: Math.ceil(24 * growth) });
  panel.invite(before);
  panel.invite({ ...before, status: "inactive", addedLater: [] });
  const both = { status: "active", invitedDaysAgo: 88, fixtures: [community, pilot] } as const;
  panel.invite({ ...both, lead: true, final: true });
  for (let more = 0; more < Math.round(5 * growth + 9 * (growth - 1)); more++) {
    panel.invite(more % 3 === 0 ? { ...both, maxAssignments: Math.ceil(28 * growth) } : both);
  }
  panel.invite({ ...both, status: "declined" });
  panel.invite({ ...both, status: "invited", invitedDaysAgo: 32 });
  panel.invite({ ...both, status: "invited", invitedDaysAgo: 5, fixtures: [community] });
  planContacts(people, timeline);

  planSubmissions(lastYear, lastYearCounts, 1);
  planSubmissions(community, communityCounts, scale);
  planSubmissions(pilot, pilotCounts, scale);
  planInformation(timeline, people, mail, community);
  await timeline.run(onProgress);
}

async function fillArtsTenant(setting: TenantSetting, onProgress: OnProgress): Promise<void> {
  const fixture = planArtsTenant({ ...setting, maxPerReviewer: 12 });
  const { people, panel, planSubmissions } = createTenantServices(setting, residencyDomains, 120);
  setting.timeline.on(100, "crm", async (session) => {
    for (let count = 0; count < 4; count++) await people.addPerson(session, { kinds: ["contact"], source: "crm" });
  });
  for (let count = 0; count < 4; count++) {
    panel.invite({ status: "active", invitedDaysAgo: 85, fixtures: [fixture], lead: count === 0 });
  }
  panel.invite({ status: "invited", invitedDaysAgo: 6, fixtures: [fixture] });
  planSubmissions(fixture, residencyCounts, 1);
  await setting.timeline.run(onProgress);
}

/** Creates the people of a tenant, and a function that plans the submissions of a track. */
function createTenantServices(
  { timeline, picker, documents }: TenantSetting,
  domains: readonly string[],
  daysAgo: number,
) {
  const forms = createPersonForms(timeline, domains, daysAgo, 110);
  const [first, second] = forms;
  timeline.on(daysAgo, "office", (session) => session.add("personSchemas", first));
  timeline.on(110, "office", async (session) => {
    await session.change("personSchemas", first.personSchemaId, { active: false });
    await session.add("personSchemas", second);
  });
  const people = new People({ timeline, picker, forms, domains });
  const mail = new MailHistory(picker);
  const panel = new Panel({ timeline, picker, people, mail, domains });
  const reviewing = new Reviewing({ picker, panel, mail });
  const steps = createSteps({ picker, people, documents, mail, reviewing });
  let submissions = 0;

  const planSubmissions = (fixture: TrackFixture, counts: ScenarioCounts, scale: number): void => {
    for (const [name, count] of Object.entries(counts)) {
      const scenario: Scenario = scenarios[name as ScenarioName];
      for (let variant = 0; variant < count; variant++) {
        const source = ++submissions % integrationEvery === 0 ? "integration" : "portal";
        for (let copy = 0; copy < Math.max(1, Math.floor(scale)); copy++) {
          const merit = scenario.merit + picker.pickInteger(-8, 8) / 100;
          const project = fixture.nextProject();
          const plan: SubmissionPlan = {
            fixture,
            scenario,
            variant,
            source,
            project,
            merit,
            submissionId: "",
            assignments: [],
          };
          for (const [step, daysBefore] of scenario.steps) {
            const day = fixture.endsDaysAgo + daysBefore + computeStaggerDays(variant);
            timeline.on(day, getChannel(step, source), (session) => steps[step](session, plan));
          }
        }
      }
    }
  };
  return { people, panel, mail, planSubmissions };
}

const portalSteps: ReadonlySet<ScenarioStep> = new Set([
  "answer",
  "respond",
  "review",
  "respond2",
  "review2",
  "withdraw",
]);

/** Steps of applicants. The CRM takes them for those who come by the interface. */
const applicantSteps: ReadonlySet<ScenarioStep> = new Set(["begin", "create", "pay", "submit"]);

function getChannel(step: ScenarioStep, source: SubmissionPlan["source"]): Channel {
  if (applicantSteps.has(step)) return source === "portal" ? "portal" : "crm";
  return portalSteps.has(step) ? "portal" : "office";
}

/** Plans a message to many applicants at once, the latest of which are still queued. */
function planInformation(timeline: Timeline, people: People, mail: MailHistory, { program }: TrackFixture): void {
  timeline.on(1, "office", async (session) => {
    const { now } = session;
    const { subject, body } = letters.session;
    const fill = (text: string) => fillPlaceholders(text, { name: "applicant", program: program.name });
    const applicantEmails = people.known.slice(-14).map(({ email }) => email);
    const applicants = { applicantEmails, subject: fill(subject), body: fill(body) };
    await session.call("send_bulk_email", { programId: program.programId, applicants });
    await mail.deliverQueued(session, now, 4);
  });
}
