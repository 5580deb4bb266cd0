import { html } from "hono/html";
import type {
  CriterionConfig,
  FieldConfig,
  FormConfig,
  ProgramConfig,
  ReviewerConfig,
  RoundConfig,
  RubricConfig,
  SetUpItem,
  TrackConfig,
} from "../../../contract/set-up/program-config.ts";
import type { FormUse } from "../../../contract/set-up/set-up-plan.ts";
import { renderTable } from "../../components/data-table.ts";
import { formatCode, formatMinute } from "../../components/format.ts";

export interface ShownConfig {
  readonly config: ProgramConfig;
  /** The outcome of each part, in a preview. */
  readonly items?: readonly SetUpItem[];
  /** The path of the pages on which the parts are edited. Absent: they are only shown. */
  readonly editPath?: string;
  readonly personFieldsVersion?: number | undefined;
  /** The submissions that keep a version of a form. */
  readonly formUses?: readonly FormUse[];
}

/** Renders the settings of a programme that matter to everyone. */
export function renderSettings({
  description,
  lifecycleStatus = "draft",
  startDate,
  endDate,
}: ProgramConfig["program"]) {
  return html`${description ? html`<p>${description}</p>` : ""}
    <dl class="facts">
      <dt>State</dt>
      <dd>${formatCode(lifecycleStatus)}</dd>
      <dt>Dates</dt>
      <dd>${formatSpan(startDate, endDate)}</dd>
    </dl>`;
}

/** Renders everything that a programme consists of before its first application. */
export function renderConfig(shown: ShownConfig) {
  const { tracks, forms, rubrics, personFields, reviewers } = shown.config;
  const canBeMoved = tracks.length > 1 || tracks.some(({ rounds }) => rounds.length > 1);
  return html`<h2>Tracks and rounds</h2>
    ${tracks.length === 0 ? html`<p>There are no tracks yet.</p>` : ""}
    ${shown.editPath && canBeMoved ? html`<p><a href="${shown.editPath}/order">Change the order</a></p>` : ""}
    ${tracks.map((track, index) => renderTrack(shown, track, index + 1))} ${renderAdd(shown, "tracks", "Add a track")}
    <h2>Forms</h2>
    ${forms.length === 0 ? html`<p>No track uses a form yet.</p>` : ""}
    ${forms.map((form, index) => renderForm(shown, form, index + 1))} ${renderFormUses(shown.formUses ?? [])}
    ${renderAdd(shown, "forms", "Add a form")}
    <h2>Rubrics</h2>
    ${rubrics.length === 0 ? html`<p>No round uses a rubric yet.</p>` : ""}
    ${rubrics.map((rubric, index) => renderRubric(shown, rubric, index + 1))}
    ${renderAdd(shown, "rubrics", "Add a rubric")}
    ${personFields.length > 0 || shown.editPath ? renderPersonFields(shown) : ""}
    ${reviewers.length > 0 ? html`<h2>Reviewers</h2>${renderReviewers(reviewers)}` : ""}`;
}

function renderTrack(shown: ShownConfig, track: TrackConfig, position: number) {
  const { name, description, form, formVersion, intakeOpen, intakeOpenDate, intakeCloseDate, rounds } = track;
  const path = `tracks/${position}`;
  return html`<section>
    <h3>${name}${renderEdit(shown, path, `track ${name}`)}</h3>
    ${description ? html`<p>${description}</p>` : ""}
    <dl class="facts">
      <dt>Form</dt>
      <dd>${formatVersion(form, formVersion)}</dd>
      <dt>Intake</dt>
      <dd>${intakeOpen ? "Open" : "Closed"}, ${formatSpan(intakeOpenDate, intakeCloseDate)}</dd>
    </dl>
    ${renderTable({
      caption: `Rounds of ${name}`,
      headings: ["Round", "Rubric", "Start", "End", "Deadline", "State", ...(shown.editPath ? ["Change"] : [])],
      rows: rounds.map((round, index) => [
        ...describeRound(round),
        ...(shown.editPath ? [renderEdit(shown, `${path}/rounds/${index + 1}`, `round ${round.name}`)] : []),
      ]),
      empty: "The track has no rounds.",
    })}
    ${renderTrackLinks(shown, path, name)}
  </section>`;
}

function describeRound({ name, rubric, rubricVersion, startDate, endDate, deadline, active }: RoundConfig) {
  const times = [startDate, endDate, deadline].map((time) => html`<time>${formatMinute(time) || "–"}</time>`);
  return [name, formatVersion(rubric, rubricVersion), ...times, active ? "Active" : "Not active"];
}

function renderForm(shown: ShownConfig, { name, version, fields }: FormConfig, position: number) {
  const outcome = describeOutcome(shown, "form", name, version);
  return html`<details>
    <summary>${formatVersion(name, version)}: ${fields.length} fields${outcome}</summary>
    ${renderFields(`Fields of ${name}`, fields)} ${renderEdit(shown, `forms/${position}`, `form ${name}`)}
  </details>`;
}

