import * as z from "zod";
import { isLoopback } from "../lib/http/loopback.ts";

/** Parses the text of a setting, and describes which texts are allowed. */
export interface ValueType<Value> {
  /** Creates the schema when a value is read: most settings are not given, and creating all would slow the start down. */
  readonly createSchema: () => z.ZodType<Value, string>;
  /** Completes "must be …". */
  readonly allowed: string;
  /** Returns what is wrong with a value, if more is known than that it is not allowed. Does not repeat the value. */
  readonly explain?: (given: string) => string | undefined;
  /** The values to choose from: one, or several for a list. */
  readonly choices?: readonly string[];
}

export function createTextType(allowed: string): ValueType<string> {
  return {
    createSchema: () => z.string(),
    allowed,
  };
}

export function createIntegerType(min: number, max: number): ValueType<number> {
  return {
    // Digits only: other texts that Number() accepts (0x10, 1e3, 5.0) are more likely mistakes.
    createSchema: () =>
      z
        .string()
        .trim()
        .regex(/^\d{1,15}$/)
        .transform(Number)
        .pipe(z.int().min(min).max(max)),
    allowed: `an integer from ${min} to ${max}`,
  };
}

export const boolean: ValueType<boolean> = {
  createSchema: () =>
    z
      .string()
      .trim()
      .pipe(z.stringbool({ truthy: ["true", "1", "yes", "on"], falsy: ["false", "0", "no", "off"] })),
  allowed: "true or false (also 1 or 0, yes or no, on or off)",
};

export function createChoiceType<const Choice extends string>(choices: readonly Choice[]): ValueType<Choice> {
  return {
    createSchema: () => z.string().trim().pipe(z.enum(choices)),
    allowed: `one of ${choices.join(", ")}`,
    choices,
  };
}

/** Some of the choices, separated by commas. */
export function createListType<Choice extends string>(
  choices: readonly Choice[],
  what: string,
): ValueType<readonly Choice[]> {
  const known = new Set<string>(choices);
  return {
    createSchema: () =>
      z
        .string()
        .transform((list) => list.split(",").map((name) => name.trim()))
        .refine((names) => names.every((name) => known.has(name)))
        .transform((names) => names as Choice[]),
    allowed: `${what} separated by commas`,
    choices,
  };
}

export function createPatternType(pattern: RegExp, allowed: string): ValueType<string> {
  return {
    createSchema: () => z.string().trim().regex(pattern),
    allowed,
  };
}

/** A path. Rejects addresses such as `postgres://…`, which would become a folder name. */
export const filePath = createPatternType(/^(?![a-z][a-z0-9+.-]+:\/\/)/i, "a file, not an address");

const webhookName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Creates a type of named lists: `name=value`, with more values after semicolons, and more names after commas. */
export function createNamedListsType(
  value: RegExp,
  maxValues: number,
  allowed: string,
): ValueType<ReadonlyMap<string, readonly string[]>> {
  const parseEntry = (text: string) => {
    const [name = "", ...rest] = text.split("=");
    const values = rest.join("=").split(";");
    return [name.trim(), values.map((each) => each.trim())] as const;
  };
  return {
    createSchema: () =>
      z
        .string()
        .transform((list) => list.split(",").map(parseEntry))
        .refine((entries) => new Set(entries.map(([name]) => name)).size === entries.length && entries.length <= 1000)
        .refine((entries) =>
          entries.every(([name, values]) => {
            const distinct = new Set(values).size === values.length && values.length <= maxValues;
            return webhookName.test(name) && distinct && values.every((each) => value.test(each));
          }),
        )
        .transform((entries) => new Map(entries)),
    allowed,
  };
}

/** Host names and addresses as in a `Host` header, without the port; IPv6 in brackets. */
export const hostNames = createLowerCaseListType(isHostName, "host names without scheme or port, separated by commas");

