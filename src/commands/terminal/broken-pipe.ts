let endProcess: () => void = () => process.exit();

/** What happens once nobody reads stdout any more, instead of ending at once. */
export function onBrokenPipe(work: () => void): void {
  endProcess = work;
}

/** Whoever reads a result may have seen enough (`| head`): that is no failure. */
export function watchBrokenPipe(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    endProcess();
  });
}
