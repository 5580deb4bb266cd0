/** Stops the built program at functions by their names, as a debugger does: the program itself knows nothing of it. */
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

/** The first line of a function's body, counted from 0. */
interface Place {
  readonly file: string;
  readonly line: number;
}

/** Returns where functions begin whose definition matches. */
function findPlaces(definition: RegExp): Place[] {
  const places = globSync(`${dist}*.js`).flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .flatMap((text, line) => (definition.test(text) ? [{ file: basename(path), line: line + 1 }] : [])),
  );
  if (places.length === 0) throw new Error(`The built program has no function ${definition}`);
  return places;
}

export interface Inspector {
  /** Lets the program run until it has entered these functions, one after the other, and stops it there. */
  stopAt(definitions: readonly RegExp[]): Promise<void>;
  close(): void;
}

/** Connects to a process that was started with `--inspect`. */
export async function connectInspector(port: number): Promise<Inspector> {
  const socket = new WebSocket(await findAddress(port));
  const answers = new Map<number, (result: { breakpointId: string }) => void>();
  let onPaused: () => void = () => undefined;
  socket.addEventListener("message", ({ data }) => {
    const { id, method, result } = JSON.parse(String(data));
    if (method === "Debugger.paused") onPaused();
    answers.get(id)?.(result);
  });
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  let lastId = 0;
  const send = (method: string, params: object = {}) =>
    new Promise<{ breakpointId: string }>((resolve) => {
      lastId += 1;
      answers.set(lastId, resolve);
      socket.send(JSON.stringify({ id: lastId, method, params }));
    });
  await send("Debugger.enable");

  async function stopOnce(definition: RegExp, isPaused: boolean): Promise<void> {
    const paused = new Promise<void>((resolve) => (onPaused = resolve));
    const breakpoints = await Promise.all(
      findPlaces(definition).map(({ file, line }) =>
        send("Debugger.setBreakpointByUrl", { urlRegex: `/dist/${file.replaceAll(".", "\\.")}$`, lineNumber: line }),
      ),
    );
    if (isPaused) await send("Debugger.resume");
    await paused;
    for (const { breakpointId } of breakpoints) await send("Debugger.removeBreakpoint", { breakpointId });
  }

  return {
    async stopAt(definitions) {
      for (const [index, definition] of definitions.entries()) await stopOnce(definition, index > 0);
    },
    close: () => socket.close(),
  };
}

async function findAddress(port: number): Promise<string> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
    const [target] = ((await answer?.json()) ?? []) as { webSocketDebuggerUrl: string }[];
    if (target) return target.webSocketDebuggerUrl;
    await delay(20);
  }
}
