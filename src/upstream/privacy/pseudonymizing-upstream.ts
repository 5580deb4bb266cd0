import type * as z from "zod";
import { type Privacy, privacyModes } from "../../contract/access/privacy.ts";
import type { FieldAnnotation } from "../../contract/definition/field-annotations.ts";
import type { Operation } from "../../contract/definition/operation.ts";
import { createSchemaCache } from "../../contract/definition/schema-cache.ts";
import { compileTransform, type Transform } from "../../contract/definition/transform.ts";
import { Problem } from "../../contract/errors.ts";
import type { ExportJob } from "../../contract/exports.ts";
import { operations } from "../../contract/index.ts";
import { toFailure } from "../../pipeline/failure.ts";
import type { Answer, DryRunResult, Failure, Success, Upstream, UpstreamCall } from "../port.ts";
import { getIdentity } from "../request-caller.ts";
import { createContactHider, hidePhonesIn, isPlain, resolveHandlesIn } from "./hide-contacts.ts";
import type { Pseudonymizer } from "./pseudonyms.ts";
import { mapTexts, sanitizeText, type TextChange } from "./sanitize-text.ts";
import { createWrittenValues, type WrittenValues } from "./written-values.ts";

/**
 * Wraps an upstream for agents: contact details become handles in answers and handles are resolved in arguments, and
 * invisible characters are removed from texts. Everything that an agent reads or sends passes through here.
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
      withHandles(call, upstream.check, (failure, handles) =>
        failure ? mapFailureTexts(failure, createContactHider(handles)) : undefined,
      ),
    call: (call) =>
      withHandles(call, upstream.call, (given, handles) => {
        const hidden = pseudonymizeAnswer(operations[call.operation], given, handles);
        const answer = recallWritten(call, handles)?.restoreAnswer(hidden) ?? hidden;
        return call.operation === "get_export" && answer.ok ? withoutOpenLink(answer, privacy) : answer;
      }),
    describe: async (call) => {
      const connection = await upstream.describe(call);
      const { identity, token, business } = connection;
      const hide = createContactHider(handlesOf(identity.realm));
      return {
        ...connection,
        token: token.name === undefined ? token : { ...token, name: hide(token.name) },
        business: business?.name === undefined ? business : { ...business, name: hide(business.name) },
      };
    },
    dryRun: (call) =>
      withHandles(call, upstream.dryRun, (dryRunResult, handles) => {
        const hide = createContactHider(handles);
        if (!dryRunResult.ok) return mapFailureTexts(dryRunResult, hide);
        const hidden = mapDryRunTexts(dryRunResult, hide);
        return recallWritten(call, handles)?.restoreDryRun(hidden) ?? hidden;
      }),
  };

  /** Runs a call with the values of its handles, and hides what it returns. */
  async function withHandles<R>(
    call: UpstreamCall,
    run: (opened: UpstreamCall) => Promise<R>,
    hide: (result: R, handles: Pseudonymizer) => R,
  ): Promise<R | Failure> {
    try {
      const { realm } = await getIdentity(upstream, call);
      const handles = handlesOf(realm);
      const input = resolveHandles(operations[call.operation], call.input, handles);
      const shownBy = call.confirmed?.showsHidden ? "off" : privacy;
      return hide(await run({ ...call, input, privacy: shownBy }), handles);
    } catch (error) {
      return toFailure(error);
    }
  }
}

/** Resolves the handles in a call's arguments, wherever the contract accepts the values that they stand for. */
function resolveHandles(operation: Operation, input: Readonly<Record<string, unknown>>, handles: Pseudonymizer) {
  return mapArguments(operation, input, (value, path, schema) => getOpening(schema)?.(value, { handles, path }));
}

/**
 * Returns what the caller wrote in a call that changes something, to show that as it is; nothing if none of it would be
 * hidden. Reads show handles, by which agents compare records.
 */
function recallWritten(call: UpstreamCall, handles: Pseudonymizer): WrittenValues | undefined {
  if (operations[call.operation].effect === "read") return undefined;
  const hide = createContactHider(handles);
  const replaced = mapArguments(operations[call.operation], call.input, (value, _, schema) =>
    replaceAnnotatedValues(schema, value, handles),
  );
  return createWrittenValues(call, mapTexts(replaced, hide) as Readonly<Record<string, unknown>>, hide);
}

