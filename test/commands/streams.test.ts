import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { PassThrough } from "node:stream";
import type { WriteStream } from "node:tty";
import { afterEach, describe, expect, test, vi } from "vitest";
import { showProgress } from "../../src/commands/terminal/progress.ts";
import { Interrupted, onInterrupt } from "../../src/commands/terminal/signals.ts";
import { openHome } from "../support/processes/program.ts";

const esc = "\u001b";

describe("colours", () => {
  test("are not used for files and pipes, but can be forced", async () => {
    const home = await openHome();
    expect((await home.run(["tools"])).stdout).not.toContain(esc);
    expect((await home.run(["tools"], { FORCE_COLOR: "1" })).stdout).toContain(`${esc}[1mtool`);
    expect((await home.run(["tools", "--color"])).stdout).toContain(esc);
    expect((await home.run(["http", "--help"], { FORCE_COLOR: "1" })).stdout).toContain(esc);
    expect((await home.run(["serve"], { FORCE_COLOR: "1" })).stderr).toContain(`${esc}[31merror:`);
  });

  test.each<[string[], Record<string, string>]>([
    [["--no-color"], { FORCE_COLOR: "1" }],
    [["--no-color"], {}],
    [[], { NO_COLOR: "1" }],
    [[], { FORCE_COLOR: "0" }],
  ])("are removed by %j %j", async (args, environment) => {
    const home = await openHome();
    for (const command of [["tools"], ["tools", "--help"], ["doctor"]]) {
      const { stdout, stderr } = await home.run([...command, ...args], environment);
      expect(stdout.length).toBeGreaterThan(100);
      expect(stdout + stderr).not.toContain(esc);
    }
  });
});

describe("a result", () => {
  test("may be read in part by a pipe", async () => {
    const home = await openHome();
    const { command, args, env } = home.command(["tools", "--json"]);
    const child = spawn(command, args, { env, cwd: home.path });
    // Gone before the first byte: every write fails.
    child.stdout.destroy();
    let output = "";
    child.stderr.on("data", (chunk) => (output += chunk));
    const [code] = await once(child, "close");
    expect([code, output]).toEqual([0, ""]);
  });

  test("whose pipe was closed does not end a server over HTTP", async () => {
    const home = await openHome();
    const started = home.start(["http", "--port", "0"]);
    const [, origin = ""] = await started.printed(/MCP +(http:\/\/\S+)\/mcp\n/);
    started.process.stdout?.destroy();
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    expect((await started.stop("SIGTERM")).code).toBe(0);
  });
});

describe("work that is stopped", () => {
  test.each<[NodeJS.Signals, number]>([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ])("by %s has the exit code that shells expect", async (signal, code) => {
    const home = await openHome();
    const running = home.start(["simulate", "--speed", "86400", "--database", home.database]);
    await expect
      .poll(async () => (await home.run(["token", "list", "--database", home.database])).stdout)
      .toContain("simulation");
    const ended = await running.stop(signal);
    expect([ended.code, ended.stdout]).toEqual([code, ""]);
    expect(ended.stderr).toBe("error: The season was stopped: what it has come to stays.\n");
    expect((await home.run(["token", "list", "--database", home.database])).stdout).toMatch(/simulation.*revoked/);
  });

  test("leaves no partial demonstration data, and says so", async () => {
    const home = await openHome();
    const database = ["--database", home.database];
    const running = home.start(["seed", "--demo", "--scale", "500", ...database]);
    // Its files come first: from then on it hears signals.
    const countFiles = async () => (await readdir(`${home.database}.files`, { recursive: true })).length;
    await expect.poll(() => countFiles().catch(() => 0)).toBeGreaterThan(5);
    const { code, stdout, stderr } = await running.stop("SIGINT");
    expect([code, stdout]).toEqual([130, ""]);
    expect(stderr).toBe("error: Nothing was added to the database.\n");
    expect((await home.run(["token", "list", ...database])).stdout).not.toContain("CRM");
    expect((await home.run(["seed", "--demo", ...database])).stdout).toMatch(/now holds demonstration data/);
  });

  test("listens for signals only while it runs", () => {
    const before = process.listenerCount("SIGHUP");
    {
      using interruption = onInterrupt("Half is done.");
      // Not sent: the tests' own process would end, too.
      process.rawListeners("SIGHUP").at(-1)?.("SIGHUP");
      expect(() => interruption.signal.throwIfAborted()).toThrow(Interrupted);
      expect(interruption.signal.reason).toMatchObject({ exitCode: 129, message: "Half is done." });
      // The second one finds nobody, and ends the process.
      expect(process.listenerCount("SIGHUP")).toBe(before);
    }
    expect(process.listenerCount("SIGINT")).toBe(before);
  });
});

describe("progress", () => {
  function terminal(columns = 80) {
    const lines: string[] = [];
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns }) as unknown as WriteStream;
    vi.spyOn(stream, "write").mockImplementation((text) => lines.push(String(text)) > 0);
    return { stream, lines };
  }

  afterEach(() => vi.unstubAllEnvs());

  test("is one line of a terminal, which is erased at the end", () => {
    vi.stubEnv("TERM", "xterm");
    const { stream, lines } = terminal();
    const progress = showProgress("Making data", 200, stream);
    progress.to(50);
    // Too soon to be drawn again.
    progress.to(60);
    progress.end();
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^\\r${esc}\\[KMaking data  .*━{6}.*─{18}.*  25 %$`)),
      `\r${esc}[K`,
    ]);
  });

  test("counts where the total is not known, and keeps to the width", () => {
    vi.stubEnv("TERM", "xterm");
    const wide = terminal();
    showProgress("Copying", undefined, wide.stream).to(7);
    expect(wide.lines).toEqual([`\r${esc}[KCopying  7`]);
    const narrow = terminal(20);
    showProgress("Copying", 10, narrow.stream).to(5);
    expect(narrow.lines).toEqual([`\r${esc}[K50 %`]);
    const unset = terminal(0);
    showProgress("Copying", 10, unset.stream).to(5);
    expect(unset.lines).toEqual([expect.stringMatching(/Copying {2}.*━{12}.*─{12}.* {2}50 %$/)]);
  });

  test("is not shown elsewhere", () => {
    const { stream, lines } = terminal();
    vi.stubEnv("TERM", "dumb");
    const dumb = showProgress("Copying", 10, stream);
    dumb.to(5);
    dumb.end();
    Object.assign(stream, { isTTY: false });
    vi.stubEnv("TERM", "xterm");
    const piped = showProgress("Copying", 10, stream);
    piped.to(5);
    piped.end();
    expect(lines).toEqual([]);
  });
});
