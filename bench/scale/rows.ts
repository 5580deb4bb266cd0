import { scopes } from "../../src/contract/scopes.ts";
import type { SubmissionState } from "../../src/contract/submissions.ts";
import { sha256Hex } from "../../src/lib/crypto.ts";
import { seededIds } from "../../src/lib/ids.ts";
import { type Random, seededRandom } from "../../src/lib/random.ts";
import { auditSource, type Source, sourceOf, tokenCodec } from "../../src/store/database.ts";
import { type Row, type TableName, tables } from "../../src/store/tables.ts";

/** A row of a table, by column, as it is stored. */
export type Filled = readonly [table: string, values: Readonly<Record<string, unknown>>];

/** What is measured about a tenant: records that are there at any size. */
export interface Landmarks {
  readonly businessId: string;
  readonly token: string;
  readonly programs: readonly Call[];
  readonly reviewerIds: readonly string[];
}

/** A programme with one track of several that is looked at. */
interface Call {
  readonly programId: string;
  readonly tracks: readonly { readonly trackId: string; readonly roundIds: readonly string[] }[];
}

interface Tenant extends Landmarks {
  readonly share: number;
  readonly schemaId: string;
  readonly rubricId: string;
  readonly reviewerIds: string[];
  readonly applicants: Applicant[];
  position: number;
}

type Applicant = Pick<
  Row<"submissions">,
  "applicantId" | "applicantPersonId" | "innovatorId" | "innovatorEmail" | "innovatorName"
>;

const endMs = Date.parse("2026-11-01T00:00:00.000Z");
const years = 5;
const dayMs = 86_400_000;
const spanMs = years * 365 * dayMs;
/** One tenant has half of everything, as is usual; it is the one that is measured. */
const shares = [0.5, 0.25, 0.13, 0.08, 0.04];
export const fieldId = "fld_title";

/** What becomes of submissions to a call of an earlier year, and to one that is open: per cent. */
const fates = {
  past: { DRAFT: 18, WITHDRAWN: 8, INELIGIBLE: 7, ELIMINATED: 58, FINALIST: 6, WINNER: 3 },
  open: { DRAFT: 30, SUBMITTED: 25, ELIGIBLE: 10, INELIGIBLE: 5, IN_REVIEW: 24, ELIMINATED: 3, WITHDRAWN: 3 },
} as const;
const words = "tidal garden harbour water light roof school archive river bread winter choir map forest kiln".split(
  " ",
);

/** Rows of so many submissions and of what goes with them, in time's order: the same each time. */
export class Rows {
  readonly #random: Random = seededRandom(7);
  readonly #newId = seededIds(this.#random);
  readonly #tenants: Tenant[] = [];
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  get landmarks(): Landmarks {
    return this.#tenants[0] as Landmarks;
  }

