import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { freePort } from "../support/processes/free-port.ts";
import { type Block, root } from "./pages.ts";

/** The outcome of a page's commands. */
export interface Outcome {
  readonly code: number | null;
  /** The output of each block, as far as they were run. */
  readonly printed: readonly string[];
  readonly stderr: string;
}

const separator = "\u001e";

/**
 * Runs the blocks of a page one after the other in one shell, as its reader would: in a home of its own, which holds
 * what a checkout does. Servers run on in the background until the page ends. Ports that the page names are free ones.
 */
export async function runBlocks(blocks: readonly Block[]): Promise<Outcome> {
  const directory = await temporaryDirectory();
  const ports = await freePorts(blocks);
  const bin = join(directory.path, "bin");
  await mkdir(bin);
  for (const [name, text] of Object.entries(standIns)) {
    await writeFile(join(bin, name), `#!/usr/bin/env bash\n${text}`);
    await chmod(join(bin, name), 0o755);
  }
  for (const name of ["dist", "examples", "skills", "package.json"])
    await symlink(join(root, name), join(directory.path, name));
  const script = join(bin, "page.sh");
  await writeFile(
    script,
    blocks
      .map(
        ({ text }) =>
          `printf '${separator}'\n${exchange(text, ports).replaceAll("<the printed token>", "$(printed-token)")}\n`,
      )
      .join(""),
  );
  const child = spawn("bash", ["-euo", "pipefail", script], {
    cwd: directory.path,
    env: {
      PATH: [bin, dirname(process.execPath), process.env["PATH"]].join(delimiter),
      HOME: directory.path,
      NODE_COMPILE_CACHE: join(root, "node_modules/.cache/programme-mcp"),
      NODE: process.execPath,
      SERVER_PORT: String(ports.get("3000") ?? "0"),
    },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that what stays can be ended with it.
    detached: true,
  });
  onTestFinished(async () => {
    endGroup(child);
    await directory.remove();
  });
  const { code, stdout, stderr } = await readOutput(child);
  const back = new Map([...ports].map(([named, free]) => [free, named]));
  return { code, stderr, printed: exchange(stdout, back).split(separator).slice(1) };
}

async function readOutput(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk) => (stdout += chunk));
  child.stderr?.on("data", (chunk) => (stderr += chunk));
  // What stays holds nothing of the shell's open: the shell's own end is the end.
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

/** Ends what stays: it is in the shell's group. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing stayed.
  }
}

/** A free port for each that a page names, and for the one that the server takes by default. */
async function freePorts(blocks: readonly Block[]): Promise<Map<string, string>> {
  const named = blocks.flatMap(({ text }) => [...text.matchAll(portPattern)].map(([, , port = ""]) => port));
  const ports = new Map<string, string>();
  for (const port of new Set(["3000", ...named])) ports.set(port, String(await freePort()));
  return ports;
}

const portPattern = /((?:127\.0\.0\.1|localhost|\[::1\]):|--port |PORT=)(\d{4,5})\b/g;

function exchange(text: string, ports: ReadonlyMap<string, string>): string {
  return text.replace(portPattern, (all, before: string, port: string) =>
    ports.has(port) ? `${before}${ports.get(port)}` : all,
  );
}

/** Starts what does not end by itself, and waits until it says that it is there. */
const stay = `stay() {
  local output="$HOME/bin/output.$$"
  "$@" >"$output" 2>"$output.err" </dev/null &
  for _ in $(seq 600); do
    [ -s "$output" ] && { sleep 0.1; cat "$output"; exit 0; }
    kill -0 $! 2>/dev/null || break
    sleep 0.05
  done
  cat "$output.err" >&2
  exit 1
}
`;

/**
 * The commands that stand in for others. What was installed and built for the tests is not installed and built again, and the
 * program is the one of this checkout wherever it would come from.
 */
const standIns: Readonly<Record<string, string>> = {
  "programme-mcp": `${stay}
main="${join(root, "dist/main.js")}"
if [ "\${1-}" = http ] && [[ " $* " != *" --help "* ]]; then
  if [[ " $* " != *" --port "* ]]; then
    # Whoever starts a second one there has ended the first.
    if [ -f "$HOME/bin/server" ]; then
      kill "$(cat "$HOME/bin/server")"
      while kill -0 "$(cat "$HOME/bin/server")" 2>/dev/null; do sleep 0.05; done
    fi
    export PROGRAMME_PORT="$SERVER_PORT"
    # Its own id is that of the program, once it has become that.
    stay bash -c 'echo $$ >"$HOME/bin/server"; exec "$@"' - "$NODE" "$main" "$@"
  fi
  stay "$NODE" "$main" "$@"
fi
exec "$NODE" "$main" "$@"
`,
  node: `${stay}
case "\${1-}" in
  dist/main.js) shift; exec programme-mcp "$@" ;;
  examples/webhook-receiver.mjs) stay "$NODE" "$@" ;;
esac
exec "$NODE" "$@"
`,
  npx: `while [[ "\${1-}" == -* ]]; do shift; done
[[ "\${1-}" =~ ^programme-mcp(@[0-9.]+)?$ ]] || { echo "npx: $1 is not of this project" >&2; exit 127; }
shift
exec programme-mcp "$@"
`,
  "printed-token": `grep -hoE '[0-9a-f]{64}' "$HOME"/bin/output.* | head -1
`,
  npm: `case "\${1-}" in
  ci) exit 0 ;;
  start) exec programme-mcp http "\${@:2}" ;;
esac
echo "npm: $* is not run here" >&2
exit 127
`,
};
