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
import type { Reading } from "./session.ts";
import { findMissingReadScopes, kinds, type ResourceKind } from "./target.ts";

const mimeType = "application/json";
const programsPerPage = 50;

/** The programmes whose parts are worth listing too, and the order in which programmes are listed. */
const current: readonly LifecycleStatus[] = ["underway", "configured"];
const order: readonly LifecycleStatus[] = [...current, "draft", "completed", "archived"];

/** What belongs to one programme, the programme itself first; and what needs no argument at all. */
const ofProgram = kinds
  .filter(({ operation, variables }) => {
    const filtered = operation.paginated && variables.length === 0 && "programId" in operation.queryObject.shape;
    return filtered || (variables.length === 1 && variables[0] === "programId");
  })
  .sort((a, b) => Number(b.name === "get_program") - Number(a.name === "get_program"));
const ofOrganisation = kinds.filter(({ operation, variables }) => {
  if (variables.length > 0 || !operation.queryObject.safeParse({}).success) return false;
  return operation.paginated || Object.keys(operation.queryObject.shape).length === 0;
});

/**
 * A page of what a caller can read: programmes, those underway first and with their parts, then on the first page the
 * lists of the whole organisation. The cursor is that of the programmes.
 * @throws Problem, as the list of programmes does; ProtocolError for a cursor that is none
 */
export async function listResources(reading: Reading, cursor?: string): Promise<ListResourcesResult> {
  const readable = new Set(await listReadableKinds(reading));
  const lists = cursor === undefined ? ofOrganisation.filter((kind) => readable.has(kind)).map(listEntry) : [];
  if (![...readable].some(({ name }) => name === "list_programs")) {
    if (cursor !== undefined) throw createUnknownCursorError();
    return { resources: lists };
  }
  const input = { limit: programsPerPage, ...(cursor === undefined ? {} : { lastEvaluatedKey: cursor }) };
  const answer = await reading.ask("list_programs", input);
  if (!answer.ok) throw answer.problem.status === 400 ? createUnknownCursorError() : answer.problem;
  const programs = (answer.data as Program[]).toSorted(compareLifecycle);
  const parts = ofProgram.filter((kind) => readable.has(kind));
  const nextCursor = answer.page?.lastEvaluatedKey;
  return {
    resources: [...programs.flatMap((program) => listProgramEntries(program, parts)), ...lists],
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
}

/** Every template that the caller can use, always in the same order. */
export async function listTemplates(reading: Reading): Promise<ListResourceTemplatesResult> {
  const usable = (await listReadableKinds(reading)).filter(({ template }) => UriTemplate.isTemplate(template));
  return {
    resourceTemplates: usable.map(({ name, template, operation: { summary, description } }) => ({
      uriTemplate: template,
      name,
      title: toTitle(getNoun(name)),
      description: [summary, ...(description ? [description] : [])].join(". "),
      mimeType,
    })),
  };
}

async function listReadableKinds({ identify, disabledBySetting }: Reading): Promise<ResourceKind[]> {
  const { scopes } = await identify();
  const isAllowed = ({ operation }: ResourceKind) =>
    findMissingReadScopes(scopes, { operation, input: {} }).length === 0;
  return kinds.filter((kind) => disabledBySetting(kind.name) === undefined && isAllowed(kind));
}

export function createUnknownCursorError(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown cursor: list again from the start");
}

function compareLifecycle(a: Program, b: Program): number {
  return order.indexOf(a.lifecycleStatus) - order.indexOf(b.lifecycleStatus);
}

function listProgramEntries(program: Program, parts: readonly ResourceKind[]): Resource[] {
  const shown = current.includes(program.lifecycleStatus) ? parts : parts.slice(0, 1);
  const { programId, name, year, lifecycleStatus, updatedAt } = program;
  return shown.map((kind) => {
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

/** Returns what a read shows: `list_audit_entries` shows `audit_entries`. */
function getNoun(name: CallName): string {
  return name.replace(/^(list|get)_/, "");
}
