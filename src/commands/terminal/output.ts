import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

/** Options of a command, as the command line parses them. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** A text option; undefined where it was not given. */
export function getTextOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** A result: the only thing that goes to stdout. */
export function print(text: string): void {
  process.stdout.write(text);
}

/** A result for programs: one line of JSON. */
export function printJson(value: unknown): void {
  print(`${JSON.stringify(value)}\n`);
}

/** A word beside the result, for people. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Text in a colour, where the stream is a terminal that has some and nobody asked for none (`NO_COLOR`, `--no-color`). */
export function paint(format: Format, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(format, text, { stream, validateStream: true });
}
