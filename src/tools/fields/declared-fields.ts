import type { OperationName } from "../../contract/index.ts";
import type { Rubric } from "../../contract/schemas.ts";
import type { UpstreamCall } from "../../upstream/port.ts";
import { readAsCaller } from "../caller-reads.ts";
import type { ToolSession } from "../session.ts";

type Values = Readonly<Record<string, unknown>>;

/** A field of a form, a criterion of a rubric or a custom field of persons, by its names. */
export interface DeclaredField {
  readonly fieldId: string;
  readonly key: string;
  readonly label: string;
}

/** Reads declarations as the caller of a tool, each once per call. */
export interface FieldDeclarations {
  /** Returns a form's fields: of one version or the latest. Returns none if the form cannot be read. */
  loadForm(schemaId: string, schemaVersion?: number): Promise<readonly DeclaredField[]>;
  /** Returns the custom fields of persons. */
  loadPersonFields(): Promise<readonly DeclaredField[]>;
  /** Returns the criteria of a rubric, keyed by their ids. */
  loadCriteria(rubricId: string, version?: number): Promise<readonly DeclaredField[]>;
  /** Returns the data of a read, or `undefined` if it is refused. */
  read(operation: OperationName, input: Values): Promise<unknown>;
  /** Returns notes on declarations that could not be read. */
  listNotes(): readonly string[];
}

/** Most declarations that one call reads: each uses the token's rate. */
const maxDeclarations = 20;

export function createFieldDeclarations(session: ToolSession, call: UpstreamCall): FieldDeclarations {
  const reads = new Map<string, Promise<unknown>>();
  const problems = new Set<string>();

  async function request(operation: OperationName, input: Values): Promise<unknown> {
    const answer = await readAsCaller(session, call, operation, input);
    if (answer.ok) return answer.data;
    problems.add(answer.problem.message);
    return undefined;
  }

  function read(operation: OperationName, input: Values): Promise<unknown> {
    const key = JSON.stringify([operation, input]);
    const known = reads.get(key);
    if (known) return known;
    if (reads.size >= maxDeclarations) {
      problems.add(`One call reads at most ${maxDeclarations} schemas.`);
      return Promise.resolve(undefined);
    }
    const data = request(operation, input);
    reads.set(key, data);
    return data;
  }

  const listFields = (schema: unknown) => (schema as { fields?: readonly DeclaredField[] } | undefined)?.fields ?? [];
  const withVersion = (version: number | undefined) => (version === undefined ? {} : { version });

  return {
    read,
    loadForm: async (schemaId, version) => listFields(await read("get_schema", { schemaId, ...withVersion(version) })),
    loadPersonFields: async () => listFields(await read("get_person_schema", {})),
    async loadCriteria(rubricId, version) {
      const rubric = (await read("get_rubric", { rubricId, ...withVersion(version) })) as Rubric | undefined;
      const criteria = rubric?.criteria ?? [];
      return criteria.map(({ criterionId, label }) => ({ fieldId: criterionId, key: criterionId, label }));
    },
    listNotes: () => [...problems].map((message) => `Names of fields could not be read: ${message}`),
  };
}

/** Returns the field that a name stands for: an id, a key, or a label that only one field has. */
export function findField(fields: readonly DeclaredField[], name: string): DeclaredField | undefined {
  const exact = fields.find(({ fieldId }) => fieldId === name) ?? fields.find(({ key }) => key === name);
  if (exact) return exact;
  const labelled = fields.filter(({ label }) => label.toLowerCase() === name.toLowerCase());
  return labelled.length === 1 ? labelled[0] : undefined;
}
