import type * as z from "zod";
import type { Mark } from "../contract/definition/field-annotations.ts";
import type { Operation } from "../contract/definition/operation.ts";
import { compileTransform, type Transform } from "../contract/definition/transform.ts";
import { Problem } from "../contract/errors.ts";
import type { ExportJob } from "../contract/exports.ts";
import { operations } from "../contract/index.ts";
import { type Privacy, privacyPostures } from "../contract/privacy.ts";
import { toJsonText } from "../lib/json-cache.ts";
import { toFailure } from "../pipeline/failure.ts";
import type { Handles } from "./handles.ts";
import { contactHider, hidePhonesIn, isPlain, openHandlesIn } from "./hide-contacts.ts";
import { mapTexts, neutralise, type TextChange } from "./neutralise.ts";
import type { Answer, DryRunResult, Failure, Success, Upstream, UpstreamCall } from "./port.ts";

/**
 * An upstream as agents meet it: handles instead of what people can be reached by, both ways, and texts without
 * invisible characters. Everything that an agent reads or says passes here, whatever the upstream.
 */
export function createBlindUpstream(
  upstream: Upstream,
  privacy: Privacy,
  handlesOf: (realm: string) => Handles,
): Upstream {
  if (privacy === "api") {
    return {
      ...upstream,
      call: async (call) => presented(await upstream.call(call), neutralise),
      rehearse: async (call) => {
        const rehearsal = await upstream.rehearse(call);
        return rehearsal.ok ? hidden(rehearsal, neutralise) : rehearsal;
      },
    };
  }
  return {
    ...upstream,
    check: (call) =>
      withHandles(call, async (opened, handles) => {
        const failure = await upstream.check(opened);
        return failure && refused(failure, contactHider(handles));
      }),
    call: (call) =>
      withHandles(call, async (opened, handles) => {
        const answer = blinded(operations[call.operation], await upstream.call(opened), handles);
        return call.operation === "get_export" && answer.ok ? withoutOpenLink(answer, privacy) : answer;
      }),
    describe: async (call) => {
      const { realm } = await upstream.identify(call.token);
      const connection = await upstream.describe(call);
      const { token, business } = connection;
      const hide = contactHider(handlesOf(realm));
      return {
        ...connection,
        token: token.name === undefined ? token : { ...token, name: hide(token.name) },
        business: business?.name === undefined ? business : { ...business, name: hide(business.name) },
      };
    },
    rehearse: (call) =>
      withHandles(call, async (opened, handles) => {
        const rehearsal = await upstream.rehearse(opened);
        return rehearsal.ok ? hidden(rehearsal, contactHider(handles)) : refused(rehearsal, contactHider(handles));
      }),
  };

  async function withHandles<R>(
    call: UpstreamCall,
    work: (call: UpstreamCall, handles: Handles) => Promise<R>,
  ): Promise<R | Failure> {
    try {
      const { realm } = await upstream.identify(call.token);
      const handles = handlesOf(realm);
      const input = opened(operations[call.operation], call.input, handles);
      return await work({ ...call, input, privacy: call.confirmed?.showsHidden ? "api" : privacy }, handles);
    } catch (error) {
      return toFailure(error);
    }
  }
}

/** A call's arguments with handles opened, wherever the contract takes what they stand for. */
function opened(operation: Operation, input: Readonly<Record<string, unknown>>, handles: Handles) {
  const { queryObject, body } = operation;
  const values = Object.entries(input).map(([path, value]): [string, unknown] => {
    const schema = [queryObject.shape, body?.shape ?? {}].find((shape) => Object.hasOwn(shape, path))?.[path];
    return [path, (schema && transformOf(schema, openMarked)?.(value, { handles, path })) ?? value];
  });
  return values.every(([path, value]) => value === input[path]) ? input : Object.fromEntries(values);
}

function blinded(operation: Operation, answer: Answer, handles: Handles): Answer {
  const hide = contactHider(handles);
  if (!answer.ok) return refused(answer, hide);
  return showing(answer, sealed(operation.data, answer.data, handles), hide);
}

/** Marked values first: what has a handle already is not taken for something else. */
function sealed(schema: z.core.$ZodType, data: unknown, handles: Handles): unknown {
  return transformOf(schema, sealMarked)?.(data, { handles }) ?? data;
}

/** Returns a record as agents see it. */
export function protectRecord(schema: z.core.$ZodType, record: unknown, handles: Handles): unknown {
  return changed(sealed(schema, record, handles), contactHider(handles));
}

/** Withholds a link that opens a file which shows more of people than agents may see: it opens it to anyone. */
function withoutOpenLink(answer: Success, privacy: Privacy): Success {
  const job = answer.data as ExportJob;
  // A job of an agent names a mode: `api` only where a human agreed to it.
  const isAgreed = job.privacy === "api";
  const isProtected = privacyPostures.indexOf(job.privacy ?? "api") >= privacyPostures.indexOf(privacy);
  if (isAgreed || isProtected || !job.downloadUrl) return answer;
  const warnings = [...(job.warnings ?? []), linkWithheld];
  return { ...answer, data: { ...job, downloadUrl: null, downloadExpiresAt: null, warnings } };
}

const linkWithheld =
  "The file shows addresses that are hidden from you, so you get no link to it. Your human gets one over REST or in the product.";

/** An answer with every text of it changed; what this service wrote itself (codes, messages) is left alone. */
function presented(answer: Answer, change: TextChange): Answer {
  return answer.ok ? showing(answer, answer.data, change) : refused(answer, change);
}

function showing(answer: Success, data: unknown, change: TextChange): Success {
  const shown = Array.isArray(data) ? data.map((row) => changed(row, change)) : changed(data, change);
  return { ...answer, data: shown };
}

function changed(record: unknown, change: TextChange): unknown {
  return isPlain(toJsonText(record)) ? record : mapTexts(record, change);
}

function refused(failure: Failure, change: TextChange): Failure {
  const { code, details, message } = failure.problem;
  const shown = details && (mapTexts(details, change) as Readonly<Record<string, unknown>>);
  return { ...failure, problem: new Problem(code, shown, message) };
}

/** A rehearsal with every text of it changed: it is looked into to make a question of. */
function hidden(rehearsal: DryRunResult, change: TextChange): DryRunResult {
  return {
    ...rehearsal,
    changes: mapTexts(rehearsal.changes, change) as DryRunResult["changes"],
    data: mapTexts(rehearsal.data, change),
    // Those who are written to are named by their addresses.
    labels: new Map([...rehearsal.labels].map(([id, label]) => [change(id), change(label)])),
  };
}

interface Sealing {
  readonly handles: Handles;
  /** The argument that is being opened. */
  readonly path?: string;
}

type MarkTransform = (mark: Mark, inner: Transform<Sealing> | undefined) => Transform<Sealing> | undefined;

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

function transformOf(schema: z.core.$ZodType, mark: MarkTransform): Transform<Sealing> | undefined {
  const known = transforms.get(mark) ?? new WeakMap<z.core.$ZodType, Transform<Sealing> | null>();
  transforms.set(mark, known);
  let transform = known.get(schema);
  if (transform === undefined) {
    transform = compileTransform(schema, { mark, undeclared: "keep" }) ?? null;
    known.set(schema, transform);
  }
  return transform ?? undefined;
}
