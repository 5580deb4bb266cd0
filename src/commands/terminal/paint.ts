import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

/**
 * Formats text in a colour if the stream is a terminal with colours and colours are not disabled (`NO_COLOR`,
 * `--no-color`).
 */
export function paint(format: Format, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(format, text, { stream, validateStream: true });
}
