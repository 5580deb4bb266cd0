import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";

const unshare = ["--user", "--map-root-user", "--mount"];

/** True if this machine lets anybody mount something where only their own processes see it. */
export const hasSmallDisks = canMount();

function canMount(): boolean {
  try {
    execFileSync("unshare", [...unshare, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Disks of their own that can be filled, which only processes within see. */
export interface SmallDisks {
  /** The beginning of the command of a process within. */
  readonly within: readonly string[];
  /** Runs a shell command within; gives what it prints. */
  run(command: string): Promise<string>;
  unmount(): void;
}

/** Mounts a disk of that size at each of these directories. */
export async function mountSmallDisks(size: string, paths: readonly string[]): Promise<SmallDisks> {
  const mounts = paths.map((path) => `mkdir -p '${path}' && mount -t tmpfs -o size=${size},mode=700 tmpfs '${path}'`);
  const holder = spawn("unshare", [...unshare, "sh", "-c", `${mounts.join(" && ")} && echo mounted && exec cat`]);
  await once(holder.stdout, "data");
  const within = ["nsenter", `--target=${holder.pid}`, "--user", "--mount", "--preserve-credentials"];
  return {
    within,
    async run(command) {
      const [program = "", ...args] = [...within, "sh", "-c", command];
      return (await promisify(execFile)(program, args)).stdout;
    },
    unmount: () => void holder.kill("SIGKILL"),
  };
}
