import { paint } from "./output.ts";

/** Shows how far long work has come. */
export interface ProgressLine {
  /** @param done - of the total, or so many where no total is known */
  to(done: number): void;
  /** Takes the line away again. */
  end(): void;
}

const barWidth = 24;
const redrawMs = 100;
const silent: ProgressLine = { to: () => undefined, end: () => undefined };

/**
 * A line on stderr that is written anew as work goes on; nothing at all where stderr is no terminal.
 * @param label - what is being done: `Making demonstration data`
 * @param total - undefined where nobody knows it
 */
export function showProgress(label: string, total?: number, stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  if (!stream.isTTY || process.env["TERM"] === "dumb") return silent;
  let drawnMs = Number.NEGATIVE_INFINITY;
  return {
    to(done) {
      const nowMs = performance.now();
      if (nowMs - drawnMs < redrawMs) return;
      drawnMs = nowMs;
      stream.write(`\r\u001b[K${formatProgress(label, done, total, stream)}`);
    },
    end() {
      if (Number.isFinite(drawnMs)) stream.write("\r\u001b[K");
    },
  };
}

function formatProgress(label: string, done: number, total: number | undefined, stream: NodeJS.WriteStream): string {
  if (total === undefined) return `${label}  ${done}`;
  const share = total > 0 ? Math.min(1, Math.max(0, done / total)) : 1;
  const percent = `${Math.floor(share * 100)} %`;
  // A line that is broken cannot be written anew. A terminal whose width nobody has set says 0.
  const columns = stream.columns || 80;
  if (columns < label.length + barWidth + "    100 %".length) return percent;
  const filled = Math.round(share * barWidth);
  const bar = `${paint("green", "━".repeat(filled), stream)}${paint("dim", "─".repeat(barWidth - filled), stream)}`;
  return `${label}  ${bar}  ${percent}`;
}