  *all(): Generator<Filled> {
    for (const share of shares) yield* this.#tenant(share);
    for (let index = 0; index < this.#size; index++) {
      const atMs = endMs - spanMs + Math.floor((index / this.#size) * spanMs);
      yield* this.#submission(this.#tenantBy(this.#random()), atMs);
    }
  }

  *#tenant(share: number): Generator<Filled> {
    const startMs = endMs - spanMs - 30 * dayMs;
    const businessId = this.#newId("biz", startMs);
    const token = sha256Hex(`token ${this.#tenants.length}`);
    const tenant: Tenant = {
      businessId,
      token,
      share,
      schemaId: this.#newId("sch", startMs),
      rubricId: this.#newId("rub", startMs),
      programs: Array.from({ length: years }, () => ({
        programId: this.#newId("prg", startMs),
        tracks: Array.from({ length: 3 }, () => ({
          trackId: this.#newId("trk", startMs),
          roundIds: Array.from({ length: 3 }, () => this.#newId("rnd", startMs)),
        })),
      })),
      reviewerIds: [],
      applicants: [],
      position: 0,
    };
    this.#tenants.push(tenant);
    yield ["businesses", { businessId, name: `Organisation ${this.#tenants.length}`, createdAt: isoOf(startMs) }];
    yield ["turns", { businessId, turn: 0 }];
    yield this.#token(tenant, startMs);
    yield* this.#calls(tenant, startMs);
    // Each reads about as many, however many submissions there are.
    const reviewers = Math.ceil((share * this.#size) / 25);
    for (let index = 0; index < reviewers; index++) yield* this.#reviewer(tenant, startMs + index * 1000, index);
  }

  #token({ businessId, token }: Tenant, atMs: number): Filled {
    const row = {
      tokenId: this.#newId("tok", atMs),
      businessId,
      name: "scale",
      sha256: sha256Hex(token),
      prefix: token.slice(0, 6),
    };
    const rest = { scopes: [...scopes], expiresAt: null, revokedAt: null, lastUsedAt: null, createdAt: isoOf(atMs) };
    return ["tokens", named(tokenCodec.names, tokenCodec.encode({ ...row, ...rest }))];
  }

  *#calls(tenant: Tenant, atMs: number): Generator<Filled> {
    const { schemaId, rubricId } = tenant;
    const field = {
      fieldId,
      key: "title",
      label: "Title",
      type: "text" as const,
      required: true,
      sensitivity: "standard" as const,
      archived: false,
      order: 0,
    };
    yield this.#record(tenant, "schemas", atMs, {
      schemaId,
      name: "Form",
      schemaVersion: 1,
      published: true,
      publishedAt: isoOf(atMs),
      fields: [field],
    });
    yield this.#record(tenant, "rubrics", atMs, {
      rubricId,
      name: "Rubric",
      rubricVersion: 1,
      criteria: [],
      scoringMethod: "mean",
      published: true,
    });
    for (const [year, { programId, tracks }] of tenant.programs.entries()) {
      const rules = {
        reviewsPerSubmission: 2,
        useExpertiseMatching: false,
        domainFieldId: null,
        excludePriorRoundReviewers: false,
        maxPerReviewer: null,
      };
      yield this.#record(tenant, "programs", atMs + year, {
        programId,
        name: `Call ${year}`,
        description: null,
        year: 2022 + year,
        startDate: null,
        endDate: null,
        lifecycleStatus: year === years - 1 ? "underway" : "completed",
        branding: {},
        feeRequired: false,
        currency: null,
        screeningRequired: true,
        assignmentRules: rules,
      });
      for (const [order, { trackId, roundIds }] of tracks.entries()) {
        yield this.#record(tenant, "tracks", atMs + year, {
          trackId,
          programId,
          name: `Track ${order}`,
          description: null,
          order,
          intakeOpen: true,
          intakeOpenDate: null,
          intakeCloseDate: null,
          schemaId,
          schemaVersion: 1,
          feeAmountMinor: null,
          currency: null,
          branding: {},
        });
        for (const [index, roundId] of roundIds.entries()) {
          yield this.#record(tenant, "rounds", atMs + year, {
            roundId,
            programId,
            trackId,
            name: `Round ${index}`,
            sequence: index + 1,
            startDate: null,
            endDate: null,
            deadline: null,
            active: true,
            rubricId,
            rubricVersion: 1,
            anonymity: "single_blind",
          });
        }
      }
    }
  }

  *#reviewer(tenant: Tenant, atMs: number, index: number): Generator<Filled> {
    const reviewerId = this.#newId("rvw", atMs);
    tenant.reviewerIds.push(reviewerId);
    const call = this.#pick(tenant.programs);
    yield* this.#found(tenant, "reviewers", atMs, {
      reviewerId,
      email: `reviewer${index}@example.org`,
      firstName: this.#pick(words),
      lastName: `Lind${index}`,
      affiliation: "A university",
      expertise: [this.#pick(words)],
      role: "reviewer",
      status: this.#random() < 0.8 ? "active" : "invited",
      programIds: [call.programId],
      roundIds: call.tracks.flatMap(({ roundIds }) => roundIds.slice(0, 1)),
      personId: null,
      maxAssignments: null,
      invitedAt: isoOf(atMs),
      acceptedAt: isoOf(atMs),
    });
  }

  *#submission(tenant: Tenant, atMs: number): Generator<Filled> {
    const year = Math.min(years - 1, Math.floor(((atMs - endMs + spanMs) / spanMs) * years));
    const call = tenant.programs[year] as Call;
    const track = this.#pick(call.tracks);
    const { programId } = call;
    const { trackId } = track;
    const state = this.#fate(year === years - 1 ? fates.open : fates.past);
    const applicant = yield* this.#applicant(tenant, atMs, programId, trackId);
    const submissionId = this.#newId("sub", atMs);
    const decided = !["DRAFT", "SUBMITTED"].includes(state);
    const reviewed = ["IN_REVIEW", "ELIMINATED", "FINALIST", "WINNER"].includes(state);
    const later = (days: number) => isoOf(Math.min(endMs, atMs + Math.floor(this.#random() * days * dayMs)));
    const submittedAt = state === "DRAFT" ? null : later(20);
    const roundId = reviewed ? this.#pick(track.roundIds) : null;
    const title = `${this.#pick(words)} ${this.#pick(words)} ${this.#pick(words)}`;
    const updated = { updatedAt: decided ? later(90) : isoOf(atMs) };
    yield this.#record(
      tenant,
      "submissions",
      atMs,
      {
        ...applicant,
        submissionId,
        programId,
        trackId,
        currentRoundId: roundId,
        state,
        title,
        fields: { [fieldId]: title, fld_summary: `${title}. `.repeat(4) },
        schemaId: tenant.schemaId,
        schemaVersion: 1,
        deadline: "2099-01-01T00:00:00.000Z",
        source: "portal",
        eligible: decided ? state !== "INELIGIBLE" : null,
        stateReason: null,
        previousState: null,
        submittedAt,
        screenedAt: null,
        withdrawnAt: null,
        decidedAt: null,
        paymentStatus: null,
        fileIds: [],
      },
      updated,
    );
    const ids = { submissionId, programId, trackId };
    yield* this.#leaves(tenant, atMs, ids);
    if (roundId !== null) yield* this.#reviewing(tenant, atMs, { ...ids, roundId }, state === "IN_REVIEW");
    yield* this.#traces(tenant, atMs, ids);
  }

  *#applicant(tenant: Tenant, atMs: number, programId: string, trackId: string): Generator<Filled, Applicant> {
    if (tenant.applicants.length > 0 && this.#random() < 0.5) return this.#pick(tenant.applicants);
    const applicantId = this.#newId("app", atMs);
    const email = `${applicantId.toLowerCase()}@example.org`;
    const name = `${this.#pick(words)} ${this.#pick(words)}`;
    const personId = this.#random() < 0.8 ? this.#newId("per", atMs) : null;
    const innovatorId = this.#newId("inn", atMs);
    if (personId !== null) {
      const externalRefs =
        this.#random() < 0.5 ? [{ namespace: "crm", objectType: "contact", externalId: personId }] : [];
      yield* this.#found(
        tenant,
        "persons",
        atMs,
        {
          personId,
          primaryEmail: email,
          contactDetails: { firstName: name },
          kinds: ["applicant"],
          customFields: {},
          customFieldSchemaVersion: 1,
          externalRefs,
          provenance: { source: "portal" },
          active: true,
          anonymizedAt: null,
          mergedIntoPersonId: null,
          platformUserId: innovatorId,
          metadata: {},
        },
        { updatedAt: isoOf(Math.min(endMs, atMs + Math.floor(this.#random() * 90 * dayMs))) },
      );
    }
    yield* this.#found(tenant, "applicants", atMs, {
      applicantId,
      innovatorId,
      email,
      name,
      programIds: [programId],
      trackIds: [trackId],
      registeredAt: isoOf(atMs),
      personId,
    });
    const applicant = {
      applicantId,
      applicantPersonId: personId,
      innovatorId,
      innovatorEmail: email,
      innovatorName: name,
    };
    // Whoever applies again has applied lately.
    if (tenant.applicants.length < 500) tenant.applicants.push(applicant);
    else tenant.applicants[Math.floor(this.#random() * 500)] = applicant;
    return applicant;
  }

  *#leaves(
    tenant: Tenant,
    atMs: number,
    ids: Pick<Row<"submissions">, "submissionId" | "programId" | "trackId">,
  ): Generator<Filled> {
    const at = isoOf(atMs);
    const { submissionId } = ids;
    if (this.#random() < 0.2) {
      yield this.#record(tenant, "supplements", atMs, {
        supplementResponseId: this.#newId("sup", atMs),
        submissionId,
        supplementRequestId: "srq_letter",
        title: "Letter",
        required: false,
        audience: "applicant",
        contributorId: null,
        contributorIndex: null,
        schemaId: tenant.schemaId,
        fields: {},
        fileIds: [],
        status: "submitted",
        dueAt: null,
        submittedAt: at,
        closedAt: null,
        reopenedAt: null,
      });
    }
    if (this.#random() < 0.2) {
      yield this.#record(tenant, "files", atMs, {
        fileId: this.#newId("fil", atMs),
        submissionId,
        supplementResponseId: null,
        fieldId: null,
        fileName: "annex.pdf",
        contentType: "application/pdf",
        sizeBytes: 5,
        sha256: sha256Hex(submissionId),
        scanStatus: "clean",
        uploadedAt: at,
      });
    }
    if (this.#random() < 0.2) {
      const paid = this.#random() < 0.95;
      yield this.#record(tenant, "payments", atMs, {
        paymentId: this.#newId("pay", atMs),
        ...ids,
        amountMinor: 2500,
        currency: "EUR",
        status: paid ? "succeeded" : "pending",
        method: paid ? "card" : null,
        provider: null,
        providerRef: null,
        failureCode: null,
        paidAt: paid ? at : null,
        waivedAt: null,
        waivedBy: null,
      });
    }
    if (this.#random() < 0.2) {
      const released = this.#random() < 0.6;
      yield this.#record(tenant, "feedbacks", atMs, {
        feedbackId: this.#newId("fbk", atMs),
        submissionId,
        programId: ids.programId,
        roundId: null,
        subject: "Your application",
        body: "The panel liked it.",
        released,
        releasedAt: released ? at : null,
        releasedBy: released ? "usr_office" : null,
      });
    }
    if (this.#random() < 0.2) {
      yield* this.#found(tenant, "emailSends", atMs, {
        emailSendId: this.#newId("eml", atMs),
        programId: ids.programId,
        submissionId,
        recipientEmail: `${submissionId.toLowerCase()}@example.org`,
        recipientKind: "applicant",
        template: null,
        subject: "News",
        body: "Dear applicant",
        status: "sent",
        bulkId: null,
        error: null,
        queuedAt: at,
        sentAt: at,
      });
    }
  }

  *#reviewing(
    tenant: Tenant,
    atMs: number,
    ids: Pick<Row<"assignments">, "submissionId" | "programId" | "trackId" | "roundId">,
    open: boolean,
  ): Generator<Filled> {
    const at = isoOf(atMs);
    const readers = this.#random() < 0.4 ? 2 : 1;
    for (let count = 0; count < readers; count++) {
      const assignmentId = this.#newId("asg", atMs);
      const reviewerId = this.#pick(tenant.reviewerIds);
      const reviewed = this.#random() < (open ? 0.3 : 0.8);
      yield this.#record(tenant, "assignments", atMs, {
        assignmentId,
        ...ids,
        reviewerId,
        status: reviewed ? "completed" : open ? "assigned" : "cancelled",
        active: reviewed || open,
        source: "auto",
        reassignedFromId: null,
        reason: null,
        dueAt: null,
        assignedAt: at,
        respondedAt: null,
        completedAt: reviewed ? at : null,
        removedAt: null,
        conflictAttestation: null,
      });
      if (!reviewed) continue;
      const { trackId: _, ...home } = ids;
      yield this.#record(tenant, "reviews", atMs, {
        reviewId: this.#newId("rev", atMs),
        assignmentId,
        ...home,
        reviewerId,
        rubricId: tenant.rubricId,
        rubricVersion: 1,
        status: "submitted",
        scores: [],
        totalScore: 7,
        weightedScore: 7.5,
        recommendation: "accept",
        overallComment: "Worth funding",
        confidentialComment: null,
        submittedAt: at,
      });
    }
  }

  /** The audit log, where most entries are of requests that only read, and the events. */
  *#traces(
    tenant: Tenant,
    atMs: number,
    { submissionId, programId }: Pick<Row<"submissions">, "submissionId" | "programId" | "trackId">,
  ): Generator<Filled> {
    const { businessId } = tenant;
    const entry = {
      businessId,
      entityType: "submission",
      entityId: submissionId,
      programId,
      submissionId,
      actorType: "token" as const,
      actorId: "tok_crm",
      tokenId: "tok_crm",
      requestId: "req_scale",
      reason: null,
    };
    const actions = ["submission.created"];
    if (this.#random() < 0.3) actions.push("submission.submitted");
    if (this.#random() < 0.01) actions.push("submission.state_set");
    for (const [index, action] of actions.entries()) {
      const occurredAt = isoOf(atMs + index);
      const values = auditSource.codec.encode({
        ...entry,
        auditId: this.#newId("aud", atMs + index),
        action,
        changes: [{ path: "state", from: null, to: "DRAFT" }],
        status: null,
        occurredAt,
      });
      tenant.position += 1;
      yield ["audit", { ...named(auditSource.codec.names, values), kind: "change", turn: tenant.position }];
    }
    if (this.#random() < 0.5) return;
    const values = auditSource.codec.encode({
      ...entry,
      auditId: this.#newId("aud", atMs + 9),
      action: "submission.read",
      changes: [],
      status: 200,
      occurredAt: isoOf(atMs + 9),
    });
    yield ["audit", { ...named(auditSource.codec.names, values), kind: "access", turn: null }];
    const eventId = this.#newId("evt", atMs);
    const eventType = this.#random() < 0.99 ? "submission.draft_created" : "submission.withdrawn";
    const timestamp = isoOf(atMs);
    const payload = JSON.stringify({ eventId, eventType, timestamp, data: { businessId, programId, submissionId } });
    yield [
      "events",
      {
        businessId,
        eventId,
        eventType,
        timestamp,
        payload,
        position: tenant.position,
        submissionId,
        turn: tenant.position,
      },
    ];
  }

  #record<T extends TableName>(
    tenant: Tenant,
    table: T,
    atMs: number,
    row: Omit<Row<T>, Common>,
    more: { updatedAt?: string } = {},
  ): Filled {
    const at = isoOf(atMs);
    const own = {
      businessId: tenant.businessId,
      version: 0,
      createdAt: at,
      updatedAt: at,
      createdBy: "usr_office",
      updatedBy: "usr_office",
      ...more,
    };
    const source = sourceOf(table) as Source<Row<T>>;
    return [table, named(source.codec.names, source.codec.encode({ ...row, ...own } as unknown as Row<T>))];
  }

  /** A record with the values by which it is found besides. */
  *#found<T extends TableName>(
    tenant: Tenant,
    table: T,
    atMs: number,
    row: Omit<Row<T>, Common>,
    more: { updatedAt?: string } = {},
  ): Generator<Filled> {
    yield this.#record(tenant, table, atMs, row, more);
    const { id, members } = tables[table] as unknown as {
      id: string;
      members: Record<string, (row: unknown) => readonly string[]>;
    };
    const [businessId, createdAt] = [tenant.businessId, isoOf(atMs)];
    for (const [member, valuesOf] of Object.entries(members)) {
      for (const value of valuesOf(row)) {
        yield [
          "members",
          { businessId, tableName: table, member, value, createdAt, id: (row as Record<string, unknown>)[id] },
        ];
      }
    }
  }

  #tenantBy(chance: number): Tenant {
    let left = chance;
    const drawn = this.#tenants.find(({ share }) => {
      left -= share;
      return left < 0;
    });
    return drawn ?? (this.#tenants[0] as Tenant);
  }

  #fate(percent: Readonly<Partial<Record<SubmissionState, number>>>): SubmissionState {
    let left = this.#random() * 100;
    const drawn = Object.entries(percent).find(([, share]) => {
      left -= share;
      return left < 0;
    });
    return (drawn?.[0] ?? "DRAFT") as SubmissionState;
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }
}

type Common = "businessId" | "version" | "createdAt" | "updatedAt" | "createdBy" | "updatedBy";

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

function named(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}
