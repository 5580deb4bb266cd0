import { limits } from "../../contract/access/limits.ts";
import type { Program, Round } from "../../contract/programs.ts";
import type { ReviewerConfig } from "../../contract/set-up/program-config.ts";
import { pickKeys } from "../../domain/patch.ts";
import { normalizeEmail } from "../../store/tables.ts";
import { findPersonByEmail } from "../persons/lookup.ts";
import { uniteLists } from "../reviewers.ts";
import { addUnknownName, type SetUpContext, saveItem } from "./context.ts";

/** Rounds of a programme by the names of their tracks and their own. */
type RoundIndex = ReadonlyMap<string, ReadonlyMap<string, Round>>;

/**
 * Adds reviewers to a programme and its rounds without mail. They are recognised by their addresses. What they have
 * from other programmes stays.
 */
export async function saveReviewers(
  context: SetUpContext,
  configs: readonly ReviewerConfig[],
  { programId }: Program,
  rounds: RoundIndex,
): Promise<void> {
  for (const [index, config] of configs.entries()) {
    const path = `reviewers.${index}`;
    const roundIds = config.rounds.flatMap((names, place) =>
      findRound(context, rounds, names, `${path}.rounds.${place}`),
    );
    await saveReviewer(context, config, { path, programId, roundIds });
  }
}

function findRound(
  context: SetUpContext,
  rounds: RoundIndex,
  { track, round }: ReviewerConfig["rounds"][number],
  path: string,
): string[] {
  const ofTrack = rounds.get(track);
  const found = ofTrack?.get(round);
  if (!ofTrack) addUnknownName(context, `${path}.track`, "track", track, [...rounds.keys()]);
  else if (!found) addUnknownName(context, `${path}.round`, "round of this track", round, [...ofTrack.keys()]);
  return found ? [found.roundId] : [];
}

async function saveReviewer(
  context: SetUpContext,
  config: ReviewerConfig,
  place: { readonly path: string; readonly programId: string; readonly roundIds: readonly string[] },
): Promise<void> {
  const { store, now, newId, issues } = context;
  const {
    email,
    firstName = null,
    lastName = null,
    affiliation = null,
    role = "reviewer",
    status = "invited",
  } = config;
  const [existing] = await store.find("reviewers", { has: { email: normalizeEmail(email) } }, { limit: 1 });
  const expertise = uniteLists(existing?.expertise ?? [], config.expertise);
  if (expertise.length > Math.max(limits.expertise, existing?.expertise.length ?? 0)) {
    const message = `A reviewer has at most ${limits.expertise} areas of expertise`;
    issues.push({ path: `${place.path}.expertise`, code: "too_big", message });
  }
  const reviewerId = existing?.reviewerId ?? newId("rvw");
  const personId = existing?.personId ?? (await findPersonByEmail(store, email))?.personId ?? null;
  await saveItem(context, "reviewers", { kind: "reviewer", name: email, id: reviewerId }, existing, {
    patch: {
      ...pickKeys(config, "firstName", "lastName", "affiliation", "role", "maxAssignments"),
      expertise,
      personId,
      programIds: uniteLists(existing?.programIds ?? [], [place.programId]),
      roundIds: uniteLists(existing?.roundIds ?? [], place.roundIds),
    },
    create: () => ({
      ...{ reviewerId, email, firstName, lastName, affiliation, role, status, expertise, personId },
      programIds: [place.programId],
      roundIds: uniteLists([], place.roundIds),
      maxAssignments: config.maxAssignments ?? null,
      invitedAt: now,
      acceptedAt: status === "active" ? now : null,
    }),
  });
}
