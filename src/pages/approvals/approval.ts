import { html } from "hono/html";
import type { Approval } from "../../contract/access/approvals.ts";
import type { User } from "../../contract/access/roles.ts";
import { approvalsAsset } from "../assets.ts";
import { formatMinute } from "../components/format.ts";
import { renderNotice } from "../components/notice.ts";
import { parseQuestion, renderQuestionLines } from "../components/question.ts";
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
  readonly error?: string | undefined;
}

const states: Readonly<Record<ApprovalPage["status"], string>> = {
  pending: "Waits for a decision",
  approved: "Approved",
  declined: "Declined",
  expired: "Expired: nobody decided in time",
};

/** Renders the page on which a person approves or declines a call: the preview, who asks, and what can be chosen. */
export function renderApprovalPage(page: ApprovalPage) {
  const { user, approval, status, hindrance, error } = page;
  const isOpen = status === "pending" && hindrance === undefined;
  return renderPage(
    "Approval",
    html`${error ? renderNotice(error, "error") : ""}${hindrance ? renderNotice(hindrance, "error") : ""}
      ${renderFacts(page)}
      ${
        isOpen
          ? html`<form method="post" action="/approvals/${approval.approvalId}">
              ${renderPreview(approval, true)}${renderChoices(page)}
              <label for="reason">If you decline: why?</label>
              <input id="reason" name="reason" maxlength="500" />
              <p class="hint">The agent is told.</p>
              <button name="decision" value="approve">Approve</button>
              <button name="decision" value="decline" class="quiet">Decline</button>
            </form>`
          : hindrance === undefined
            ? renderPreview(approval, false)
            : ""
      }
      <p><a href="/approvals">All approvals</a></p>`,
    { user },
  );
}

function renderFacts({ approval, status, tokenName }: ApprovalPage) {
  const { clientName, tool, createdAt, expiresAt, decidedByName, decidedAt, reason } = approval;
  return html`<dl>
    <dt>State</dt>
    <dd>${states[status]}${decidedAt ? html` by ${decidedByName ?? "a person"} at ${formatMinute(decidedAt)}` : ""}</dd>
    ${
      reason
        ? html`<dt>Reason</dt>
            <dd>${reason}</dd>`
        : ""
    }
    <dt>Who asks</dt>
    <dd>${clientName ?? "A client without a name"}, with the token ${tokenName ?? "that it was given"}</dd>
    <dt>Tool</dt>
    <dd><code>${tool}</code></dd>
    <dt>Asked</dt>
    <dd>${formatMinute(createdAt)}; valid until ${formatMinute(expiresAt)}</dd>
  </dl>`;
}

/** Renders all lines that the agent was shown, in groups. */
function renderPreview({ question, calls, except }: Approval, isOpen: boolean) {
  const { heading, lines } = parseQuestion(question);
  if (calls.length === 0)
    return html`<section class="call">
      <h2>${heading}</h2>
      ${renderQuestionLines(lines, true)}
    </section>`;
  return html`<fieldset>
      <legend>${heading}</legend>
      ${calls.map((call) => renderCall(call, !except.includes(call.position), isOpen))}
    </fieldset>
    ${renderQuestionLines(lines)}`;
}

function renderCall({ position, text }: Approval["calls"][number], isChosen: boolean, isOpen: boolean) {
  const { heading, lines } = parseQuestion(text);
  return html`<section class="call">
    <h2>
      <label class="choice">
        <input
          type="checkbox"
          name="call"
          value="${position}"
          ${isChosen ? "checked" : ""}
          ${isOpen ? "" : "disabled"}
        />
        ${position}. ${heading}
      </label>
    </h2>
    ${renderQuestionLines(lines, true)}
  </section>`;
}

function renderChoices({ approval: { choices }, user }: ApprovalPage) {
  // Who may not see addresses may not show them to others.
  if (!choices.includes("showHidden") || !user.seesSensitive) return "";
  return html`<label class="choice">
    <input type="checkbox" name="showHidden" value="yes" /> Show addresses and phone numbers in the file
  </label>
  <p class="hint">Anyone who holds the link can read them, the agent included.</p>`;
}

export interface WaitingApprovals {
  readonly pending: readonly Approval[];
  /** Whether more wait than are listed. */
  readonly hasMore: boolean;
}

/** Renders the approvals that wait. */
export function renderApprovalListPage({ user, ...waiting }: WaitingApprovals & { readonly user: User }) {
  return renderPage("Approvals", renderLiveApprovals(waiting), {
    user,
    section: "/approvals",
    script: approvalsAsset,
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
          <a href="/approvals/${approvalId}">${question.split("\n")[0]}</a>
          <span class="hint">${clientName ?? "A client"}, ${formatMinute(createdAt)}</span>
        </li>`,
    )}
    </ul>
    ${hasMore ? html`<p>More wait than are shown.</p>` : ""}`;
}
