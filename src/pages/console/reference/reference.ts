import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import { renderTable } from "../../components/data-table.ts";
import { renderPage } from "../../layout.ts";
import {
  formatCurl,
  getSchemaName,
  listReferenceOperations,
  type OpenapiDocument,
  type ReferenceOperation,
  type SchemaObject,
} from "./openapi-document.ts";

/** Renders all operations of the REST interface, by noun. */
export function renderReferencePage(user: User, document: OpenapiDocument) {
  const byTag = Map.groupBy(listReferenceOperations(document), ({ tags }) => tags[0] ?? "");
  const [server] = document.servers;
  return renderPage(
    "Reference",
    html`<p>
        The REST interface for programs, below <code>${server?.url}</code>. Programs may also read it as an
        <a href="${server?.url}/openapi.json">OpenAPI document</a>.
      </p>
      <nav aria-label="Nouns">
        <ul class="columns">
          ${[...byTag.keys()].map((tag) => html`<li><a href="#${tag}">${tag}</a></li>`)}
        </ul>
      </nav>
      ${[...byTag].map(
        ([tag, operations]) =>
          html`<h2 id="${tag}">${tag}</h2>
            ${renderTable({
              caption: `Operations on ${tag}`,
              headings: ["Operation", "Request"],
              rows: operations.map(({ operationId, summary, method, path }) => [
                html`<a href="/reference/operations/${operationId}">${summary}</a>`,
                html`<code>${method} ${path}</code>`,
              ]),
              empty: "",
            })}`,
      )}`,
    { user, section: "/reference" },
  );
}

/** Renders an operation with an example to copy. */
export function renderOperationPage(user: User, operation: ReferenceOperation, baseUrl: string) {
  const { summary, description, method, path, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content["application/json"];
  return renderPage(
    summary,
    html`<p><code>${method} ${path}</code></p>
      ${description.split("\n\n").map((paragraph) => html`<p>${renderCode(paragraph)}</p>`)}
      <h2>Example</h2>
      ${renderExample(formatCurl(operation, baseUrl))}
      <h2>Parameters</h2>
      ${renderTable({
        caption: "Parameters",
        headings: ["Name", "Place", "Type", "Required", "Meaning"],
        rows: parameters.map(({ name, in: place, schema, required, description: meaning }) => [
          html`<code>${name}</code>`,
          place,
          renderType(schema),
          required ? "Yes" : "No",
          meaning,
        ]),
        empty: "There are no parameters.",
      })}
      ${
        body
          ? html`<h2>Body</h2>
              ${renderSchema("Body", body.schema)} ${renderExample(JSON.stringify(body.example, null, 2))}`
          : ""
      }
      <h2>Answers</h2>
      ${Object.entries(responses).map(([status, response]) => {
        const content = response.content?.["application/json"];
        return html`<h3>${status}</h3>
          <p>${renderCode(response.description)}</p>
          ${content?.example === undefined ? "" : renderAnswer(content.schema, content.example)}`;
      })}
      ${renderBack()}`,
    { user, section: "/reference" },
  );
}

function renderAnswer(schema: SchemaObject, example: unknown) {
  const data = schema.properties?.["data"];
  return html`${data ? html`<p>The data: ${renderType(data)}</p>` : ""}${renderExample(JSON.stringify(example, null, 2))}`;
}

/** Renders a record of the interface. */
export function renderRecordPage(user: User, name: string, schema: SchemaObject) {
  return renderPage(name, html`${renderSchema(name, schema)} ${renderBack()}`, { user, section: "/reference" });
}

function renderSchema(caption: string, { properties = {}, required = [], ...schema }: SchemaObject) {
  if (Object.keys(properties).length === 0) return html`<p>${renderType(schema)}</p>`;
  return renderTable({
    caption: `Fields of ${caption}`,
    headings: ["Field", "Type", "Required", "Meaning"],
    rows: Object.entries(properties).map(([name, property]) => [
      html`<code>${name}</code>`,
      renderType(property),
      required.includes(name) ? "Yes" : "No",
      property.description ?? "",
    ]),
    empty: "",
  });
}

/** Describes a type in one line, with links to records. */
function renderType(schema: SchemaObject): unknown {
  const { $ref, items, anyOf, type, format, default: standard } = schema;
  if ($ref !== undefined) {
    const name = getSchemaName($ref);
    return html`<a href="/reference/records/${name}">${name}</a>`;
  }
  if (items) return html`list of ${renderType(items)}`;
  if (anyOf) return anyOf.map((each, index) => html`${index === 0 ? "" : " or "}${renderType(each)}`);
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (values) return values.map((value, index) => html`${index === 0 ? "" : ", "}<code>${String(value)}</code>`);
  const name = format ?? [type ?? "any"].flat().join(" or ");
  return html`${name}${formatLength(schema)}${standard === undefined ? "" : `, otherwise ${JSON.stringify(standard)}`}`;
}

function formatLength({ minLength = 0, maxLength }: SchemaObject): string {
  return maxLength === undefined ? "" : `, ${minLength} to ${maxLength} characters`;
}

/** Renders the parts of a text that are between backticks as code. */
function renderCode(text: string) {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

function renderExample(text: string) {
  return html`<pre tabindex="0"><code>${text}</code></pre>`;
}

function renderBack() {
  return html`<p><a href="/reference">All operations</a></p>`;
}
