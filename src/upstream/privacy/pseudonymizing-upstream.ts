import type * as z from "zod";
import { type Privacy, privacyModes } from "../../contract/access/privacy.ts";
import type { FieldAnnotation } from "../../contract/definition/field-annotations.ts";
import type { Operation } from "../../contract/definition/operation.ts";
import { compileTransform, type Transform } from "../../contract/definition/transform.ts";
import { Problem } from "../../contract/errors.ts";
import type { ExportJob } from "../../contract/exports.ts";
import { operations } from "../../contract/index.ts";
import { toJsonText } from "../../lib/json-cache.ts";
import { toFailure } from "../../pipeline/failure.ts";
import type { Answer, DryRunResult, Failure, Success, Upstream, UpstreamCall } from "../port.ts";
import { createContactHider, hidePhonesIn, isPlain, openHandlesIn } from "./hide-contacts.ts";
import type { Pseudonymizer } from "./pseudonyms.ts";
import { mapTexts, sanitizeText, type TextChange } from "./sanitize-text.ts";

/**
 * An upstream as agents meet it: handles instead of what people can be reached by, both ways, and texts without
 * invisible characters. Everything that an agent reads or says passes here, whatever the upstream.
 */
export function createPseudonymizingUpstream(
  upstream: Upstream,
  privacy: Privacy,
  handlesOf: (realm: string) => Pseudonymizer,
): Upstream {
  if (privacy === "off") {
    return {
      ...upstream,
      call: async (call) => mapAnswerTexts(await upstream.call(call), sanitizeText),
      dryRun: async (call) => {
        const dryRunResult = await upstream.dryRun(call);
        return dryRunResult.ok ? mapDryRunTexts(dryRunResult, sanitizeText) : dryRunResult;
      },
    };
  }
  return {
    ...upstream,
    check: (call) =>
      withHandles(call, async (opened, handles) => {
        const failure = await upstream.check(opened);
        return failure && mapFailureTexts(failure, createContactHider(handles));
      }),
    call: (call) =>
      withHandles(call, async (opened, handles) => {
        const answer = pseudonymizeAnswer(operations[call.operation], await upstream.call(opened), handles);
        return call.operation === "get_export" && answer.ok ? withoutOpenLink(answer, privacy) : answer;
      }),
    describe: async (call) => {
      const { realm } = await upstream.identify(call.token);
      const connection = await upstream.describe(call);
      const { token, business } = connection;
      const hide = createContactHider(handlesOf(realm));
      return {
        ...connection,
        token: token.name === undefined ? token : { ...token, name: hide(token.name) },
        business: business?.name === undefined ? business : { ...business, name: hide(business.name) },
      };
    },
    dryRun: (call) =>
      withHandles(call, async (opened, handles) => {
        const dryRunResult = await upstream.dryRun(opened);
        return dryRunResult.ok
          ? mapDryRunTexts(dryRunResult, createContactHider(handles))
          : mapFailureTexts(dryRunResult, createContactHider(handles));
      }),
  };

  async function withHandles<R>(
    call: UpstreamCall,
    work: (call: UpstreamCall, handles: Pseudonymizer) => Promise<R>,
  ): Promise<R | Failure> {
    try {
      const { realm } = call.admission?.identity ?? (await upstream.identify(call.token));
      const handles = handlesOf(realm);
      const input = resolveHandles(operations[call.operation], call.input, handles);
      return await work({ ...call, input, privacy: call.confirmed?.showsHidden ? "off" : privacy }, handles);
    } catch (error) {
      return toFailure(error);
    }
  }
}

/** A call's arguments with handles opened, wherever the contract takes what they stand for. */
function resolveHandles(operation: Operation, input: Readonly<Record<string, unknown>>, handles: Pseudonymizer) {
  const { queryObject, body } = operation;
  const values = Object.entries(input).map(([path, value]): [string, unknown] => {
    const schema = [queryObject.shape, body?.shape ?? {}].find((shape) => Object.hasOwn(shape, path))?.[path];
    return [path, (schema && createFieldTransform(schema, openMarked)?.(value, { handles, path })) ?? value];
  });
  return values.every(([path, value]) => value === input[path]) ? input : Object.fromEntries(values);
}

function pseudonymizeAnswer(operation: Operation, answer: Answer, handles: Pseudonymizer): Answer {
  const hide = createContactHider(handles);
  if (!answer.ok) return mapFailureTexts(answer, hide);
  return withData(answer, sealed(operation.data, answer.data, handles), hide);
}

