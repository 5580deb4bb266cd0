import { html } from "hono/html";
import { renderPage } from "./layout.ts";

/** The facts about this server that the start page shows. */
export interface HomeFacts {
  /** The server's public URL, without a trailing slash. Undefined: the request's own origin. */
  readonly publicUrl: string | undefined;
  /** This server has MCP, and not only pages for people. */
  readonly hasMcp: boolean;
  /** This server is the programme service itself, with a REST interface. */
  readonly hasRest: boolean;
  /**
   * The credential of MCP callers: an access token, a key of this server, a token of an OAuth issuer, or the account of
   * a person here, beside access tokens.
   */
  readonly access: "token" | "key" | "oauth" | "account";
}

/** Renders the page for people who open the server's address in a browser. It shows nothing of the data. */
export function renderHomePage(facts: HomeFacts, requestOrigin: string) {
  if (!facts.hasMcp) return renderConsoleHome();
  return renderPage(
    "programme-mcp",
    html`<p>
        This server lets AI agents run calls for applications (grants, awards, fellowships): programmes, submissions,
        review rounds, reviewers and feedback, over the Model Context Protocol (MCP).
      </p>
      <p><a class="button" href="/sign-in">Sign in</a></p>
      ${renderConnectGuide(facts, requestOrigin)}`,
  );
}

/** Renders this server's addresses, and how an AI client connects. */
export function renderConnectGuide({ publicUrl, hasMcp, hasRest, access }: HomeFacts, requestOrigin: string) {
  if (!hasMcp) return html`<p>AI clients connect to another process of this installation.</p>`;
  const origin = publicUrl ?? requestOrigin;
  const mcp = `${origin}/mcp`;
  const rest = `${origin}/integrations/v1`;
  return html`<h2>Addresses</h2>
      <dl>
        <dt>MCP, for AI clients</dt>
        <dd><code>${mcp}</code></dd>
        ${
          hasRest
            ? html`<dt>REST, for programs</dt>
                <dd><code>${rest}</code></dd>
                <dt>Reference</dt>
                <dd><a href="${rest}/openapi.json">OpenAPI document of the REST interface</a></dd>`
            : ""
        }
        <dt>Health</dt>
        <dd>
          <a href="${origin}/healthz">Is the process alive?</a> ·
          <a href="${origin}/readyz">Is it ready to work?</a>
        </dd>
      </dl>
      <h2>Connect an AI client</h2>
      ${credentialFor[access]}
      ${access === "account" ? renderOtherClients(hasRest) : ""}
      <p>Most clients take settings such as these:</p>
      ${renderExample(formatSettings(mcp, access))}
      <p>Claude Code takes a command:</p>
      ${renderExample(formatCommand(mcp, access))}
      <p>The program itself writes the settings of many clients; its help says how:</p>
      ${renderExample("npx programme-mcp config --help")}`;
}

/** Names this server's addresses for a program that asks at the wrong one. */
export function describeAddresses({ publicUrl, hasMcp, hasRest }: HomeFacts, requestOrigin: string): string {
  const origin = publicUrl ?? requestOrigin;
  return [
    "This address has a page for browsers alone.",
    ...(hasMcp ? [`MCP: ${origin}/mcp`] : []),
    ...(hasMcp && hasRest ? [`REST: ${origin}/integrations/v1`] : []),
    "",
  ].join("\n");
}

function renderConsoleHome() {
  return renderPage(
    "programme-mcp",
    html`<p>
        These are the pages for people: approvals of what AI agents want to do, programmes and access. AI clients connect
        to another process of this installation.
      </p>
      <p><a class="button" href="/sign-in">Sign in</a></p>`,
  );
}

const credentialFor = {
  token: html`<p>
    You need an access token. The operator of this server makes one with <code>programme-mcp token create</code>; the
    demonstration prints one when it starts.
  </p>`,
  key: html`<p>
    You need a key. The operator of this server makes one with <code>programme-mcp gateway-key create --name NAME</code>.
  </p>`,
  oauth: html`<p>You sign in: your client opens the page for it when it connects.</p>`,
  account: html`<p>
    You sign in: your client opens the page for it when it connects.
  </p>`,
};

/** Explains what clients need that cannot open a page for signing in. */
function renderOtherClients(hasRest: boolean) {
  return hasRest
    ? html`<p>
        A client that cannot do so takes an access token. An owner makes one in the console, and the operator of this
        server with <code>programme-mcp token create</code>.
      </p>`
    : html`<p>
        Once signed in, save a <a href="/product-token">product token</a> for your apps. A client that cannot open a page
        takes an access token of the product, or a key from the operator of this server.
      </p>`;
}

const placeholders = { token: "<your access token>", key: "<your key>" };

function formatSettings(url: string, access: HomeFacts["access"]): string {
  const headers =
    access === "oauth" || access === "account" ? {} : { headers: { Authorization: `Bearer ${placeholders[access]}` } };
  return JSON.stringify({ mcpServers: { programme: { type: "http", url, ...headers } } }, null, 2);
}

function formatCommand(url: string, access: HomeFacts["access"]): string {
  const header =
    access === "oauth" || access === "account" ? "" : ` --header "Authorization: Bearer ${placeholders[access]}"`;
  return `claude mcp add --transport http programme ${url}${header}`;
}

/** Renders text to copy. */
function renderExample(text: string) {
  return html`<pre><code>${text}</code></pre>`;
}
