import { isDeepStrictEqual } from "node:util";
import type { OperationName } from "../../src/contract/index.ts";
import type { Person } from "../../src/contract/persons.ts";
import type { Reader } from "../../src/store/port.ts";
import type { Row, TableName } from "../../src/store/tables.ts";
import { rest } from "../support/clients/raw-http.ts";
import { fieldIds, personFieldIds } from "../support/data/seed-factory.ts";
import { listChanges } from "../support/data/state.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { type Call, createRequest } from "./calls.ts";
import { applyRequest, createModelSubmission } from "./model.ts";
import type { Expected, ModelAssignment, ModelRequest, ModelSubmission, ModelTenant } from "./tenant.ts";

/** Two tenants with three tokens each, and the processes that serve them. */
export interface Scenario {
  readonly servers: readonly TestServer[];
  readonly tokens: readonly (readonly string[])[];
  readonly origins: readonly string[];
  readonly tenants: ModelTenant[];
}

interface Exchange {
  readonly request: ModelRequest;
  readonly status: number;
  readonly isReplay: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the answer of any operation
  readonly body: any;
}

/** Creates two tenants, one of which screens submissions. */
export async function createScenario(server: TestServer, origins: readonly string[]): Promise<Scenario> {
  const servers = [await server.other(), await server.other()];
  const tenants = await Promise.all(servers.map((each, index) => createTenant(each, index === 0)));
  const reads = [
    "submissions:read",
    "supplements:read",
    "assignments:read",
    "programs:read",
    "tracks:read",
    "rounds:read",
    "persons:read",
  ] as const;
  const tokens = servers.map(async (each) => [
    await each.token(),
    await each.token([
      ...reads,
      "submissions:write",
      "supplements:write",
      "assignments:write",
      "programs:write",
      "tracks:write",
      "rounds:write",
      "feedback:write",
      "persons:write",
    ]),
    await each.token([...reads, "feedback:read"]),
  ]);
  return { servers, tenants, origins, tokens: await Promise.all(tokens) };
}

async function createTenant({ seed }: TestServer, screeningRequired: boolean): Promise<ModelTenant> {
  const { programId } = await seed.program({ screeningRequired });
  const track = await seed.track({ programId });
  const { rubricId } = await seed.rubric();
  const rounds = await Promise.all(
    [1, 2, 3].map((sequence) => seed.round({ ...track, rubricId, sequence, active: sequence < 3 })),
  );
  const reviewers = [await seed.reviewer(), await seed.reviewer(), await seed.reviewer()];
  const { reviewerId: inactiveReviewerId } = await seed.reviewer({ status: "inactive" });
  await seed.personSchema();
  const openFields = { [personFieldIds.standard]: "weaving" };
  const allFields = { ...openFields, [personFieldIds.restricted]: "asthma" };
  const { personId } = await seed.person({ customFields: allFields });
  const title = "A roof";
  const fields = { [fieldIds.title]: title };
  const submission = await seed.submission({ ...track, title, fields, deadline: "2090-01-01T00:00:00.000Z" });
  const { schemaId } = track;
  const supplement = await seed.supplement({ submissionId: submission.submissionId, schemaId, required: false });
  const reviewed = await createReviewed(seed, track, rounds[0]?.roundId ?? "", reviewers);
  const feedbacks = [1, 2, 3].map((each) =>
    seed.feedback({ programId, submissionId: submission.submissionId, body: `Answer ${each}` }),
  );
  return {
    fixed: {
      programId,
      supplementResponseId: supplement.supplementResponseId,
      trackId: track.trackId,
      personId,
      openFields,
      allFields,
      titleFieldId: fieldIds.title,
      screeningRequired,
      roundIds: rounds.map(({ roundId }) => roundId),
      reviewerIds: reviewers.map(({ reviewerId }) => reviewerId),
      inactiveReviewerId,
    },
    program: { version: 0, lifecycleStatus: "underway" },
    track: { version: 0, intakeOpen: true },
    rounds: rounds.map(({ roundId, active }) => ({ roundId, active, version: 0 })),
    feedbacks: (await Promise.all(feedbacks)).map(({ feedbackId, body, released }) => {
      return { feedbackId, body, released, version: 0 };
    }),
    supplement: { version: 0, status: supplement.status },
    submissions: [createModelSubmission(submission.submissionId, title), reviewed],
    persons: [],
    answers: new Map(),
    events: [],
    changes: [],
  };
}