/** Marked values first: what has a handle already is not taken for something else. */
function sealed(schema: z.core.$ZodType, data: unknown, handles: Pseudonymizer): unknown {
  return createFieldTransform(schema, sealMarked)?.(data, { handles }) ?? data;
}

/** Returns a record as agents see it. */
export function protectRecord(schema: z.core.$ZodType, record: unknown, handles: Pseudonymizer): unknown {
  return mapRecordTexts(sealed(schema, record, handles), createContactHider(handles));
}

/** Withholds a link that opens a file which shows more of people than agents may see: it opens it to anyone. */
function withoutOpenLink(answer: Success, privacy: Privacy): Success {
  const job = answer.data as ExportJob;
  // A job of an agent names a mode: `off` only where a human agreed to it.
  const isAgreed = job.privacy === "off";
  const isProtected = privacyModes.indexOf(job.privacy ?? "off") >= privacyModes.indexOf(privacy);
  if (isAgreed || isProtected || !job.downloadUrl) return answer;
  const warnings = [...(job.warnings ?? []), linkWithheld];
  return { ...answer, data: { ...job, downloadUrl: null, downloadExpiresAt: null, warnings } };
}

const linkWithheld =
  "The file shows addresses that are hidden from you, so you get no link to it. Your human gets one over REST or in the product.";

/** An answer with every text of it changed; what this service wrote itself (codes, messages) is left alone. */
function mapAnswerTexts(answer: Answer, change: TextChange): Answer {
  return answer.ok ? withData(answer, answer.data, change) : mapFailureTexts(answer, change);
}

function withData(answer: Success, data: unknown, change: TextChange): Success {
  const shown = Array.isArray(data) ? data.map((row) => mapRecordTexts(row, change)) : mapRecordTexts(data, change);
  return { ...answer, data: shown };
}

function mapRecordTexts(record: unknown, change: TextChange): unknown {
  return isPlain(toJsonText(record)) ? record : mapTexts(record, change);
}

function mapFailureTexts(failure: Failure, change: TextChange): Failure {
  const { code, details, message } = failure.problem;
  const shown = details && (mapTexts(details, change) as Readonly<Record<string, unknown>>);
  return { ...failure, problem: new Problem(code, shown, message) };
}

/** A rehearsal with every text of it changed: it is looked into to make a question of. */
function mapDryRunTexts(dryRunResult: DryRunResult, change: TextChange): DryRunResult {
  return {
    ...dryRunResult,
    changes: mapTexts(dryRunResult.changes, change) as DryRunResult["changes"],
    data: mapTexts(dryRunResult.data, change),
    // Those who are written to are named by their addresses.
    labels: new Map([...dryRunResult.labels].map(([id, label]) => [change(id), change(label)])),
  };
}

interface Sealing {
  readonly handles: Pseudonymizer;
  /** The argument that is being opened. */
  readonly path?: string;
}

type MarkTransform = (mark: FieldAnnotation, inner: Transform<Sealing> | undefined) => Transform<Sealing> | undefined;

const sealMarked: MarkTransform = ({ handle, freeForm }, inner) => {
  if (freeForm) return (value, { handles }) => hidePhonesIn(value, handles);
  return handle ? (value, { handles }) => (typeof value === "string" ? handles.seal(handle, value) : value) : inner;
};

const openMarked: MarkTransform = ({ handle, freeForm }, inner) => {
  if (freeForm) return (value, { handles, path = "" }) => openHandlesIn(value, handles, path);
  return handle
    ? (value, { handles, path = "" }) => (typeof value === "string" ? handles.open(handle, value, path) : value)
    : inner;
};

const transforms = new Map<MarkTransform, WeakMap<z.core.$ZodType, Transform<Sealing> | null>>();

function createFieldTransform(schema: z.core.$ZodType, mark: MarkTransform): Transform<Sealing> | undefined {
  const known = transforms.get(mark) ?? new WeakMap<z.core.$ZodType, Transform<Sealing> | null>();
  transforms.set(mark, known);
  let transform = known.get(schema);
  if (transform === undefined) {
    transform = compileTransform(schema, { visit: mark, undeclared: "keep" }) ?? null;
    known.set(schema, transform);
  }
  return transform ?? undefined;
}
