import type { ProgramSetUp } from "../../../contract/set-up/set-up-plan.ts";
import { renderOrderPart } from "../../../pages/console/set-up/order.ts";
import { sortPositions } from "./part-items.ts";
import type { Part, SentPart } from "./parts.ts";

/** The positions of tracks, and of the rounds of each track. */
export function openOrderPart({ config }: ProgramSetUp): Part {
  const { tracks } = config;
  const names = tracks.flatMap(({ rounds }, track) => [
    formatPositionName(track),
    ...rounds.map((_, round) => formatPositionName(track, round)),
  ]);
  const readPosition = ({ form }: SentPart, name: string, index: number) => Number(form[name]) || index + 1;
  return {
    title: `${config.program.name}: order of tracks and rounds`,
    render: (sent, mistakes) =>
      renderOrderPart({
        mistakes,
        tracks: tracks.map(({ name, rounds }, track) => ({
          ...readRow(sent, name, formatPositionName(track), track),
          rounds: rounds.map((round, index) => readRow(sent, round.name, formatPositionName(track, index), index)),
        })),
      }),
    check: ({ form }) =>
      names
        .filter((name) => !/^[1-9]\d{0,3}$/.test((form[name] ?? "").trim()))
        .map((input) => ({ input, message: "Give a whole number from 1 on as the position." })),
    change(sent) {
      const ordered = tracks.map((track, place) => ({
        ...track,
        rounds: sortPositions(
          track.rounds.map((_, index) => readPosition(sent, formatPositionName(place, index), index)),
        ).flatMap((index) => track.rounds[index] ?? []),
      }));
      const ranks = sortPositions(tracks.map((_, index) => readPosition(sent, formatPositionName(index), index)));
      return { ...config, tracks: ranks.flatMap((index) => ordered[index] ?? []) };
    },
    place: () => undefined,
  };
}

/** Returns what the page shows of a track or round: the position that was sent, or the stored one. */
function readRow(sent: SentPart | undefined, label: string, name: string, index: number) {
  return { label, name, position: sent?.form[name] ?? String(index + 1) };
}

/** Returns the name of the input for the position of a track, or of a round of it. */
function formatPositionName(track: number, round?: number): string {
  return round === undefined ? `track.${track}` : `track.${track}.round.${round}`;
}
