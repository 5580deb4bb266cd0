/** A mistake in the arguments or settings. The command line prints its message as one line and exits with `exitCode`. */
export class UsageError extends Error {
  readonly exitCode = 2;

  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}