function isHostName(name: string): boolean {
  return URL.canParse(`http://${name}`) && new URL(`http://${name}`).hostname === name;
}

/** Origins as in an `Origin` header. */
export const origins = createLowerCaseListType(
  isOrigin,
  "origins such as `http://localhost:6274`, separated by commas",
);

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Creates the type of a list in lower case, whose entries are separated by commas. */
function createLowerCaseListType(isEntry: (text: string) => boolean, allowed: string): ValueType<readonly string[]> {
  return {
    createSchema: () =>
      z
        .string()
        .transform((list) => list.split(",").map((entry) => entry.trim().toLowerCase()))
        .pipe(z.array(z.string().refine(isEntry)).max(100)),
    allowed,
  };
}

/** An address to listen on: `127.0.0.1:9464`; IPv6 in brackets, 0 for any free port. */
export const listenAddress: ValueType<{ readonly host: string; readonly port: number }> = {
  createSchema: () =>
    z
      .string()
      .trim()
      .regex(/^(?:[\w.-]+|\[[0-9a-f:.]+\]):\d{1,5}$/i)
      .transform((text) => {
        const at = text.lastIndexOf(":");
        return { host: text.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(text.slice(at + 1)) };
      })
      .refine(({ port }) => port <= 65_535),
  allowed: "an address and a port, as in 127.0.0.1:9464",
};

/** An http(s) address without credentials, query or fragment. Trailing slashes are removed, because paths are appended. */
export const baseUrl: ValueType<string> = {
  createSchema: () =>
    z
      .string()
      .trim()
      .pipe(z.url({ protocol: /^https?$/ }))
      .transform((address) => address.replace(/\/+$/, ""))
      .refine((address) => {
        const url = new URL(address);
        return url.username === "" && url.password === "" && !/[?#]/.test(address);
      }),
  allowed: "an http or https address without credentials, query or fragment",
};

/** The base address of a service that receives a token: https, unless it is on this machine. */
export const serviceUrl: ValueType<string> = {
  createSchema: () =>
    baseUrl.createSchema().refine((address) => {
      const { protocol, hostname } = new URL(address);
      return protocol === "https:" || isLoopback(hostname);
    }),
  allowed: "an https address (http only on this machine) without credentials, query or fragment",
};

/** The address of a mail server, which may include credentials. */
export const smtpUrl: ValueType<string> = {
  createSchema: () =>
    z
      .string()
      .trim()
      .refine((address) => {
        if (!/^smtps?:\/\/[^/?#]+\/?$/.test(address) || !URL.canParse(address)) return false;
        const { hostname, username, password } = new URL(address);
        return hostname !== "" && [username, password].every(isDecodable);
      }),
  allowed: "smtp://host:port or smtps://host:port, with user:password@ before the host if it asks for them",
};

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

/** `name@example.org`, or a name and that in angle brackets. */
export const mailbox: ValueType<{ readonly name: string; readonly address: string }> = {
  createSchema: () =>
    z
      .string()
      .trim()
      .transform((text) => {
        const { name = "", address = text } = /^(?<name>[^<>]*)<(?<address>[^<>]*)>$/.exec(text)?.groups ?? {};
        return { name: name.trim().replace(/^"(.*)"$/, "$1"), address };
      })
      .pipe(
        z.object({
          name: z
            .string()
            .max(100)
            .regex(/^[^\p{Cc}\p{Zl}\p{Zp}"]*$/u),
          address: z.email().max(254),
        }),
      ),
  allowed: "an e-mail address, or a name followed by one in angle brackets",
};

/**
 * The identifier of an authorization server, which is compared exactly (RFC 8414). Requires https, except on this
 * machine.
 */
export const issuerUrl: ValueType<string> = {
  createSchema: () =>
    z
      .string()
      .trim()
      .refine((address) => serviceUrl.createSchema().safeParse(address).success),
  allowed: serviceUrl.allowed,
};
