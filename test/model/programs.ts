import { audit, type Handler, inAnsweredOrder, ok, Refusal, requireWritable } from "./tenant.ts";

const lifecycle: Readonly<Record<string, readonly string[]>> = {
  draft: ["configured", "archived"],
  configured: ["draft", "underway", "archived"],
  underway: ["configured", "completed"],
  completed: ["underway", "archived"],
  archived: ["completed"],
};

/** The part of the reference model that changes a programme, its track and its rounds (specification 3.2, 3.5, 4.10). */
export const programHandlers = {
  get_program(tenant, { programId }) {
    if (programId !== tenant.fixed.programId) throw new Refusal(404, "not_found");
    return ok({ programId, ...tenant.program });
  },
  list_rounds({ fixed, rounds }, { programId }, answered) {
    if (programId !== fixed.programId) throw new Refusal(404, "not_found");
    return ok(inAnsweredOrder(answered, "roundId", rounds));
  },
  update_program(tenant, { version, lifecycleStatus }) {
    const { program } = tenant;
    if (version !== program.version) throw new Refusal(409, "version_conflict");
    const from = program.lifecycleStatus;
    if (from === lifecycleStatus) return ok({ ...program });
    const isBlocked = from === "underway" && lifecycleStatus === "configured" && tenant.submissions.length > 0;
    if (isBlocked || !lifecycle[from]?.includes(lifecycleStatus)) throw new Refusal(409, "invalid_state_transition");
    program.lifecycleStatus = lifecycleStatus;
    program.version += 1;
    const subject = tenant.fixed.programId;
    const change = `${from} ${lifecycleStatus}`;
    tenant.events.push({ subject, eventType: "program.lifecycle_status_changed", version: program.version, change });
    audit(tenant, subject, "program.updated");
    return ok({ ...program });
  },
  update_track(tenant, { version, intakeOpen }) {
    const { track } = tenant;
    if (version !== track.version) throw new Refusal(409, "version_conflict");
    requireWritable(tenant);
    if (track.intakeOpen !== intakeOpen) {
      track.intakeOpen = intakeOpen;
      track.version += 1;
      audit(tenant, tenant.fixed.trackId, "track.updated");
    }
    return ok({ ...track });
  },
  update_round(tenant, { roundId, version, active }) {
    const round = tenant.rounds.find((each) => each.roundId === roundId);
    if (!round) throw new Refusal(404, "not_found");
    if (version !== round.version) throw new Refusal(409, "version_conflict");
    requireWritable(tenant);
    if (round.active !== active) {
      round.active = active;
      round.version += 1;
      audit(tenant, roundId, "round.updated");
    }
    return ok({ ...round });
  },
} as const satisfies Record<string, Handler>;
