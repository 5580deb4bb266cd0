import { html } from "hono/html";
import type { Approval } from "../../contract/access/approvals.ts";
import type { User } from "../../contract/access/roles.ts";
import { approvalsAsset } from "../assets.ts";
import { describeInput, type FormMistakes, renderField } from "../components/form-fields.ts";
import { formatMinute } from "../components/format.ts";
import { renderNotice } from "../components/notice.ts";
import { parseQuestion, renderQuestionCall, renderQuestionLines, renderQuotes } from "../components/question.ts";
import { renderPage } from "../layout.ts";

export interface ApprovalPage {
  readonly user: User;
  readonly approval: Approval;
  /** The name of the token behind the call. */
  readonly tokenName: string | undefined;
  /** `expired` if nobody decided in time. */
  readonly status: Approval["status"] | "expired";
  /** Why the person may not decide; undefined if the person may. */
  readonly hindrance?: string | undefined;
  /** The reason that was sent with a mistake. */
  readonly givenReason?: string;
  readonly mistakes?: FormMistakes;
}

const states: Readonly<Record<ApprovalPage["status"], string>> = {
  pending: "Waits for a decision",
  approved: "Approved",
  declined: "Declined",
  expired: "Expired: nobody decided in time",
};

/** Renders the page on which a person approves or declines a call: the preview, who asks, and what can be chosen. */
export function renderApprovalPage(page: ApprovalPage) {
  const { user, approval, status, hindrance, mistakes } = page;
  const isOpen = status === "pending" && hindrance === undefined;
  return renderPage(
    "Approval",
    html`${hindrance ? renderNotice(hindrance, "error") : ""}
      ${renderFacts(page)}
      ${
        isOpen
          ? html`<form method="post" action="/approvals/${approval.approvalId}">
              ${keyboardGuard}${renderPreview(approval, true, mistakes)}${renderChoices(page)}
              ${renderReason(page)}
              <button name="decision" value="approve">Approve</button>
              <button name="decision" value="decline" class="quiet">Decline</button>
            </form>`
          : hindrance === undefined
            ? renderPreview(approval, false)
            : ""
      }
      <p><a href="/approvals">All approvals</a></p>`,
    { user, mistakes },
  );
}

/** The button that Enter in an input presses. It decides nothing: only a press of Approve or Decline does. */
const keyboardGuard = html`<button class="unseen" tabindex="-1" aria-hidden="true"></button>`;

function renderReason({ givenReason = "", mistakes }: ApprovalPage) {
  return renderField(
    {
      ...{ name: "reason", label: "If you decline: why?", hint: "The agent gets your reason." },
      ...{ value: givenReason, attributes: { maxlength: 500 } },
    },
    mistakes,
  );
}

function renderFacts({ approval, status, tokenName }: ApprovalPage) {
  const { clientName, tool, createdAt, expiresAt, decidedByName, decidedAt, reason } = approval;
  return html`<dl>
    <dt>State</dt>
    <dd>${states[status]}${decidedAt ? html` by <bdi>${decidedByName ?? "a person"}</bdi> at ${formatMinute(decidedAt)}` : ""}</dd>
    ${
      reason
        ? html`<dt>Reason</dt>
            <dd>${reason}</dd>`
        : ""
    }
    <dt>Who asks</dt>
    <dd>
      <bdi>${clientName ?? "A client without a name"}</bdi>, with the token
      <bdi>${tokenName ?? "that it was given"}</bdi>
    </dd>
    <dt>Tool</dt>
    <dd><code>${tool}</code></dd>
    <dt>Asked</dt>
    <dd>${formatMinute(createdAt)}; valid until ${formatMinute(expiresAt)}</dd>
  </dl>`;
}

/** Renders all lines that the agent was shown, in groups, and the texts of which they show only the beginning. */
function renderPreview({ question, calls, longTexts, except }: Approval, isOpen: boolean, mistakes?: FormMistakes) {
  const { heading, lines } = parseQuestion(question);
  if (calls.length === 0)
    return html`<section class="call">
      <h2>${renderQuotes(heading)}</h2>
      ${renderQuestionLines(lines, true)}${renderLongTexts(longTexts)}
    </section>`;
  const byPosition = Map.groupBy(longTexts ?? [], ({ position }) => position);
  const { state, mistake } = describeInput(formatCallId(calls), undefined, mistakes);
  return html`<fieldset>
      <legend>${renderQuotes(heading)}</legend>
      ${mistake}
      ${calls.map(({ position, text }, index) =>
        renderQuestionCall(
          { position, ...parseQuestion(text), ending: renderLongTexts(byPosition.get(position) ?? null) },
          {
            isChosen: !except.includes(position),
            isDisabled: !isOpen,
            ...(index === 0 ? { attributes: state } : {}),
          },
        ),
      )}
    </fieldset>
    ${renderQuestionLines(lines)}`;
}

function renderLongTexts(longTexts: Approval["longTexts"]) {
  return longTexts?.map(
    ({ title, text }) =>
      html`<details>
        <summary>${title}</summary>
        <p class="long-text" dir="auto">${text}</p>
      </details>`,
  );
}

/** Returns the id of the first call's box, to which mistakes lead. */
export function formatCallId(calls: Approval["calls"]): string {
  return `call-${calls[0]?.position}`;
}

function renderChoices({ approval: { choices }, user }: ApprovalPage) {
  // Who may not see addresses may not show them to others.
  if (!choices.includes("showHidden") || !user.seesSensitive) return "";
  return renderField({
    ...{ name: "showHidden", type: "checkbox", isChecked: false },
    label: "Show addresses and phone numbers in the file",
    hint: "Anyone who holds the link can read them, the agent included.",
  });
}

export interface WaitingApprovals {
  readonly pending: readonly Approval[];
  /** True if more wait than are listed. */
  readonly hasMore: boolean;
}

/** Renders the approvals that wait. */
export function renderApprovalListPage({ user, ...waiting }: WaitingApprovals & { readonly user: User }) {
  const note = user.role === "viewer" ? html`<p class="hint">Owners and staff decide on approvals.</p>` : "";
  return renderPage("Approvals", html`${renderLiveApprovals(waiting)}${note}`, {
    ...{ user, section: "/approvals", script: approvalsAsset },
  });
}

/** The path of the stream of waiting approvals. */
export const approvalStreamPath = "/live/approvals";

/** Renders the approvals that wait, in a place that a script keeps up to date. */
export function renderLiveApprovals(waiting: WaitingApprovals) {
  return html`<div aria-live="polite" data-live="${approvalStreamPath}">${renderApprovalRows(waiting)}</div>`;
}

/** Renders approvals as rows that lead to their pages. */
export function renderApprovalRows({ pending, hasMore }: WaitingApprovals) {
  if (pending.length === 0) return html`<p>Nothing waits for approval.</p>`;
  return html`<ul class="rows">
    ${pending.map(
      ({ approvalId, question, clientName, createdAt }) =>
        html`<li class="row">
          <a href="/approvals/${approvalId}">${renderQuotes(question.split("\n")[0])}</a>
          <span class="hint"><bdi>${clientName ?? "A client"}</bdi>, ${formatMinute(createdAt)}</span>
        </li>`,
    )}
    </ul>
    ${hasMore ? html`<p>More wait than are shown.</p>` : ""}`;
}
