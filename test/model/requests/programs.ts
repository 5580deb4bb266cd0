import type { programHandlers } from "../programs.ts";
import type { Fixed, ModelTenant } from "../tenant.ts";
import type { Call, RequestInput } from "./call.ts";

const statuses = ["draft", "configured", "underway", "completed", "archived"] as const;

export function createProgramInput(
  { name, choice, target, versionOffset }: Call & { readonly name: keyof typeof programHandlers },
  { programId, trackId }: Fixed,
  { fixed, program, track, rounds }: ModelTenant,
): RequestInput {
  const toVersion = (version = 0) => Math.max(0, version + versionOffset);
  switch (name) {
    case "get_program":
    case "list_rounds":
      return { programId: fixed.programId };
    case "update_program":
      return { programId, version: toVersion(program.version), lifecycleStatus: statuses[choice % statuses.length] };
    case "update_track":
      return { programId, trackId, version: toVersion(track.version), intakeOpen: choice > 1 };
    case "update_round": {
      const round = rounds[target % rounds.length];
      return { programId, trackId, roundId: round?.roundId, version: toVersion(round?.version), active: choice > 1 };
    }
  }
}
