import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  UriTemplate,
} from "@modelcontextprotocol/server";
import { expandResource } from "../contract/definition/resource.ts";
import { toTitle, toWords } from "../contract/definition/titles.ts";
import type { CallName } from "../contract/index.ts";
import type { LifecycleStatus, Program } from "../contract/programs.ts";
import { listApprovalTemplates } from "./approvals.ts";
import type { ResourceReader } from "./session.ts";
import { findMissingReadScopes, type ResourceKind, resourceKinds } from "./target.ts";

const mimeType = "application/json";
const programsPerPage = 50;

/** The lifecycle statuses whose programmes are listed with their parts, and the order of all statuses. */
const currentStatuses: readonly LifecycleStatus[] = ["underway", "configured"];
const statusOrder: readonly LifecycleStatus[] = [...currentStatuses, "draft", "completed", "archived"];

/** Resources of one programme, starting with the programme itself; and resources without arguments. */
const programKinds = resourceKinds
  .filter(({ operation, variables }) => {
    const filtered = operation.paginated && variables.length === 0 && "programId" in operation.queryObject.shape;
    return filtered || (variables.length === 1 && variables[0] === "programId");
  })
  .sort((a, b) => Number(b.name === "get_program") - Number(a.name === "get_program"));
const organisationKinds = resourceKinds.filter(({ operation, variables }) => {
  if (variables.length > 0 || !operation.queryObject.safeParse({}).success) return false;
  return operation.paginated || Object.keys(operation.queryObject.shape).length === 0;
});

/**
 * Lists a page of the resources that a caller can read: programmes, those underway first and with their parts. The
 * first page ends with the lists of the whole organisation. The cursor is that of `list_programs`.
 * @throws Problem as `list_programs` does; ProtocolError for an invalid cursor
 */
export async function listResources(reader: ResourceReader, cursor?: string): Promise<ListResourcesResult> {
  const readable = new Set(await listReadableKinds(reader));
  const lists = cursor === undefined ? organisationKinds.filter((kind) => readable.has(kind)).map(listEntry) : [];
  if (![...readable].some(({ name }) => name === "list_programs")) {
    if (cursor !== undefined) throw createUnknownCursorError();
    return { resources: lists };
  }
  const input = { limit: programsPerPage, ...(cursor === undefined ? {} : { lastEvaluatedKey: cursor }) };
  const answer = await reader.ask("list_programs", input);
  if (!answer.ok) throw answer.problem.status === 400 ? createUnknownCursorError() : answer.problem;
  const programs = (answer.data as Program[]).toSorted(compareLifecycle);
  const parts = programKinds.filter((kind) => readable.has(kind));
  const nextCursor = answer.page?.lastEvaluatedKey;
  return {
    resources: [...programs.flatMap((program) => listProgramEntries(program, parts)), ...lists],
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
}

/** Lists the templates that the caller can use, always in the same order. */
export async function listTemplates(reader: ResourceReader): Promise<ListResourceTemplatesResult> {
  const usable = (await listReadableKinds(reader)).filter(({ template }) => UriTemplate.isTemplate(template));
  const resourceTemplates = usable.map(({ name, template, operation: { summary, description } }) => ({
    uriTemplate: template,
    name,
    title: toTitle(getNoun(name)),
    description: [summary, ...(description ? [description] : [])].join(". "),
    mimeType,
  }));
  return { resourceTemplates: [...resourceTemplates, ...(await listApprovalTemplates(reader))] };
}

async function listReadableKinds({ identify, disabledBySetting }: ResourceReader): Promise<ResourceKind[]> {
  const { scopes } = await identify();
  const isAllowed = ({ operation }: ResourceKind) =>
    findMissingReadScopes(scopes, { operation, input: {} }).length === 0;
  return resourceKinds.filter((kind) => disabledBySetting(kind.name) === undefined && isAllowed(kind));
}

export function createUnknownCursorError(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown cursor: list again from the start");
}

function compareLifecycle(a: Program, b: Program): number {
  return statusOrder.indexOf(a.lifecycleStatus) - statusOrder.indexOf(b.lifecycleStatus);
}

function listProgramEntries(program: Program, parts: readonly ResourceKind[]): Resource[] {
  const listedKinds = currentStatuses.includes(program.lifecycleStatus) ? parts : parts.slice(0, 1);
  const { programId, name, year, lifecycleStatus, updatedAt } = program;
  return listedKinds.map((kind) => {
    const uri = expandResource(kind.template, { programId });
    if (kind.name !== "get_program") return { uri, name: `${name}: ${toWords(getNoun(kind.name))}`, mimeType };
    const description = `Programme of ${year}, ${lifecycleStatus}`;
    return { uri, name, description, mimeType, annotations: { lastModified: updatedAt } };
  });
}

function listEntry(kind: ResourceKind): Resource {
  const { name, template, operation } = kind;
  const noun = getNoun(name);
  return {
    uri: expandResource(template, {}),
    name: toWords(noun),
    title: toTitle(noun),
    description: operation.summary,
    mimeType,
  };
}

/** Returns the noun of a read: `audit_entries` for `list_audit_entries`. */
function getNoun(name: CallName): string {
  return name.replace(/^(list|get)_/, "");
}
