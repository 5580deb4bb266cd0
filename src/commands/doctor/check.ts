/** One thing that was tried. */
export interface DoctorCheck {
  readonly name: string;
  /** `skip`: it could not be tried. Only `fail` keeps the program from working. */
  readonly status: "ok" | "warn" | "fail" | "skip";
  /** What was found, in a sentence. */
  readonly found: string;
  /** What to do about it. */
  readonly fix?: string;
  /** A call was answered as agents' calls are: without one there is no saying that the program works. */
  readonly answered?: true;
}

export const createPass = (name: string, found: string): DoctorCheck => ({ name, status: "ok", found });
export const createAnsweredPass = (name: string, found: string): DoctorCheck => ({
  ...createPass(name, found),
  answered: true,
});
export const createSkip = (name: string, found: string): DoctorCheck => ({ name, status: "skip", found });
export const createWarning = (name: string, found: string, fix: string): DoctorCheck => ({
  name,
  status: "warn",
  found,
  fix,
});
export const createFailure = (name: string, found: string, fix: string): DoctorCheck => ({
  name,
  status: "fail",
  found,
  fix,
});

/** What an error says, as a sentence on one line. */
export function formatSentence(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, " ").trim();
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