/** Creates a submission in review, with an assignment that the first reviewer has. */
async function createReviewed(
  seed: TestServer["seed"],
  track: Row<"tracks">,
  roundId: string,
  reviewers: readonly Row<"reviewers">[],
): Promise<ModelSubmission> {
  const state = "IN_REVIEW";
  const [title, deadline] = ["A bridge", "2090-01-01T00:00:00.000Z"];
  const given = { trackId: track.trackId, title, fields: { [fieldIds.title]: title }, deadline };
  const { submissionId } = await seed.submission({ ...given, state, currentRoundId: roundId });
  const { programId, trackId } = track;
  const { reviewerId = "" } = reviewers[0] ?? {};
  const { assignmentId } = await seed.assignment({ programId, trackId, roundId, submissionId, reviewerId });
  const origin = { source: "manual", reassignedFromId: null };
  const assignment = { assignmentId, submissionId, reviewerId, roundId, ...origin, version: 0, active: true };
  return { ...createModelSubmission(submissionId, title), state, currentRoundId: roundId, assignments: [assignment] };
}

/**
 * Sends the calls of each group at once, and finds an order in which the model gives the same answers.
 * @returns the number of requests
 * @throws Error if no order explains the answers
 */
export async function runGroups(scenario: Scenario, groups: readonly (readonly Call[])[]): Promise<number> {
  let requests = 0;
  for (const group of groups) {
    const exchanges = await Promise.all(group.map((call) => exchange(scenario, call)));
    requests += exchanges.length;
    for (const [index, tenant] of scenario.tenants.entries()) {
      const own = exchanges.filter((_, position) => group[position]?.tenant === index);
      if (own.length > 0) scenario.tenants[index] = await explain(tenant, own, scenario.servers[index] as TestServer);
    }
  }
  return requests;
}

async function exchange({ tenants, tokens, origins }: Scenario, call: Call): Promise<Exchange> {
  const request = createRequest(call, tenants);
  const token = tokens[call.tenant]?.[call.token];
  const origin = origins[call.process % origins.length] as string;
  const headers: Record<string, string> = request.key === undefined ? {} : { "idempotency-key": request.key };
  const answer = await rest({ origin }, token, request.name satisfies OperationName, request.input, headers);
  const isReplay = answer.headers.get("idempotent-replayed") === "true";
  return { request, isReplay, status: answer.status, text: answer.text, body: answer.body };
}

/** Returns the tenant's model after the requests, in an order that explains their answers and what the store holds. */
async function explain(before: ModelTenant, exchanges: readonly Exchange[], server: TestServer): Promise<ModelTenant> {
  const applied = exchanges.filter((each) => !isWaiting(each, exchanges));
  const mismatches: string[] = [];
  const explanations: ModelTenant[] = [];
  for (const order of permute(applied)) {
    const tenant = structuredClone(before);
    const mismatch = order.map((each) => applyExchange(tenant, each)).find((text) => text !== undefined);
    if (mismatch !== undefined) mismatches.push(mismatch);
    else if (!explanations.some((other) => isDeepStrictEqual(readModel(other), readModel(tenant))))
      explanations.push(tenant);
  }
  const [only, ...others] = explanations;
  if (only === undefined)
    throw new Error(`No order of ${applied.length} requests explains their answers:\n${mismatches.join("\n")}`);
  if (others.length === 0) return only;
  // The event of a supplement has the version of its submission, which another request may have changed before or after.
  const stored = await readStore(server);
  return explanations.find((tenant) => isDeepStrictEqual(readModel(tenant), stored)) ?? only;
}

/** Returns whether a request was refused because the same request was in progress. */
function isWaiting(exchange: Exchange, all: readonly Exchange[]): boolean {
  if (exchange.body?.error?.code !== "idempotency_in_progress") return false;
  return all.some((other) => other !== exchange && isDeepStrictEqual(other.request, exchange.request));
}

/** Returns what differs from the model's answer. */
function applyExchange(tenant: ModelTenant, { request, status, text, body, isReplay }: Exchange): string | undefined {
  const expected = applyRequest(tenant, request, body?.data, text);
  const isSame =
    expected.replayed === undefined
      ? !isReplay && isExpected(expected, status, body)
      : isReplay && text === expected.replayed;
  if (isSame) return undefined;
  return `${request.name} ${JSON.stringify(request.input)}: expected ${JSON.stringify(expected)}, got ${status} ${text}`;
}

