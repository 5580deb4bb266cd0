import { sign } from "@octokit/webhooks-methods";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { parseSignatures, verifySignature } from "../../src/webhooks/receive-signature.ts";
import { newSecret, signPlain, signStandard } from "./event-sender.ts";

const at = new Date("2026-11-20T09:00:00.000Z");
const secrets = fc.oneof(
  fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => `whsec_${Buffer.from(bytes).toString("base64")}`),
  fc.string({ unit: "grapheme-ascii", minLength: 16, maxLength: 64 }).map((text) => text.replaceAll(/[\s,;]/g, "x")),
);
const bodies = fc.string({ unit: "grapheme", maxLength: 300 });
/** The characters that a header can carry. */
const headerTexts = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) });

test("signatures of an independent library are accepted, under any valid secret", async () => {
  await fc.assert(
    fc.asyncProperty(bodies.filter(Boolean), secrets, secrets, async (text, secret, other) => {
      const headers = { "x-webhook-signature": await sign(secret, text) };
      const body = Buffer.from(text);
      expect(verifySignature({ headers, body }, [secret])).toEqual({ genuine: true });
      expect(verifySignature({ headers, body }, [other, secret])).toEqual({ genuine: true });
      expect(verifySignature({ headers, body }, [other]).genuine).toBe(other === secret);
      expect(verifySignature({ headers, body: Buffer.concat([body, Buffer.from(" ")]) }, [secret]).genuine).toBe(false);
    }),
  );
});

test("signatures of the Standard Webhooks library are accepted, with their timestamp", () => {
  const standard = fc
    .uint8Array({ minLength: 24, maxLength: 64 })
    .map((bytes) => Buffer.from(bytes).toString("base64"));
  fc.assert(
    fc.property(bodies, standard, standard, fc.boolean(), (text, base64, other, prefixed) => {
      const secret = prefixed ? `whsec_${base64}` : base64;
      const headers = signStandard(secret, text, at);
      const body = Buffer.from(text);
      expect(verifySignature({ headers, body }, [`whsec_${other}`, secret])).toEqual({
        genuine: true,
        attemptMs: at.getTime(),
      });
      expect(verifySignature({ headers, body }, [`whsec_${other}`]).genuine).toBe(other === base64);
      for (const name of Object.keys(headers)) {
        const without = Object.fromEntries(Object.entries(headers).filter(([given]) => given !== name));
        expect(verifySignature({ headers: without, body }, [secret]), name).toEqual({ genuine: false });
      }
      const later = { ...headers, "webhook-timestamp": String(at.getTime() / 1000 + 1) };
      expect(verifySignature({ headers: later, body }, [secret])).toEqual({ genuine: false });
      expect(verifySignature({ headers: { ...headers, "webhook-id": "msg_other" }, body }, [secret])).toEqual({
        genuine: false,
      });
    }),
  );
});

test("one valid signature among several is enough", () => {
  const [oldSecret, newer] = [newSecret(), newSecret()];
  const body = '{"a":1}';
  const ofOld = new Webhook(oldSecret).sign("msg_1", at, body);
  const ofNew = new Webhook(newer).sign("msg_1", at, body);
  const headersWith = (list: string) => ({ ...signStandard(newer, body, at, "msg_1"), "webhook-signature": list });
  for (const list of [
    `${ofOld} ${ofNew}`,
    `${ofNew} ${ofOld}`,
    `v1a,${"A".repeat(86)}== ${ofNew}`,
    `v1, v2,x ${ofNew}`,
  ]) {
    expect(verifySignature({ headers: headersWith(list), body: Buffer.from(body) }, [newer]).genuine, list).toBe(true);
  }
  for (const list of [ofOld, ofNew.replace("v1,", "v1a,"), ofNew.replace("v1,", ""), ofNew.slice(0, -1), `${ofNew}=`]) {
    expect(verifySignature({ headers: headersWith(list), body: Buffer.from(body) }, [newer]).genuine, list).toBe(false);
  }
});

test("headers of both schemes must both be valid", async () => {
  const [secret, wrong] = [newSecret(), newSecret()];
  const text = '{"a":1}';
  const body = Buffer.from(text);
  const both = { ...(await signPlain(secret, text)), ...signStandard(secret, text, at) };
  expect(verifySignature({ headers: both, body }, [secret])).toEqual({ genuine: true, attemptMs: at.getTime() });
  const plainWrong = { ...both, ...(await signPlain(wrong, text)) };
  const standardWrong = { ...both, ...signStandard(wrong, text, at) };
  for (const headers of [plainWrong, standardWrong, { ...both, "x-webhook-signature": "" }]) {
    expect(verifySignature({ headers, body }, [secret])).toEqual({ genuine: false });
  }
});

test("arbitrary headers are refused without an exception", () => {
  const names = ["x-webhook-signature", "webhook-id", "webhook-timestamp", "webhook-signature"];
  const anything = fc.dictionary(fc.constantFrom(...names), fc.oneof(headerTexts, fc.array(headerTexts)));
  const nearly = fc.record({
    "x-webhook-signature": fc.stringMatching(/^sha256=[0-9a-f]{64}$/),
    "webhook-id": fc.stringMatching(/^msg_[a-z]+$/),
    "webhook-timestamp": fc.stringMatching(/^\d{1,12}$/),
    "webhook-signature": fc.stringMatching(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=){0,3}$/),
  });
  const secret = newSecret();
  fc.assert(
    fc.property(fc.oneof(anything, nearly), fc.uint8Array(), (headers, body) => {
      expect(verifySignature({ headers, body: Buffer.from(body) }, [secret])).toEqual({ genuine: false });
    }),
    { numRuns: 1_000 },
  );
});

test("a list of signatures is parsed as Standard Webhooks defines it, up to a maximum", () => {
  const signature = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
  const junk = headerTexts.map((text) => text.replaceAll(" ", "")).filter((text) => !text.startsWith("v1,"));
  fc.assert(
    fc.property(fc.array(fc.oneof(signature, junk), { maxLength: 16 }), (entries) => {
      const list = entries.map((entry) => (typeof entry === "string" ? entry : `v1,${entry.toString("base64")}`));
      expect(parseSignatures(list.join(" "))).toEqual(entries.filter((entry) => typeof entry !== "string"));
    }),
  );
  const [one] = fc.sample(signature, 1) as [Buffer];
  expect(
    parseSignatures(
      Array(1_000)
        .fill(`v1,${one.toString("base64")}`)
        .join(" "),
    ),
  ).toHaveLength(16);
});
