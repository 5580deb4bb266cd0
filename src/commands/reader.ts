let leave: () => void = () => process.exit();

/** What happens once nobody reads stdout any more, instead of ending at once. */
export function whenUnread(work: () => void): void {
  leave = work;
}

/** Whoever reads a result may have seen enough (`| head`): that is no failure. */
export function watchReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    leave();
  });
}
