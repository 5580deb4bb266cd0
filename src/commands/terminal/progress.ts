import { paint } from "./paint.ts";

/** The progress of long work on the terminal. */
export interface ProgressLine {
  /** @param done - the completed part of the total, or a count if the total is unknown */
  to(done: number): void;
  /** Removes the line. */
  end(): void;
}

const barWidth = 24;
const redrawMs = 100;
const silent: ProgressLine = { to: () => undefined, end: () => undefined };

/**
 * Shows a line on stderr that is updated during the work. Shows nothing if stderr is not a terminal.
 * @param label - the work: `Making demonstration data`
 * @param total - undefined if it is unknown
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
  // A wrapped line could not be updated. A terminal of unknown width reports 0.
  const columns = stream.columns || 80;
  if (columns < label.length + barWidth + "    100 %".length) return percent;
  const filled = Math.round(share * barWidth);
  const bar = `${paint("green", "━".repeat(filled), stream)}${paint("dim", "─".repeat(barWidth - filled), stream)}`;
  return `${label}  ${bar}  ${percent}`;
}
