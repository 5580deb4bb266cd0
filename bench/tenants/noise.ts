/** A process that sends calls of one kind on many connections, until it is stopped. Then it reports the answers. */
import { constants, setPriority } from "node:os";
import { Pool } from "undici";
import { createNoisyCall, type LoadName, type Organization } from "./calls.ts";

interface Noise {
  readonly origin: string;
  readonly load: LoadName;
  readonly noisy: Organization;
}

const connections = 128;

process.once("message", async ({ origin, load, noisy }: Noise) => {
  // Low priority, because another organisation would use another machine.
  setPriority(constants.priority.PRIORITY_LOW);
  const pool = new Pool(origin, { connections });
  const answers: Record<string, number> = {};
  let isStopped = false;
  process.once("message", () => {
    isStopped = true;
  });
  const send = async () => {
    while (!isStopped) {
      const { statusCode, body } = await pool.request(createNoisyCall(load, noisy));
      const text = await body.text();
      const outcome = text.includes('"isError":true') ? "error" : String(statusCode);
      answers[outcome] = (answers[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  await pool.close();
  process.send?.(answers);
  process.disconnect();
});
