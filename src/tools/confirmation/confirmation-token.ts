import { randomBytes } from "node:crypto";
import { problem } from "../../contract/errors.ts";
import { toCanonicalJson } from "../../lib/canonical-json.ts";
import { computeHmac, equalsInConstantTime } from "../../lib/crypto/crypto.ts";
import type { ConsumedNonce, Failure } from "../../upstream/port.ts";
import type { ConfirmationPolicy } from "../session.ts";

export const ttlMs = 5 * 60_000;

/** The digests of the dry runs that a human agrees to, by the position of their calls: 0 for a call on its own. */
export type Digests = ReadonlyMap<number, string>;

/** A question that was answered with yes. */
export interface Agreement {
  readonly digests: Digests;
  readonly nonce: string;
  readonly expiresAt: string;
  /** Set only by a human, in a form or on a page. */
  readonly showsHidden?: boolean;
  /** The calls of a batch that a human left out, for example `3, 7-9`. */
  readonly except?: string;
  /** The account of the person who approved on a page. */
  readonly approvedBy?: string | undefined;
}

/** The call for which a confirmation is valid: exactly this one of this caller. */
export interface ConfirmedCall {
  readonly tool: string;
  readonly args: unknown;
  /** The caller rather than its token, which may be renewed while its human decides. */
  readonly caller: string;
  /** The data that the caller can reach, where its confirmations are consumed. */
  readonly realm: string;
  /** The organisation whose people may approve the call. */
  readonly tenant: string;
  readonly tokenId?: string | undefined;
}

/** Signs a payload for one call of one caller. */
type Signer = (payload: string) => string;

export function createSigner({ key }: ConfirmationPolicy, { tool, args, caller }: ConfirmedCall): Signer {
  return (payload) => computeHmac(key, toCanonicalJson([payload, tool, args, caller])).toString("base64url");
}

/**
 * Creates the token of a new question. The text contains what is confirmed; the signature covers what it is bound to.
 * It has no personal data: the digests are masked, because they could be compared with the digest of a guess.
 * @param approval - the approval that has to be given before the token is valid
 */
export function createConfirmationToken(
  { now }: ConfirmationPolicy,
  signer: Signer,
  digests: Digests,
  approval?: { readonly approvalId: string; readonly expiresAt: string },
) {
  const expiresAtMs = approval ? Date.parse(approval.expiresAt) : now().getTime() + ttlMs;
  const nonce = approval?.approvalId ?? randomBytes(16).toString("base64url");
  const entries = [...digests].map(([position, digest]) =>
    Buffer.concat([Buffer.of(position), maskDigest(signer, nonce, position, Buffer.from(digest, "hex"))]),
  );
  const payload = [nonce, expiresAtMs, Buffer.concat(entries).toString("base64url")].join(".");
  return { token: `${payload}.${signer(payload)}`, expiresAt: new Date(expiresAtMs).toISOString() };
}

/** Verifies a token: it is valid only for the same call and until it expires. */
export function verifyConfirmationToken(
  { now }: ConfirmationPolicy,
  signer: Signer,
  token: unknown,
): Agreement | Failure {
  const [nonce = "", expiresAtMs = "", masked = "", signature = ""] = typeof token === "string" ? token.split(".") : [];
  const isGenuine = equalsInConstantTime(signature, signer([nonce, expiresAtMs, masked].join(".")));
  if (!isGenuine || Number(expiresAtMs) <= now().getTime())
    return { ok: false, problem: problem("confirmation_invalid") };
  const digests = readDigests(signer, nonce, Buffer.from(masked, "base64url"));
  return { nonce, expiresAt: new Date(Number(expiresAtMs)).toISOString(), digests };
}

/** Returns the part of an agreement that is for the call at a position. Each part can be used once. */
export function selectConfirmation(agreement: Agreement, position: number): ConsumedNonce | undefined {
  const digest = agreement.digests.get(position);
  if (digest === undefined) return undefined;
  const { nonce, expiresAt, showsHidden, approvedBy } = agreement;
  return {
    digest,
    nonce: position === 0 ? nonce : `${nonce}.${position}`,
    expiresAt,
    ...(showsHidden ? { showsHidden } : {}),
    ...(approvedBy === undefined ? {} : { approvedBy }),
  };
}

/** Bytes of a digest, as `computeChangeDigest` makes them. */
const digestBytes = 16;

function readDigests(signer: Signer, nonce: string, entries: Buffer): Map<number, string> {
  const digests = new Map<number, string>();
  for (let at = 0; at < entries.length; at += digestBytes + 1) {
    const position = entries.readUInt8(at);
    const masked = entries.subarray(at + 1, at + 1 + digestBytes);
    digests.set(position, maskDigest(signer, nonce, position, masked).toString("hex"));
  }
  return digests;
}

/** Masks a digest with a one-time pad. Applied twice, it restores the digest. */
function maskDigest(signer: Signer, nonce: string, position: number, digest: Buffer): Buffer {
  const pad = Buffer.from(signer(`digest ${nonce} ${position}`), "base64url");
  return Buffer.from(digest.map((byte, at) => byte ^ (pad[at] ?? 0)));
}
