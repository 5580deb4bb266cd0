import type { Round } from "../contract/programs.ts";
import type { RecordSource } from "../upstream/port.ts";
import { loadRows } from "./collections.ts";

export type NamedRound = Pick<Round, "roundId" | "trackId" | "name" | "deadline">;

interface RoundFilter {
  readonly programId: string;
  readonly trackId?: string | undefined;
  readonly roundId?: string | undefined;
}

/** Lists the rounds of a programme or track, or the one that is named. */
export async function listRounds(
  source: RecordSource,
  { programId, trackId, roundId }: RoundFilter,
): Promise<NamedRound[]> {
  const rounds = await loadRows(source.list("list_rounds", { programId }, ["roundId", "trackId", "name", "deadline"]));
  return rounds.filter(
    (round) =>
      (trackId === undefined || round.trackId === trackId) && (roundId === undefined || round.roundId === roundId),
  );
}
