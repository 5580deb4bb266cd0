/** The result of one check. */
export interface DoctorCheck {
  readonly name: string;
  /** `skip`: the check could not run. Only `fail` keeps the program from working. */
  readonly status: "ok" | "warn" | "fail" | "skip";
  /** The finding, in a sentence. */
  readonly found: string;
  /** The remedy. */
  readonly fix?: string;
  /** A call was answered as agents' calls are. Without one, it is not known whether the program works. */
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

/** Returns an error's message as a sentence on one line. */
export function formatSentence(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).replace(/\s*\n\s*/g, " ").trim();
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
