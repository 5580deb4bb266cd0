import type { CallToolResult } from "@modelcontextprotocol/client";
import { html } from "hono/html";
import { renderNotice } from "../../pages/components/notice.ts";
import { parseQuestion, renderQuestionCall, renderQuestionLines } from "../../pages/components/question.ts";
import type { ViewHost } from "./connection.ts";
import { type AskedQuestion, type PendingQuestion, readToolResult, type ToolAnswer } from "./result.ts";

/** The data of an approval's resource. */
interface Approval {
  readonly status: "pending" | "approved" | "declined" | "expired";
  readonly reason: string | null;
}

interface QuestionState {
  /** The calls of a batch that are left out. */
  readonly leftOut: readonly number[];
  /** The approval on the server's page, once it was read. */
  readonly approval?: Approval | undefined;
  /** True if the person has declined in the view. */
  readonly declined?: boolean;
}

/** The functions that a question needs of the view that shows it. */
export interface QuestionSurroundings {
  getHost(): ViewHost | undefined;
  draw(): void;
  show(answer: ToolAnswer<never>): void;
  announce(text: string): void;
}

const firstIntervalMs = 1_000;
const maxIntervalMs = 15_000;

/** Shows a question and acts on the person's choice. It adds no way to approve: each call asks as ever. */
export class QuestionPanel {
  readonly #view: QuestionSurroundings;
  #state: QuestionState = { leftOut: [] };
  #asked: AskedQuestion | undefined;
  #isBusy = false;

  constructor(view: QuestionSurroundings) {
    this.#view = view;
  }

  /** Begins with a question, or ends with another answer. */
  start(answer: ToolAnswer<unknown>): void {
    this.#state = { leftOut: [] };
    this.#asked = answer.kind === "question" ? answer : undefined;
  }

  render(asked: AskedQuestion, details: unknown) {
    return renderAsked(asked, this.#state, this.#view.getHost(), details);
  }

  /** Performs an action of the question. */
  async perform(action: string, value: string): Promise<void> {
    const asked = this.#asked;
    if (!asked || this.#isBusy) return;
    this.#isBusy = true;
    try {
      if (action === "approve") await this.#repeatCall(asked);
      else if (action === "decline") await this.#decline(asked);
      else if (action === "leave-out") this.#leaveOut(Number(value));
      else if (action === "back") asked.call.after?.onBack();
      else if (action === "open-approval") await this.#host.openLink(asked.confirmation.url ?? "");
    } finally {
      this.#isBusy = false;
    }
  }

  /** Follows the approval of the question, if a host is connected that reads resources. */
  async follow(): Promise<void> {
    const [host, asked] = [this.#view.getHost(), this.#asked];
    const approvalId = asked?.confirmation.approvalId;
    if (!approvalId || !host?.hostCapabilities.serverResources || this.#state.approval) return;
    this.#change({ approval: { status: "pending", reason: null } });
    for (let intervalMs = firstIntervalMs; ; intervalMs = Math.min(intervalMs * 1.5, maxIntervalMs)) {
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
      const { data } = await host.readResource<{ data: Approval }>(`programme://approvals/${approvalId}`);
      if (this.#asked !== asked) return;
      if (data.status !== "pending") return this.#change({ approval: data });
    }
  }

  get #host(): ViewHost {
    return this.#view.getHost() as ViewHost;
  }

  #change(change: Partial<QuestionState>): void {
    this.#state = { ...this.#state, ...change };
    this.#view.draw();
  }

  #leaveOut(position: number): void {
    const { leftOut } = this.#state;
    const others = leftOut.filter((each) => each !== position);
    this.#change({ leftOut: others.length < leftOut.length ? others : [...leftOut, position] });
  }

  /** Repeats the call with its token. The server decides whether the person's agreement counts. */
  async #repeatCall({ confirmation, call }: AskedQuestion): Promise<void> {
    const { leftOut } = this.#state;
    this.#view.announce("Working …");
    const except = leftOut.length > 0 ? { except: leftOut } : {};
    const args = { ...call.args, ...except, confirmation: confirmation.token };
    const result = await this.#host.callTool(call.tool, args);
    const answer = readToolResult<never>(result, call);
    if (answer.kind === "question" && confirmation.url && answer.confirmation.url === confirmation.url)
      return this.#view.announce("Nobody has decided yet.");
    if (answer.kind === "data")
      await this.#inform(confirmation, "The call was made from the view. Do not repeat it.", result.content);
    if (answer.kind === "data" && call.after) await call.after.onAnswer(answer.data);
    else this.#view.show(answer);
  }

  async #decline({ confirmation }: AskedQuestion): Promise<void> {
    const reason = document.querySelector<HTMLInputElement>("#decline-reason")?.value.trim();
    const why = reason ? ` Reason: ${reason}` : "";
    await this.#inform(confirmation, `The person has declined. Do not repeat the call.${why}`, []);
    this.#change({ declined: true });
  }

