// This file and main.ts must run on every Node since 14, to report which Node is needed. Use no newer syntax or API
// here.
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";

const oldest = { major: 22, minor: 19 };

/** Returns whether a Node version (`process.versions.node`) can run the program. */
export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor);
}

/** Returns the path of the Node that a checkout's development dependencies contain. */
export function getCheckoutNodePath(root: string, platform: string): string {
  return join(root, "node_modules", "node", "bin", platform === "win32" ? "node.exe" : "node");
}

/**
 * Runs a script again on the checkout's own Node with the arguments of this process, and exits with its code. Without
 * such a Node, prints the needed version to stderr and exits with 1.
 */
export function relaunch(root: string, script: string): void {
  const node = getCheckoutNodePath(root, process.platform);
  // Loaded only here, because a program that need not relaunch does not use them.
  Promise.all([import("node:fs"), import("node:child_process")]).then(([{ existsSync }, { spawn }]) => {
    if (!existsSync(node) || node === process.execPath) refuse();
    follow(spawn(node, [...process.execArgv, script, ...process.argv.slice(2)], { stdio: "inherit" }));
  });
}

function follow(child: ChildProcess): void {
  child.on("error", refuse);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // A terminal sends SIGINT to the child too. A second one would mean "at once".
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
