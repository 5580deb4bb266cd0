import { spawn } from "node:child_process";
import { once } from "node:events";
import { onEnd } from "./program.ts";

/**
 * Injects a fault into system calls of a running process until the returned function is called.
 * @param fault - as `strace` names it, such as `error=EIO` or `signal=KILL:when=3`
 */
export async function injectFault(pid: number, calls: string, fault: string): Promise<() => Promise<void>> {
  const args = ["-f", "-p", String(pid), "-e", `trace=${calls}`, "-e", `inject=${calls}:${fault}`];
  const tracer = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
  const closed = once(tracer, "close");
  onEnd(() => tracer.kill("SIGKILL"));
  await once(tracer.stderr, "data");
  tracer.stderr.resume();
  return async () => {
    tracer.kill("SIGINT");
    await closed;
  };
}
