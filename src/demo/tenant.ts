import type { Documents } from "./documents.ts";
import { Forms } from "./forms.ts";
import { MailHistory } from "./mail.ts";
import { Panel } from "./panel.ts";
import { People, planSpecialPersons } from "./people.ts";
import { planPrograms, planPublications } from "./programs.ts";
import type { RandomPicker } from "./random-picker.ts";
import { getChannel, getScenario, type ScenarioName, type ScenarioStep } from "./scenarios.ts";
import { ServiceSession, type ServiceSessionOptions } from "./service-session.ts";
import { createSteps } from "./submission-steps.ts";
import type { PlannedSubmission, PlannedTrack, TenantPlan } from "./tenant-plan.ts";
import { hostileProjects, listProjectDomains, listProjects } from "./texts.ts";
import { Timeline } from "./timeline.ts";

export interface TenantOptions extends ServiceSessionOptions {
  /** The present. */
  readonly now: Date;
  readonly picker: RandomPicker;
  readonly documents: Documents;
  /** The factor for the number of submissions; with it there are more reviewers, too, and each reviews more. */
  readonly scale?: number;
  /** True if no mail is queued, and none is recorded as sent. */
  readonly suppressMail: boolean;
}

/** Every how many submissions one comes in by the interface. */
const integrationEvery = 4;

/** Plans everything that happens in a tenant. */
export function planTenant(plan: TenantPlan, options: TenantOptions) {
  const { now, clock, picker, documents, suppressMail, scale = 1 } = options;
  const growth = Math.sqrt(Math.max(1, scale));
  const timeline = new Timeline(now, clock, picker);
  const session = new ServiceSession(options);
  const newId = (prefix: string, daysAgo: number) => options.newId(prefix, Date.parse(timeline.time(daysAgo, 0)));
  const domains = listProjectDomains(plan.projects);
  const people = new People(session, picker, domains);
  const firstDaysAgo = Math.max(...Object.values({ ...plan.forms, ...plan.personForms }));
  const forms = new Forms(domains, (prefix) => newId(prefix, firstDaysAgo));
  const services = { timeline, session, people, forms, newId, year: now.getUTCFullYear(), growth };
  planPublications(plan, services);
  const tracks = planPrograms(plan, services);

  const mail = new MailHistory(session, picker, suppressMail);
  const panel = new Panel({ timeline, session, picker, people, mail, domains });
  panel.inviteAll(plan.invitations, tracks, growth);
  for (const { daysAgo, count, source } of plan.contacts) {
    for (let added = 0; added < count; added++) {
      timeline.on(daysAgo, source === "crm" ? "crm" : "staff", () => people.addPerson({ kinds: ["contact"], source }));
    }
  }
  if (plan.specialPersons) planSpecialPersons(people, timeline, session);

  const steps = createSteps({ session, picker, people, documents, mail, panel });
  for (const submission of listSubmissions(plan, tracks, options)) {
    const { scenario, track, variant, source } = submission;
    for (const [step, daysBefore] of Object.entries(scenario.steps) as [ScenarioStep, number][]) {
      // A further submission of a scenario is three or six days earlier than the first.
      const daysAgo = (track.plan.ends ?? 0) + daysBefore + (variant % 3) * 3;
      timeline.on(daysAgo, getChannel(step, source), () => steps[step](submission));
    }
  }
  const current = tracks.find(({ program }) => program.year === now.getUTCFullYear());
  if (current && plan.informed !== undefined) {
    timeline.on(plan.informed, "staff", () => mail.sendBulk(current.program, people.known.slice(-14)));
  }
  return { timeline, tracks };
}

function* listSubmissions(
  { projects }: TenantPlan,
  tracks: readonly PlannedTrack[],
  { picker, scale = 1 }: TenantOptions,
): Generator<PlannedSubmission> {
  let groups = 0;
  for (const track of tracks) {
    const nextProject = picker.createDeck(listProjects(projects));
    const { key, submissions, scaled } = track.plan;
    const copies = scaled ? Math.max(1, Math.floor(scale)) : 1;
    for (const [name, count] of Object.entries(submissions) as [ScenarioName, number][]) {
      const scenario = getScenario(name);
      for (let variant = 0; variant < count; variant++) {
        const source = ++groups % integrationEvery === 0 ? "integration" : "portal";
        for (let copy = 0; copy < copies; copy++) {
          const first = variant === 0 && copy === 0;
          const hostile = hostileProjects.find((each) => first && each.track === key && each.scenario === name);
          const merit = scenario.merit + picker.pickInteger(-8, 8) / 100;
          const project = hostile ?? nextProject();
          const later = { submissionId: "", title: "", applicant: { email: "", name: "" }, assignments: [] };
          yield { track, scenario, variant, source, project, hostile, merit, ...later };
        }
      }
    }
  }
}