// biome-ignore lint/suspicious/noExplicitAny: the answer of any operation
function isExpected({ status, code, data = {} }: Expected, actualStatus: number, body: any): boolean {
  if (status !== actualStatus || code !== body?.error?.code) return false;
  return includes(body?.data ?? {}, data);
}

/** Returns whether a value has all properties of another one, at any depth. Lists have the same length. */
function includes(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return false;
    return expected.every((value, index) => includes(actual[index], value));
  }
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null)
    return isDeepStrictEqual(actual, expected);
  return Object.entries(expected).every(([name, value]) => includes((actual as Record<string, unknown>)[name], value));
}

function permute<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((first, index) => permute(items.toSpliced(index, 1)).map((rest) => [first, ...rest]));
}

/** Returns what the store holds at the end, in the model's terms. */
export async function readStore({ app, businessId }: TestServer) {
  const reader = app.store.reader(businessId);
  const events = (await app.store.listEvents(businessId, 100_000)).map(({ eventType, data }) => {
    const { submissionId, programId, version, fromState, toState, operation, fromStatus, toStatus } =
      data as unknown as Record<string, string>;
    const change = fromState ? `${fromState} ${toState} ${operation}` : fromStatus && `${fromStatus} ${toStatus}`;
    return { subject: submissionId ?? programId, eventType, version, ...(change ? { change } : {}) };
  });
  const entries = (await listChanges(app.store, businessId)).filter(({ entityType }) => entityType !== "applicant");
  const changes = entries.map(({ entityId, action }) => `${entityId} ${action}`);
  return {
    submissions: await reader.count("submissions", {}),
    persons: await listPersons(reader),
    assignments: await describeRows(reader, "assignments", describeAssignment),
    rounds: await describeRows(reader, "rounds", describeRound),
    feedbacks: await describeRows(reader, "feedbacks", describeFeedback),
    events: events.map((event) => JSON.stringify(event)).sort(),
    changes: changes.sort(),
  };
}

/** The persons that the requests made, without the one that never changes. */
async function listPersons(reader: Reader): Promise<string[]> {
  const persons: string[] = [];
  for await (const row of reader.scan("persons", {})) {
    if (Object.keys(row.customFields).length === 0) persons.push(describePerson(row));
  }
  return persons.sort();
}

async function describeRows<T extends TableName>(
  reader: Reader,
  table: T,
  describe: (row: Row<T>) => string,
): Promise<string[]> {
  const texts: string[] = [];
  for await (const row of reader.scan(table, {})) texts.push(describe(row));
  return texts.sort();
}

function describeAssignment(assignment: ModelAssignment): string {
  const { assignmentId, submissionId, reviewerId, version, active } = assignment;
  return `${assignmentId} ${submissionId} ${reviewerId} ${version} ${active}`;
}

function describeRound({ roundId, version, active }: ModelTenant["rounds"][number]): string {
  return `${roundId} ${version} ${active}`;
}

function describeFeedback({ feedbackId, version, released }: ModelTenant["feedbacks"][number]): string {
  return `${feedbackId} ${version} ${released}`;
}

function describePerson(person: Pick<Person, "personId" | "version" | "mergedIntoPersonId" | "externalRefs">) {
  const { personId, version, mergedIntoPersonId, externalRefs } = person;
  return `${personId} ${version} ${mergedIntoPersonId} ${externalRefs.map(({ externalId }) => externalId)}`;
}

/** The same of the model. Sorted, because requests that do not touch the same record have no order. */
export function readModel({ submissions, rounds, feedbacks, persons, events, changes }: ModelTenant) {
  return {
    submissions: submissions.length,
    persons: persons.map(describePerson).sort(),
    assignments: submissions.flatMap((each) => each.assignments.map(describeAssignment)).sort(),
    rounds: rounds.map(describeRound).sort(),
    feedbacks: feedbacks.map(describeFeedback).sort(),
    events: events
      .map(({ subject, eventType, version, ...change }) => JSON.stringify({ subject, eventType, version, ...change }))
      .sort(),
    changes: changes.toSorted(),
  };
}
