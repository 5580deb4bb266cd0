import { limits } from "../contract/access/limits.ts";
import { problem } from "../contract/errors.ts";
import type { Input } from "../contract/index.ts";
import { checkLifecycleTransition } from "../domain/lifecycle.ts";
import { mergeDeep, pickKeys } from "../domain/patch.ts";
import type { Handler } from "../store/handler-context.ts";
import { getOrThrow, loadWritableProgram, requireVersion } from "./guards.ts";

export const list_programs: Handler<"list_programs"> = ({ store }, input) =>
  store.page("programs", {}, "newest", input);

export const get_program: Handler<"get_program"> = ({ store }, { programId }) =>
  getOrThrow(store, "programs", programId);

export const update_program: Handler<"update_program"> = async ({ store, emit }, input) => {
  const program = await getOrThrow(store, "programs", input.programId);
  requireVersion(program, input.version);
  const { programId, lifecycleStatus } = program;
  const toStatus = input.lifecycleStatus ?? lifecycleStatus;
  const changesStatus = toStatus !== lifecycleStatus;
  if (lifecycleStatus === "archived" && !changesStatus && !changesOnlyStatus(input)) {
    throw problem("program_archived", { programId });
  }
  if (changesStatus) {
    const [submission] = await store.find("submissions", { where: { programId } }, { limit: 1 });
    checkLifecycleTransition(lifecycleStatus, toStatus, submission !== undefined);
  }
  const updated = await store.update("programs", program, {
    ...pickKeys(input, "name", "description", "year", "startDate", "endDate", "lifecycleStatus"),
    ...(input.branding ? { branding: mergeDeep(program.branding, input.branding) } : {}),
  });
  if (changesStatus) {
    emit("program.lifecycle_status_changed", {
      programId,
      fromStatus: lifecycleStatus,
      toStatus,
      version: updated.version,
    });
  }
  return updated;
};

/**
 * Returns whether a request only names the status that the programme already has, which is allowed for archived ones.
 */
function changesOnlyStatus({
  programId: _,
  version: __,
  lifecycleStatus,
  ...others
}: Input<"update_program">): boolean {
  return lifecycleStatus !== undefined && Object.values(others).every((value) => value === undefined);
}

export const list_rounds: Handler<"list_rounds"> = async ({ store }, { programId }) => {
  await getOrThrow(store, "programs", programId);
  const rounds = await store.find(
    "rounds",
    { where: { programId } },
    { limit: limits.listedRounds, orderBy: "sequence" },
  );
  return rounds;
};

export const list_tracks: Handler<"list_tracks"> = async ({ store }, { programId, ...page }) => {
  await getOrThrow(store, "programs", programId);
  return store.page("tracks", { where: { programId } }, "newest", page);
};

export const update_track: Handler<"update_track"> = async ({ store }, input) => {
  const track = await getOrThrow(store, "tracks", input.trackId);
  if (track.programId !== input.programId) throw problem("not_found");
  requireVersion(track, input.version);
  await loadWritableProgram(store, track.programId);
  return store.update("tracks", track, {
    ...pickKeys(input, "intakeOpen", "intakeOpenDate", "intakeCloseDate"),
    ...(input.branding ? { branding: mergeDeep(track.branding, input.branding) } : {}),
  });
};

export const update_round: Handler<"update_round"> = async ({ store }, input) => {
  const round = await getOrThrow(store, "rounds", input.roundId);
  if (round.programId !== input.programId || round.trackId !== input.trackId) throw problem("not_found");
  requireVersion(round, input.version);
  await loadWritableProgram(store, round.programId);
  return store.update("rounds", round, pickKeys(input, "startDate", "endDate", "deadline", "active"));
};
