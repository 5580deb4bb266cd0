import { createId } from "../../../src/lib/ids.ts";
import type { Transaction } from "../../../src/store/port.ts";
import type { NewRow, Row, TableName } from "../../../src/store/tables.ts";
import { createRecordFactory } from "./record-factory.ts";

type Write = <R>(work: (transaction: Transaction) => Promise<R>) => Promise<R>;
type Given<T extends TableName> = Partial<NewRow<T>>;

const later = "2026-12-31T23:59:59.000Z";
const earlier = "2026-11-01T09:00:00.000Z";

/** The field ids of the application schema that `track()` uses. */
export const fieldIds = { title: "fld_title", domain: "fld_domain", budget: "fld_budget", annex: "fld_annex" };
/** The field ids of the person schema that `personSchema()` makes, by sensitivity. */
export const personFieldIds = { standard: "fld_craft", pii: "fld_birth", restricted: "fld_health" };

/** Makes records straight in the store. What is not given has a sensible default; what a record needs is made too. */
export function createFactory(write: Write) {
  const insert = <T extends TableName>(table: T, row: NewRow<T>): Promise<Row<T>> =>
    write((tx) => tx.insert(table, row));

  const program = (given: Given<"programs"> = {}) =>
    insert("programs", {
      programId: createId("prg"),
      name: "Open call",
      description: null,
      year: 2026,
      startDate: null,
      endDate: null,
      lifecycleStatus: "underway",
      branding: {},
      feeRequired: false,
      currency: null,
      screeningRequired: true,
      assignmentRules: {
        reviewsPerSubmission: 2,
        useExpertiseMatching: false,
        domainFieldId: null,
        excludePriorRoundReviewers: false,
        maxPerReviewer: null,
      },
      ...given,
    });

  const schema = (given: Given<"schemas"> = {}) =>
    insert("schemas", {
      schemaId: createId("sch"),
      name: "Application",
      schemaVersion: 1,
      published: true,
      publishedAt: earlier,
      fields: [
        field(fieldIds.title, "title", "text", { required: true, constraints: { maxLength: 100 } }),
        field(fieldIds.domain, "domain", "select", { constraints: { options: ["arts", "science"] } }),
        field(fieldIds.budget, "budget", "number", { constraints: { min: 0 } }),
        field(fieldIds.annex, "annex", "file", {}),
      ],
      ...given,
    });

  const track = async (given: Given<"tracks"> = {}) =>
    insert("tracks", {
      trackId: createId("trk"),
      programId: given.programId ?? (await program()).programId,
      name: "Main track",
      description: null,
      order: 0,
      intakeOpen: true,
      intakeOpenDate: null,
      intakeCloseDate: null,
      schemaId: given.schemaId ?? (await schema()).schemaId,
      schemaVersion: 1,
      feeAmountMinor: null,
      currency: null,
      branding: {},
      ...given,
    });

  const rubric = (given: Given<"rubrics"> = {}) =>
    insert("rubrics", {
      rubricId: createId("rub"),
      name: "Rubric",
      rubricVersion: 1,
      criteria: [criterion("crt_a", 2), criterion("crt_b", 1)],
      scoringMethod: "weighted_mean",
      published: true,
      ...given,
    });

  const round = async (given: Given<"rounds"> = {}) => {
    const { trackId, programId } = given.trackId && given.programId ? (given as Row<"tracks">) : await track();
    return insert("rounds", {
      roundId: createId("rnd"),
      programId,
      trackId,
      name: "Round",
      sequence: 1,
      startDate: null,
      endDate: null,
      deadline: null,
      active: true,
      rubricId: given.rubricId ?? (await rubric()).rubricId,
      rubricVersion: 1,
      anonymity: "single_blind",
      ...given,
    });
  };

  const submission = async (given: Given<"submissions"> = {}) => {
    const { trackId } = given;
    const home = trackId ? await write((tx) => tx.get("tracks", trackId)) : await track();
    if (!home) throw new Error(`No track ${trackId}`);
    return insert("submissions", {
      submissionId: createId("sub"),
      programId: home.programId,
      trackId: home.trackId,
      currentRoundId: null,
      state: "DRAFT",
      title: "A light roof",
      fields: { [fieldIds.title]: "A light roof" },
      schemaId: home.schemaId,
      schemaVersion: home.schemaVersion,
      deadline: later,
      innovatorId: createId("inn"),
      innovatorEmail: "ada@example.org",
      innovatorName: "Ada Marsh",
      applicantPersonId: null,
      applicantId: createId("app"),
      source: "portal",
      eligible: null,
      stateReason: null,
      previousState: null,
      submittedAt: given.state && given.state !== "DRAFT" ? earlier : null,
      screenedAt: null,
      withdrawnAt: null,
      decidedAt: null,
      paymentStatus: null,
      fileIds: [],
      ...given,
    });
  };

  const reviewer = (given: Given<"reviewers"> = {}) => {
    const reviewerId = given.reviewerId ?? createId("rvw");
    return insert("reviewers", {
      reviewerId,
      email: `${reviewerId.toLowerCase()}@example.org`,
      firstName: "Rita",
      lastName: "Okafor",
      affiliation: null,
      expertise: [],
      role: "reviewer",
      status: "active",
      programIds: [],
      roundIds: [],
      personId: null,
      maxAssignments: null,
      invitedAt: earlier,
      acceptedAt: earlier,
      ...given,
    });
  };

  const assignment = async (
    given: Given<"assignments"> &
      Pick<NewRow<"assignments">, "submissionId" | "reviewerId" | "roundId" | "programId" | "trackId">,
  ) =>
    insert("assignments", {
      assignmentId: createId("asg"),
      status: "assigned",
      active: true,
      source: "manual",
      reassignedFromId: null,
      reason: null,
      dueAt: null,
      assignedAt: earlier,
      respondedAt: null,
      completedAt: null,
      removedAt: null,
      conflictAttestation: null,
      ...given,
    });

  const person = (given: Given<"persons"> = {}) =>
    insert("persons", {
      personId: createId("per"),
      primaryEmail: "grace@example.org",
      contactDetails: { firstName: "Grace", lastName: "Lindqvist", phone: "+46 8 123 456" },
      kinds: ["applicant"],
      customFields: {},
      customFieldSchemaVersion: 1,
      externalRefs: [],
      provenance: { source: "test" },
      active: true,
      anonymizedAt: null,
      mergedIntoPersonId: null,
      metadata: {},
      ...given,
    });

  const personSchema = (given: Given<"personSchemas"> = {}) =>
    insert("personSchemas", {
      personSchemaId: createId("psc"),
      entityType: "person",
      schemaVersion: 1,
      fields: [
        field(personFieldIds.standard, "craft", "text", {}),
        field(personFieldIds.pii, "birth_date", "date", { sensitivity: "pii" }),
        field(personFieldIds.restricted, "health", "text", { sensitivity: "restricted" }),
      ] as Row<"personSchemas">["fields"],
      published: true,
      publishedAt: earlier,
      active: true,
      ...given,
    });

  return {
    insert,
    program,
    schema,
    track,
    rubric,
    round,
    submission,
    reviewer,
    assignment,
    person,
    personSchema,
    ...createRecordFactory(insert),
  };
}

export type Factory = ReturnType<typeof createFactory>;

type Field = Row<"schemas">["fields"][number];

export function field(fieldId: string, key: string, type: Field["type"], given: Partial<Field>): Field {
  return {
    fieldId,
    key,
    label: key,
    type,
    required: false,
    sensitivity: "standard",
    archived: false,
    order: 0,
    ...given,
  };
}

function criterion(criterionId: string, weight: number): Row<"rubrics">["criteria"][number] {
  return {
    criterionId,
    label: criterionId,
    description: null,
    type: "score",
    min: 0,
    max: 10,
    step: 1,
    weight,
    required: true,
    options: null,
    order: 0,
  };
}
