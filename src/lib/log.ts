import type { DestinationStream, Level, Logger } from "pino";
import { maskLine } from "./mask.ts";

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
  /** The destination of lines instead of stderr. Never stdout, which belongs to the protocol over stdio. */
  readonly stream?: DestinationStream;
}

/**
 * Creates a logger for stderr. It writes synchronously, so that no line is lost when the process ends. It masks
 * secrets and personal data in every line.
 */
export async function createLogger({ level, format, stream }: LogOptions): Promise<Log> {
  const { destination, pino } = await import("pino");
  const pretty = format === "pretty" || (format === "auto" && process.stderr.isTTY === true);
  const shown = pretty ? await loadPrettyPrinter() : (line: string) => line;
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: (line) => shown(maskLine(line)) },
    },
    stream ?? destination({ dest: 2, sync: true }),
  );
}

/** Loads the printer of readable lines, only when it is needed. */
async function loadPrettyPrinter(): Promise<(line: string) => string> {
  const { isColorSupported, prettyFactory } = (await import("pino-pretty")).default;
  return prettyFactory({
    colorize: isColorSupported && process.stderr.isTTY === true,
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
  });
}