/** Changes the declared arguments of a call. `undefined` leaves one as it is. */
function mapArguments(
  { queryObject, body }: Operation,
  input: Readonly<Record<string, unknown>>,
  change: (value: unknown, path: string, schema: z.core.$ZodType) => unknown,
) {
  const values = Object.entries(input).map(([path, value]): [string, unknown] => {
    const schema = [queryObject.shape, body?.shape ?? {}].find((shape) => Object.hasOwn(shape, path))?.[path];
    return [path, (schema && change(value, path, schema)) ?? value];
  });
  return values.every(([path, value]) => value === input[path]) ? input : Object.fromEntries(values);
}

function pseudonymizeAnswer(operation: Operation, answer: Answer, handles: Pseudonymizer): Answer {
  const hide = createContactHider(handles);
  if (!answer.ok) return mapFailureTexts(answer, hide);
  return withData(answer, replaceAnnotatedValues(operation.data, answer.data, handles), hide);
}

/** Replaces the values of annotated fields first, so that they get the right kind of handle. */
function replaceAnnotatedValues(schema: z.core.$ZodType, data: unknown, handles: Pseudonymizer): unknown {
  return getSealing(schema)?.(data, { handles }) ?? data;
}

/** Returns a record as agents see it. */
export function protectRecord(schema: z.core.$ZodType, record: unknown, handles: Pseudonymizer): unknown {
  return mapRecordTexts(replaceAnnotatedValues(schema, record, handles), createContactHider(handles));
}

/** Removes the link to a file that shows more than agents may see, because it works for anyone. */
function withoutOpenLink(answer: Success, privacy: Privacy): Success {
  const job = answer.data as ExportJob;
  // An export of an agent has a privacy mode: `off` only if a person agreed to it.
  const isAgreed = job.privacy === "off";
  const isProtected = privacyModes.indexOf(job.privacy ?? "off") >= privacyModes.indexOf(privacy);
  if (isAgreed || isProtected || !job.downloadUrl) return answer;
  const warnings = [...(job.warnings ?? []), linkWithheld];
  return { ...answer, data: { ...job, downloadUrl: null, downloadExpiresAt: null, warnings } };
}

const linkWithheld =
  "The file shows addresses that are hidden from you, so you get no link to it. Your human gets one over REST or in the product.";

/** Changes every text of an answer. The service's own codes and messages stay unchanged. */
function mapAnswerTexts(answer: Answer, change: TextChange): Answer {
  return answer.ok ? withData(answer, answer.data, change) : mapFailureTexts(answer, change);
}

function withData(answer: Success, data: unknown, change: TextChange): Success {
  const shown = Array.isArray(data) ? data.map((row) => mapRecordTexts(row, change)) : mapRecordTexts(data, change);
  return { ...answer, data: shown };
}

function mapRecordTexts(record: unknown, change: TextChange): unknown {
  return isPlain(record) ? record : mapTexts(record, change);
}

function mapFailureTexts(failure: Failure, change: TextChange): Failure {
  const { code, details, message } = failure.problem;
  const shown = details && (mapTexts(details, change) as Readonly<Record<string, unknown>>);
  return { ...failure, problem: new Problem(code, shown, message) };
}

/** Changes every text of a dry-run result, from which the confirmation question is made. */
function mapDryRunTexts(dryRunResult: DryRunResult, change: TextChange): DryRunResult {
  return {
    ...dryRunResult,
    changes: mapTexts(dryRunResult.changes, change) as DryRunResult["changes"],
    data: mapTexts(dryRunResult.data, change),
    // Recipients of messages are named by their addresses.
    labels: new Map([...dryRunResult.labels].map(([id, label]) => [change(id), change(label)])),
  };
}

interface Sealing {
  readonly handles: Pseudonymizer;
  /** Path of the argument that is being resolved. */
  readonly path?: string;
}

type MarkTransform = (mark: FieldAnnotation, inner: Transform<Sealing> | undefined) => Transform<Sealing> | undefined;

const sealMarked: MarkTransform = ({ handle, freeForm }, inner) => {
  if (freeForm) return (value, { handles }) => hidePhonesIn(value, handles);
  return handle
    ? (value, { handles }) => (typeof value === "string" ? handles.pseudonymize(handle, value) : value)
    : inner;
};

const openMarked: MarkTransform = ({ handle, freeForm }, inner) => {
  if (freeForm) return (value, { handles, path = "" }) => resolveHandlesIn(value, handles, path);
  return handle
    ? (value, { handles, path = "" }) => (typeof value === "string" ? handles.resolve(handle, value, path) : value)
    : inner;
};

const getSealing = createSchemaCache((schema) => compileTransform(schema, { visit: sealMarked, undeclared: "keep" }));
const getOpening = createSchemaCache((schema) => compileTransform(schema, { visit: openMarked, undeclared: "keep" }));
