import { html } from "hono/html";
import { type FormMistakes, renderField } from "../../components/form-fields.ts";

/** A track or round, with the input of its position. */
interface OrderRow {
  readonly label: string;
  readonly name: string;
  readonly position: string;
}

export interface OrderPart {
  readonly tracks: readonly (OrderRow & { readonly rounds: readonly OrderRow[] })[];
  readonly mistakes: FormMistakes | undefined;
}

/** Renders the positions of the tracks of a programme, and of the rounds of each track. */
export function renderOrderPart({ tracks, mistakes }: OrderPart) {
  return html`<p>
      Change the numbers: a track or round moves to the position that you give it, and the others make room. Submissions
      stay in the round in which they are.
    </p>
    ${tracks.length === 0 ? html`<p>There are no tracks yet.</p>` : ""}
    ${tracks.map(
      (track) =>
        html`<fieldset class="positions">
          <legend>${track.label}</legend>
          ${renderPosition(track, "Position of the track", mistakes)}
          ${track.rounds.map((round) => renderPosition(round, `Round ${round.label}`, mistakes))}
        </fieldset>`,
    )}`;
}

function renderPosition({ name, position }: OrderRow, label: string, mistakes: FormMistakes | undefined) {
  const attributes = { required: true, min: 1, max: 9999, step: 1 };
  return html`<div>${renderField({ name, label, type: "number", value: position, attributes }, mistakes)}</div>`;
}
