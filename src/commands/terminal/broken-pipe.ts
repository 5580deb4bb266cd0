let endProcess: () => void = () => process.exit();

/** Runs `work` when nobody reads stdout any more, instead of ending the process. */
export function onBrokenPipe(work: () => void): void {
  endProcess = work;
}

/** Ends the process without an error when the reader of stdout has seen enough (`| head`). */
export function watchBrokenPipe(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    endProcess();
  });
}
