import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { mountSmallDisks } from "../../../test/support/processes/small-disk.ts";
import { type FaultCase, measureFault, openSubject } from "../measure.ts";
import { onEnd, startProgram } from "../program.ts";
import { injectFault } from "../trace.ts";

const faultMs = 5_000;

function createErrorCase(name: string, calls: string): FaultCase {
  return {
    name,
    async run() {
      const subject = await openSubject();
      return measureFault(subject, async () => {
        const end = await injectFault(subject.program.pid, calls, "error=EIO");
        await delay(faultMs);
        await end();
        return undefined;
      });
    },
  };
}

const diskFull: FaultCase = {
  name: "disk-full",
  async run() {
    const subject = await openSubject();
    await subject.program.stop();
    const { installation } = subject;
    const disk = join(installation.directory, "disk");
    const { within, run, unmount } = await mountSmallDisks("16m", [disk]);
    onEnd(unmount);
    await run(`cp ${installation.directory}/programme.db* ${disk}`);
    const settings = { PROGRAMME_DATABASE: join(disk, "programme.db") };
    subject.program = await startProgram(installation, { within, settings });
    return measureFault(subject, async () => {
      await run(`dd if=/dev/zero of=${disk}/filler bs=4k || true`);
      await delay(faultMs);
      await run(`rm ${disk}/filler`);
      return undefined;
    });
  },
};

/** The process is killed while its disk refuses to confirm writes, and starts again. */
const killedAfterFsync: FaultCase = {
  name: "fsync-fails-then-killed",
  async run() {
    const subject = await openSubject();
    return measureFault(subject, async () => {
      await injectFault(subject.program.pid, "fsync,fdatasync", "error=EIO");
      await delay(faultMs);
      const { port } = subject.program;
      await subject.program.kill();
      subject.program = await startProgram(subject.installation, { port });
      return undefined;
    });
  },
};

export const diskCases: readonly FaultCase[] = [
  diskFull,
  createErrorCase("fsync-fails", "fsync,fdatasync"),
  createErrorCase("write-fails", "pwrite64"),
  killedAfterFsync,
];
