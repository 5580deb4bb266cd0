/** Formats a state or a code for people: `IN_REVIEW` as `In review`. */
export function formatCode(code: string): string {
  const words = code.replaceAll(/[_.]/g, " ").toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Formats a number with at most two decimals. */
export function formatScore(score: number | null): string {
  return score === null ? "–" : String(Math.round(score * 100) / 100);
}

export function formatMinute(time: string | null | undefined): string {
  return time ? `${time.slice(0, 16).replace("T", " ")} UTC` : "";
}