function renderFields(caption: string, fields: readonly FieldConfig[]) {
  return renderTable({
    caption,
    headings: ["Field", "Key", "Type", "Required", "Sensitivity"],
    rows: fields.map(({ key, label, type, required, sensitivity, archived }) => [
      archived ? `${label} (archived)` : label,
      html`<code>${key}</code>`,
      fieldTypes[type],
      required ? "Yes" : "No",
      formatSensitivity(sensitivity),
    ]),
    empty: "There are no fields.",
  });
}

/** Renders the fields that all programmes of an organisation share. */
function renderPersonFields(shown: ShownConfig) {
  const { personFields } = shown.config;
  const version = shown.personFieldsVersion === undefined ? "" : ` This is version ${shown.personFieldsVersion}.`;
  return html`<h2>Fields of persons</h2>
    <p class="hint">All programmes of the organisation share these fields.${version}</p>
    ${renderFields("Fields of persons", personFields)}
    ${shown.editPath ? html`<p><a href="${shown.editPath}/person-fields">Edit the fields of persons</a></p>` : ""}`;
}

/** Names each type of field for people. */
export const fieldTypes: Readonly<Record<FieldConfig["type"], string>> = {
  text: "Text",
  textarea: "Long text",
  number: "Number",
  date: "Date",
  boolean: "Yes or no",
  select: "One choice",
  multiselect: "Several choices",
  file: "File",
  section: "Heading",
};

function renderRubric(shown: ShownConfig, rubric: RubricConfig, position: number) {
  const { name, version, criteria, scoringMethod } = rubric;
  const outcome = describeOutcome(shown, "rubric", name, version);
  return html`<details>
    <summary>${formatVersion(name, version)}: ${criteria.length} criteria${outcome}</summary>
    <p>Score: ${formatCode(scoringMethod).toLowerCase()}</p>
    ${renderTable({
      caption: `Criteria of ${name}`,
      headings: ["Criterion", "Type", "Scale", "Weight", "Required"],
      rows: criteria.map(describeCriterion),
      empty: "There are no criteria.",
    })}
    ${renderEdit(shown, `rubrics/${position}`, `rubric ${name}`)}
  </details>`;
}

function describeCriterion({ label, type, min, max, weight, required, options }: CriterionConfig) {
  const scale = type === "score" ? `${min} to ${max}` : (options ?? []).join(", ") || "–";
  return [label, formatCode(type), scale, weight, required ? "Yes" : "No"];
}

function renderReviewers(reviewers: readonly ReviewerConfig[]) {
  return renderTable({
    caption: "Reviewers",
    headings: ["Name", "Affiliation", "Expertise", "Rounds"],
    rows: reviewers.map(({ firstName, lastName, email, affiliation, expertise, rounds }) => [
      [firstName, lastName].filter(Boolean).join(" ") || email,
      affiliation ?? "–",
      expertise.join(", ") || "–",
      rounds.map(({ track, round }) => `${track}, ${round}`).join("; ") || "–",
    ]),
    empty: "",
  });
}

/** Says what becomes of a form or rubric, which all programmes of the organisation share by its name. */
function describeOutcome({ items = [] }: ShownConfig, kind: SetUpItem["kind"], name: string, version?: number) {
  const item = items.find(
    (each) => each.kind === kind && each.name === name && (version === undefined || each.version === version),
  );
  if (!item) return "";
  if (item.outcome === "created") return " (new)";
  if (item.outcome === "changed") return ` (version ${item.version}, new: it differs from the one of that name)`;
  return ` (version ${item.version}, as it is)`;
}

function renderEdit({ editPath }: ShownConfig, path: string, subject: string) {
  return editPath ? html` <a href="${editPath}/${path}" aria-label="Edit the ${subject}">Edit</a>` : "";
}

function renderTrackLinks({ editPath }: ShownConfig, path: string, track: string) {
  if (!editPath) return "";
  const links = [
    { page: "rounds/new", label: "Add a round", name: `Add a round to ${track}` },
    { page: "texts", label: "Texts for applicants", name: `Texts for applicants of ${track}` },
  ];
  return html`<p class="links">
    ${links.map(({ page, label, name }) => html`<a href="${editPath}/${path}/${page}" aria-label="${name}">${label}</a> `)}
  </p>`;
}

function renderAdd({ editPath }: ShownConfig, path: string, label: string) {
  return editPath ? html`<p><a href="${editPath}/${path}/new">${label}</a></p>` : "";
}

/** Renders which submissions keep which version of a form. */
export function renderFormUses(uses: readonly FormUse[]) {
  return html`${uses.map(
    ({ form, version, submissions }) =>
      html`<p class="hint">
        ${submissions === 1 ? "1 submission keeps" : `${submissions} submissions keep`} version ${version} of ${form}.
      </p>`,
  )}`;
}

export function formatVersion(name: string, version: number | undefined): string {
  return version === undefined ? name : `${name}, version ${version}`;
}

/** Names a sensitivity for people. */
export function formatSensitivity(sensitivity: FieldConfig["sensitivity"]): string {
  return { standard: "Standard", pii: "Personal data", restricted: "Restricted" }[sensitivity];
}

function formatSpan(from: string | null | undefined, to: string | null | undefined) {
  return html`<time>${formatMinute(from) || "–"}</time> to <time>${formatMinute(to) || "–"}</time>`;
}
