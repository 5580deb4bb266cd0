// Together with main.ts this runs on every Node since 14, to say which Node is needed: no newer syntax or API here.
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const oldest = { major: 22, minor: 19 };

/** Whether a Node of this version (`process.versions.node`) runs the program. */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor);
}

/** Where a checkout has the Node that its development dependencies brought along. */
export function getCheckoutNodePath(root: string, platform: string): string {
  return join(root, "node_modules", "node", "bin", platform === "win32" ? "node.exe" : "node");
}

/**
 * Runs a script again, with the arguments of this process, on the checkout's own Node, and ends as it ends.
 * Where there is none, says on stderr what is needed and ends with 1.
 */
export function relaunch(root: string, script: string): void {
  const node = getCheckoutNodePath(root, process.platform);
  if (!existsSync(node) || node === process.execPath) refuse();
  // Only here: a program that runs at once has no use for it.
  import("node:child_process").then(({ spawn }) => {
    follow(spawn(node, [...process.execArgv, script, ...process.argv.slice(2)], { stdio: "inherit" }));
  });
}

function follow(child: ChildProcess): void {
  child.on("error", refuse);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // A terminal interrupts the child too; twice would mean "at once".
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function refuse(): never {
  console.error(
    `programme-mcp needs Node ${oldest.major}.${oldest.minor} or newer; this is ${process.versions.node}. ` +
      "Install a current one (https://nodejs.org) or, in a checkout, run npm ci, which brings its own.",
  );
  process.exit(1);
}
