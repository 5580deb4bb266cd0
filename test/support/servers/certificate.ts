import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

interface Subject {
  readonly names: readonly string[];
  readonly addresses?: readonly (readonly [number, number, number, number])[];
  /** Days from now; negative for one that has expired. */
  readonly validDays?: number;
}

/** A self-signed certificate for these names and IPv4 addresses, with its key: both PEM. It is its own authority. */
export function selfSigned({ names, addresses = [], validDays = 30 }: Subject): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const dayMs = 86_400_000;
  const name = sequence(set(sequence(oid("55 04 03"), der(0x0c, Buffer.from(names[0] ?? "test")))));
  const alternatives = sequence(
    ...names.map((dns) => der(0x82, Buffer.from(dns))),
    ...addresses.map((address) => der(0x87, Buffer.from(address))),
  );
  const authority = sequence(der(0x01, Buffer.from([0xff])));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    sequence(time(Date.now() - 60 * dayMs), time(Date.now() + validDays * dayMs)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extension("55 1d 11", alternatives), extension("55 1d 13", authority))),
  );
  const signature = sign("sha256", toBeSigned, privateKey);
  const certificate = sequence(toBeSigned, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** One value of the Distinguished Encoding Rules: tag, length, content. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...contents: readonly Buffer[]) => der(0x30, ...contents);
const set = (...contents: readonly Buffer[]) => der(0x31, ...contents);
const oid = (hex: string) => der(0x06, Buffer.from(hex.replaceAll(" ", ""), "hex"));
const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value));
const ecdsaWithSha256 = sequence(oid("2a 86 48 ce 3d 04 03 02"));

/** UTCTime: `YYMMDDHHMMSSZ`. */
function time(atMs: number): Buffer {
  const text = new Date(atMs)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  return der(0x17, Buffer.from(text.slice(2)));
}
