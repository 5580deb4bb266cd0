import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { getCheckoutNodePath, isSupported } from "../../src/lib/node/node-relaunch.ts";

const root = join(import.meta.dirname, "../..");

describe("the Node that is needed", () => {
  test.each(["22.19.0", "22.20.1", "23.0.0", "24.21.0", "100.0.0"])("%s runs the program", (version) => {
    expect(isSupported(version)).toBe(true);
  });

  test.each(["22.18.9", "22.2.0", "20.20.2", "14.21.3", "4.9.1"])("%s is too old", (version) => {
    expect(isSupported(version)).toBe(false);
  });

  test("is the one that the package declares", () => {
    const [major = 0, minor = 0] = manifest.engines.node.replace(">=", "").split(".").map(Number);
    expect(isSupported(`${major}.${minor}.0`)).toBe(true);
    expect(isSupported(`${major}.${minor - 1}.9`)).toBe(false);
  });

  test("is installed with a checkout", () => {
    expect(existsSync(getCheckoutNodePath(root, process.platform))).toBe(true);
    expect(getCheckoutNodePath("root", "win32")).toBe(join("root", "node_modules", "node", "bin", "node.exe"));
  });
});

/** Returns the path of a Node on this machine that is too old for the program. */
function oldNode(): string | undefined {
  const candidates = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node"));
  return candidates.find((path) => {
    try {
      return !isSupported(execFileSync(path, ["-p", "process.versions.node"], { encoding: "utf8" }).trim());
    } catch {
      return false;
    }
  });
}

/** A stand-in for our program behind the launcher. It prints its Node version and follows its arguments. */
const program = `
export async function runCli(argv) {
  await import("node:sqlite");
  process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
  process.emitWarning("another warning");
  process.on("SIGTERM", () => { console.log("asked to stop"); process.exit(7); });
  console.log(JSON.stringify({ version: process.versions.node, argv: argv.slice(2) }));
  if (argv[2] === "echo") process.stdin.pipe(process.stdout);
  if (argv[2] === "wait") setInterval(() => {}, 1000);
  if (argv[2] === "fail") process.exitCode = 3;
  if (argv[2] === "die") process.kill(process.pid, "SIGKILL");
}`;

describe("the launcher", () => {
  let checkout: string;

  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), "programme-launcher-"));
    cpSync(join(root, "dist/main.js"), join(checkout, "dist/main.js"));
    writeFileSync(join(checkout, "package.json"), '{ "type": "module" }');
    writeFileSync(join(checkout, "dist/cli.js"), program);
  });

  afterEach(() => rmSync(checkout, { recursive: true, force: true }));

  function start(node: string, ...args: string[]) {
    const child = spawn(node, [join(checkout, "dist/main.js"), ...args], {
      env: { ...process.env, XDG_CACHE_HOME: join(checkout, "cache"), NODE_COMPILE_CACHE: "" },
    });
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    const outcome = ended.then(([stdout, stderr, [code, signal]]) => ({ stdout, stderr, code, signal }));
    return { child, outcome };
  }

  function bringNode(): void {
    symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"), "junction");
  }

  test("runs the program on a Node that is new enough, without Node's SQLite warning", async () => {
    const { stdout, stderr, code } = await start(process.execPath, "fail", "--flag").outcome;
    expect(JSON.parse(stdout)).toEqual({ version: process.versions.node, argv: ["fail", "--flag"] });
    expect(code).toBe(3);
    expect(stderr).toContain("another warning");
    expect(stderr).not.toContain("SQLite");
  });

  test.runIf(process.platform === "linux")("enables Node's compile cache in a folder of the user", async () => {
    const { code } = await start(process.execPath, "done").outcome;
    expect(code).toBe(0);
    const kept = readdirSync(join(checkout, "cache/programme-mcp/compiled"), { recursive: true });
    expect(kept.length).toBeGreaterThan(1);
  });

  describe.skipIf(!oldNode())("on a Node that is too old", () => {
    const old = oldNode() ?? "";

    test("prints one line on stderr, and exits with 1", async () => {
      const { stdout, stderr, code } = await start(old, "fail").outcome;
      expect(stderr).toMatch(/^programme-mcp needs Node 22\.19 or newer; this is \d+\.\d+\.\d+\. [^\n]+\n$/);
      expect(stdout).toBe("");
      expect(code).toBe(1);
    });

    test("runs the checkout's own Node, with arguments and exit code", async () => {
      bringNode();
      const { stdout, code } = await start(old, "fail", "--flag").outcome;
      const { version, argv } = JSON.parse(stdout);
      expect(isSupported(version)).toBe(true);
      expect(argv).toEqual(["fail", "--flag"]);
      expect(code).toBe(3);
    });

    test("passes stdin and stdout through", async () => {
      bringNode();
      const { child, outcome } = start(old, "echo");
      child.stdin.end("a message\n");
      expect((await outcome).stdout).toMatch(/\na message\n$/);
    });

    test("forwards a signal once, and waits for the exit", async () => {
      bringNode();
      const { child, outcome } = start(old, "wait");
      await once(child.stdout, "data");
      child.kill("SIGTERM");
      const { stdout, code } = await outcome;
      expect(stdout.match(/asked to stop/g)).toHaveLength(1);
      expect(code).toBe(7);
    });

    test.skipIf(process.platform === "win32")("exits by the signal that ended the program", async () => {
      bringNode();
      expect(await start(old, "die").outcome).toMatchObject({ code: null, signal: "SIGKILL" });
    });
  });
});