  /** Adds to what the model knows, which does not see the calls of a view. */
  #inform({ question }: PendingQuestion, text: string, content: CallToolResult["content"]): Promise<unknown> {
    const { heading } = parseQuestion(question);
    return this.#host.updateModelContext([{ type: "text", text: `${heading} ${text}` }, ...content]);
  }
}

function renderAsked(
  { confirmation, call: { after } }: AskedQuestion,
  state: QuestionState,
  host: ViewHost | undefined,
  details: unknown,
) {
  const { heading, lines, calls } = parseQuestion(confirmation.question);
  // On the approval's page, the person leaves out calls there.
  const canLeaveOut = confirmation.url === undefined && !state.declined;
  return html`<h1>${heading}</h1>
    ${calls.map((call) =>
      renderQuestionCall(call, {
        isChosen: !state.leftOut.includes(call.position),
        isDisabled: !canLeaveOut,
        attributes: html`data-action="leave-out"`,
      }),
    )}
    ${renderQuestionLines(lines)}${details}
    ${confirmation.url === undefined ? renderChoice(state, calls.length, host) : renderApproval(confirmation.url, state, host)}
    ${after ? html`<div class="choices"><button id="back" class="quiet" data-action="back">Back</button></div>` : ""}`;
}

/** Renders the choice where the call's repetition confirms it. */
function renderChoice({ declined, leftOut }: QuestionState, calls: number, host: ViewHost | undefined) {
  if (declined) return renderNotice("Declined. Nothing has been done.", "done");
  if (!host?.hostCapabilities.serverTools) return html`<p class="hint">Answer this in the conversation.</p>`;
  const isEmpty = calls > 0 && leftOut.length >= calls;
  return html`<div class="choices">
    <button id="approve" data-action="approve" ${isEmpty ? "disabled" : ""}>Approve</button>
    <span><label for="decline-reason">If you decline: why?</label> <input id="decline-reason" maxlength="500" /></span>
    <button id="decline" class="quiet" data-action="decline">Decline</button>
  </div>`;
}

/** Renders the way to the page where a signed-in person decides, and what was decided. */
function renderApproval(url: string, { approval }: QuestionState, host: ViewHost | undefined) {
  const { status = "pending", reason = null } = approval ?? {};
  const repeat = (label: string, kind: string) =>
    host?.hostCapabilities.serverTools
      ? html`<button id="approve" class="${kind}" data-action="approve">${label}</button>`
      : "";
  if (status === "declined")
    return renderNotice(`Declined.${reason ? ` Reason: ${reason}` : ""} Nothing has been done.`, "error");
  if (status === "expired") return renderNotice("Expired: nobody decided in time. Nothing has been done.", "error");
  if (status === "approved")
    return html`${renderNotice("Approved. Nothing has been done yet.", "done")}
      <div class="choices">${repeat("Make the call", "")}</div>`;
  return html`<p class="hint">A signed-in person decides on the server's page. This view cannot approve.</p>
    ${
      host?.hostCapabilities.openLinks
        ? html`<div class="choices">
            <button id="open-approval" data-action="open-approval">Open the approval</button>
            ${repeat("Continue after the approval", "quiet")}
          </div>`
        : html`<pre tabindex="0">${url}</pre>
            <div class="choices">${repeat("Continue after the approval", "quiet")}</div>`
    }`;
}
