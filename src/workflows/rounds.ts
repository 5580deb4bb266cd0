import type { Round } from "../contract/programs.ts";
import type { RecordSource } from "../upstream/port.ts";
import { loadRows } from "./collections.ts";

export interface NamedRound extends Pick<Round, "roundId" | "trackId" | "name" | "deadline"> {
  /** The name of its track; null if the token may not read it. */
  readonly track: string | null;
}

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
  const wanted = rounds.filter(
    (round) =>
      (trackId === undefined || round.trackId === trackId) && (roundId === undefined || round.roundId === roundId),
  );
  const tracks = await source.ifPermitted("names of tracks", () =>
    loadRows(source.list("list_tracks", { programId }, ["trackId", "name"])),
  );
  const names = new Map(tracks?.map((track) => [track.trackId, track.name]));
  return wanted.map((round) => ({ ...round, track: names.get(round.trackId) ?? null }));
}
