import { createRequire } from "node:module";
import { type DestinationStream, destination, type Level, type Logger, pino } from "pino";

export type Log = Logger;

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const satisfies readonly (
  | Level
  | "silent"
)[];
export const logFormats = ["auto", "json", "pretty"] as const;

export interface LogOptions {
  readonly level: (typeof logLevels)[number];
  /** `auto` is `pretty` on a terminal and `json` elsewhere. */
  readonly format: (typeof logFormats)[number];
  /** Where lines go instead of stderr. Never stdout: over stdio that is the protocol's. */
  readonly stream?: DestinationStream;
}

/** A logger for stderr; what looks like a token or an e-mail address is masked in all that it writes. */
export function createLogger({ level, format, stream }: LogOptions): Log {
  const pretty = format === "pretty" || (format === "auto" && process.stderr.isTTY === true);
  const output = stream ?? destination({ dest: 2, sync: true });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretPaths, censor: masked },
      hooks: { streamWrite: maskLine },
    },
    (pretty && prettyStream(output)) || output,
  );
}

const masked = "[redacted]";
const secretKeys = ["authorization", "cookie", "token", "secret", "email", "primaryEmail"];
const secretPaths = secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);

/**
 * JSON escapes are matched first, so that masking never cuts one in half; then tokens, then e-mail addresses.
 * An address starts where a run of its characters does, which keeps the search linear.
 */
const maskable =
  /\\u[0-9a-f]{4}|\\.|(?<token>[0-9a-f]{64,})|(?<=^|[^\p{L}\p{N}._%+'~-]|\\[bfnrt]|\\u[0-9a-f]{4})(?<email>[\p{L}\p{N}._%+'~-]+(?:@|%40)(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24})/giu;

function maskLine(line: string): string {
  return line.replace(maskable, (match: string, token?: string, email?: string) =>
    token === undefined && email === undefined ? match : masked,
  );
}

/** Lines for people, where the formatter is installed. */
function prettyStream(output: DestinationStream): DestinationStream | undefined {
  try {
    const format: typeof import("pino-pretty") = createRequire(import.meta.url)("pino-pretty");
    return format({ destination: output, sync: true, translateTime: "SYS:HH:MM:ss.l", singleLine: true });
  } catch {
    return undefined;
  }
}
