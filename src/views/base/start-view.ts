import type { CallToolResult } from "@modelcontextprotocol/client";
import { html } from "hono/html";
import { renderNotice } from "../../pages/components/notice.ts";
import { listenForActions } from "./actions.ts";
import { connectToHost, type Values, type ViewHost } from "./connection.ts";
import { QuestionPanel } from "./question.ts";
import { type AfterQuestion, type AskedQuestion, readToolResult, type ToolAnswer } from "./result.ts";

export type Markup = ReturnType<typeof html>;

/** The state from which a view draws itself. */
export interface Drawing<Data, State> extends HostAbilities {
  readonly data: Data;
  readonly state: State;
}

/** The capabilities that a host has for views. They hide what needs more. */
interface HostAbilities {
  /** True if it passes tool calls to the server. */
  readonly callsTools: boolean;
  readonly opensLinks: boolean;
}

/** The effects that an action of a view can have. */
export interface Controls<Data, State> extends Drawing<Data, State> {
  /** The arguments of the call whose result the view shows. */
  readonly input: Values;
  /** The value of the button or field that was clicked or changed. */
  readonly value: string;
  /** Changes the state, and draws the view again. */
  setState(change: Partial<State>): void;
  /**
   * Calls a tool of the server, with the caller's rights.
   * @param after - what follows if the call asks first, and `show` shows the question
   */
  callTool<Answer>(name: string, args: Values, after?: AfterQuestion): Promise<ToolAnswer<Answer>>;
  /** Shows another result in place of the first. */
  show(answer: ToolAnswer<Data> | AskedQuestion): void;
  openLink(url: string): Promise<unknown>;
  /** Says something to screen readers, and below the content. */
  announce(text: string): void;
}

export interface ViewDefinition<Data, State extends object> {
  readonly name: string;
  readonly state: State;
  render(drawing: Drawing<Data, State>): Markup;
  /**
   * The actions when an element is clicked or its value is changed, by the name in the element's `data-action`. An
   * element with an id keeps the focus when the view is drawn again.
   */
  readonly actions?: Readonly<Record<string, (controls: Controls<Data, State>) => unknown>>;
  /** Returns after how long the action `refresh` is performed; undefined if the result is final. */
  refreshAfterMs?(data: Data): number | undefined;
  /** Renders what a question's text does not show of the call that it is about. */
  renderQuestionDetails?(args: Values): Markup;
}

/** Shows a view in its document, and connects it to the host. */
export async function startView<Data, State extends object>(definition: ViewDefinition<Data, State>): Promise<void> {
  const content = findElement("content");
  const status = findElement("status");
  let { state } = definition;
  let input: Values = {};
  let answer: ToolAnswer<Data> | undefined;
  let host: ViewHost | undefined;

  const announce = (text: string) => status.replaceChildren(text);
  const getAbilities = () => readAbilities(host);

  function draw(): void {
    if (!answer) return;
    replaceContent(content, renderAnswer(definition, answer, { state, panel, ...getAbilities() }));
    content.ariaBusy = "false";
    // The question's button still works if the approval cannot be read.
    void panel.follow().catch(() => undefined);
  }

  function show(shown: ToolAnswer<Data>): void {
    answer = shown;
    panel.start(shown);
    announce("");
    draw();
    const refreshMs = shown.kind === "data" ? definition.refreshAfterMs?.(shown.data) : undefined;
    if (refreshMs !== undefined) setTimeout(() => answer === shown && perform("refresh", ""), refreshMs);
  }

  const panel = new QuestionPanel({ getHost: () => host, draw, show, announce });

  async function act(action: string, value: string): Promise<void> {
    if (!answer || answer.kind === "refusal") return;
    if (answer.kind === "question") return panel.perform(action, value);
    const controls: Controls<Data, State> = {
      data: answer.data,
      state,
      ...getAbilities(),
      input,
      value,
      setState(change) {
        state = { ...state, ...change };
        draw();
      },
      callTool: async (tool, args, after) =>
        readToolResult(await (host as ViewHost).callTool(tool, args), { tool, args, after }),
      show,
      openLink: (url) => (host as ViewHost).openLink(url),
      announce,
    };
    await definition.actions?.[action]?.(controls);
  }

  const perform = (action: string, value: string) =>
    void act(action, value).catch((error: unknown) => announce(describeError(error)));
  listenForActions(content, perform);
  host = await connectToHost(definition.name, {
    onInput: (args) => {
      input = args;
    },
    onResult: (result: CallToolResult) => show(readToolResult<Data>(result, { args: input })),
    onCancelled: () => announce("The call was cancelled."),
  });
}

function renderAnswer<Data, State extends object>(
  definition: ViewDefinition<Data, State>,
  answer: ToolAnswer<Data>,
  { panel, ...drawing }: Omit<Drawing<Data, State>, "data"> & { readonly panel: QuestionPanel },
): Markup {
  if (answer.kind === "question")
    return panel.render(answer, definition.renderQuestionDetails?.(answer.call.args) ?? "");
  if (answer.kind === "refusal") {
    const { message, next } = answer;
    return html`${renderNotice(message, "error")}${next ? html`<p class="hint">${next}</p>` : ""}`;
  }
  try {
    return definition.render({ data: answer.data, ...drawing });
  } catch {
    // The model has chosen fields, and the view needs others.
    return renderNotice("This result lacks fields that the view shows. Call the tool without `select`.", "error");
  }
}

function readAbilities(host: ViewHost | undefined): HostAbilities {
  const { serverTools, openLinks } = host?.hostCapabilities ?? {};
  return { callsTools: serverTools !== undefined, opensLinks: openLinks !== undefined };
}

/** Replaces the content. All values in it are escaped by `html`. Opened parts stay open, and the focus stays. */
function replaceContent(content: HTMLElement, markup: Markup): void {
  const focused = document.activeElement?.id;
  const open = [...content.querySelectorAll<HTMLDetailsElement>("details[id][open]")].map(({ id }) => id);
  content.innerHTML = String(markup);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
}

function findElement(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The document has no element "${id}"`);
  return element;
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
