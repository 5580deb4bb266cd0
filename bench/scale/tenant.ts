import { scopes } from "../../src/contract/access/scopes.ts";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { tokenCodec } from "../../src/store/database.ts";
import type { Row } from "../../src/store/tables.ts";
import { type Filled, isoOf, type Maker, named } from "./maker.ts";

/** Records of a tenant that exist at any size. */
export interface Landmarks {
  readonly businessId: string;
  readonly token: string;
  readonly programs: readonly Call[];
  readonly reviewerIds: readonly string[];
}

/** A programme, with the one track that is measured. */
export interface Call {
  readonly programId: string;
  readonly tracks: readonly { readonly trackId: string; readonly roundIds: readonly string[] }[];
}

export interface Tenant extends Landmarks {
  readonly share: number;
  readonly schemaId: string;
  readonly rubricId: string;
  readonly reviewerIds: string[];
  readonly applicants: Applicant[];
  position: number;
}

export type Applicant = Pick<
  Row<"submissions">,
  "applicantId" | "applicantPersonId" | "innovatorId" | "innovatorEmail" | "innovatorName"
>;

export const endMs = Date.parse("2026-11-01T00:00:00.000Z");
export const years = 5;
export const dayMs = 86_400_000;
export const spanMs = years * 365 * dayMs;
export const fieldId = "fld_title";

export const words =
  "tidal garden harbour water light roof school archive river bread winter choir map forest kiln".split(" ");

/** Creates an organisation with its calls and reviewers. Returns what submissions refer to. */
export function* tenant(maker: Maker, share: number, size: number): Generator<Filled, Tenant> {
  const startMs = endMs - spanMs - 30 * dayMs;
  const businessId = maker.newId("biz", startMs);
  const token = hashSha256Hex(`token ${share}`);
  const made: Tenant = {
    businessId,
    token,
    share,
    schemaId: maker.newId("sch", startMs),
    rubricId: maker.newId("rub", startMs),
    programs: Array.from({ length: years }, () => ({
      programId: maker.newId("prg", startMs),
      tracks: Array.from({ length: 3 }, () => ({
        trackId: maker.newId("trk", startMs),
        roundIds: Array.from({ length: 3 }, () => maker.newId("rnd", startMs)),
      })),
    })),
    reviewerIds: [],
    applicants: [],
    position: 0,
  };
  yield ["businesses", { businessId, name: `Organisation ${share}`, createdAt: isoOf(startMs) }];
  yield ["tenantSequences", { businessId, commitNumber: 0 }];
  yield tokenOf(maker, made, startMs);
  yield* calls(maker, made, startMs);
  // Each reviewer reads about as many submissions at any size.
  const reviewers = Math.ceil((share * size) / 25);
  for (let index = 0; index < reviewers; index++) yield* reviewer(maker, made, startMs + index * 1000, index);
  return made;
}

function tokenOf(maker: Maker, { businessId, token }: Tenant, atMs: number): Filled {
  const row = {
    tokenId: maker.newId("tok", atMs),
    businessId,
    name: "scale",
    sha256: hashSha256Hex(token),
    prefix: token.slice(0, 6),
  };
  const rest = { scopes: [...scopes], expiresAt: null, revokedAt: null, lastUsedAt: null, createdAt: isoOf(atMs) };
  return ["tokens", named(tokenCodec.names, tokenCodec.encode({ ...row, ...rest }))];
}

function* calls(maker: Maker, tenant: Tenant, atMs: number): Generator<Filled> {
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
  yield maker.record(tenant, "schemas", atMs, {
    schemaId,
    name: "Form",
    schemaVersion: 1,
    published: true,
    publishedAt: isoOf(atMs),
    fields: [field],
  });
  yield maker.record(tenant, "rubrics", atMs, {
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
    yield maker.record(tenant, "programs", atMs + year, {
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
      yield maker.record(tenant, "tracks", atMs + year, {
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
        yield maker.record(tenant, "rounds", atMs + year, {
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

function* reviewer(maker: Maker, tenant: Tenant, atMs: number, index: number): Generator<Filled> {
  const reviewerId = maker.newId("rvw", atMs);
  tenant.reviewerIds.push(reviewerId);
  const call = maker.pick(tenant.programs);
  yield* maker.found(tenant, "reviewers", atMs, {
    reviewerId,
    email: `reviewer${index}@example.org`,
    firstName: maker.pick(words),
    lastName: `Lind${index}`,
    affiliation: "A university",
    expertise: [maker.pick(words)],
    role: "reviewer",
    status: maker.random() < 0.8 ? "active" : "invited",
    programIds: [call.programId],
    roundIds: call.tracks.flatMap(({ roundIds }) => roundIds.slice(0, 1)),
    personId: null,
    maxAssignments: null,
    invitedAt: isoOf(atMs),
    acceptedAt: isoOf(atMs),
  });
}
