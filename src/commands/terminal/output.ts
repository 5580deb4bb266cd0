/** Options of a command, as the command line parses them. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** Returns a text option, or undefined if it is not given. */
export function getTextOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Prints a result. Nothing else is written to stdout. */
export function print(text: string): void {
  process.stdout.write(text);
}

/** Prints a result for programs, as one line of JSON. */
export function printJson(value: unknown): void {
  print(`${JSON.stringify(value)}\n`);
}

/** Prints a remark for people to stderr. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}
