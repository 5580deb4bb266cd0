import { openStore } from "../../src/store/open.ts";

/** Another process on the same database: `process.ts <database> <rounds> <programId> <nowMs>`. Prints what it was granted. */
const [database = "", rounds = "", programId = "", nowMs = ""] = process.argv.slice(2);
const store = await openStore({ database });
let granted = 0;
for (let round = 0; round < Number(rounds); round++) {
  await store.transaction(
    { businessId: "biz_one", actorId: "usr_other", now: new Date().toISOString() },
    async (transaction) => {
      const program = await transaction.get("programs", programId);
      if (!program) throw new Error("No programme to count in");
      await new Promise((resolve) => setTimeout(resolve, 1));
      await transaction.update("programs", program, { year: program.year + 1 });
    },
  );
  const request = {
    tokenId: "tok_1",
    limit: 50,
    windowMs: 60_000,
    chunk: 3,
    leaseMs: 5_000,
    nowMs: Number(nowMs),
    settle: [],
  };
  granted += (await store.leasePermits(request)).lease?.granted ?? 0;
}
await store.close();
process.stdout.write(String(granted));
