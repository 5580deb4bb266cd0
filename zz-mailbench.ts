import { SMTPServer } from "smtp-server";
import { createApp } from "/work/main/src/app.ts";
import { loadConfig } from "/work/main/src/config/load.ts";
import { newId } from "/work/main/src/lib/ids.ts";
import { mkdtempSync } from "node:fs";
let n = 0;
const server = new SMTPServer({ authOptional: true, disabledCommands: ["STARTTLS"], onData(s, _, done) { s.resume(); s.on("end", () => { n++; done(); }); } });
await new Promise<void>((r) => server.listen(0, "127.0.0.1", () => r()));
const port = (server.server.address() as any).port;
const dir = mkdtempSync("/tmp/mb-");
const eml = process.argv[2] === "eml";
const app = await createApp(loadConfig({ PROGRAMME_DATABASE: `${dir}/x.db`, PROGRAMME_LOG_LEVEL: "warn", ...(eml ? {} : { PROGRAMME_SMTP_URL: `smtp://127.0.0.1:${port}`, PROGRAMME_MAIL_FROM: "a@example.org" }) }));
const businessId = "biz_1"; const now = new Date().toISOString();
await app.store.insertBusiness({ businessId, name: "x", createdAt: now });
const total = 5000;
await app.store.transaction({ businessId, actorId: "t", now }, async (tx) => {
  for (let i = 0; i < total; i++) await tx.insert("emailSends", { emailSendId: newId("eml"), programId: null, submissionId: null, recipientEmail: `p${i}@example.org`, recipientKind: "applicant", template: null, subject: "s", body: "b".repeat(2000), status: "queued", bulkId: null, error: null, queuedAt: now, sentAt: null });
});
const start = performance.now(); let maxRss = 0;
app.startWorkers();
for (;;) { await new Promise((r) => setTimeout(r, 100)); maxRss = Math.max(maxRss, process.memoryUsage().rss); if ((await app.store.reader(businessId).count("emailSends", { where: { status: "sent" } })) === total) break; }
const s = (performance.now() - start) / 1000;
console.log({ eml, total, s: s.toFixed(1), perSecond: Math.round(total / s), received: n, rssMB: Math.round(maxRss / 1e6) });
await app.close(); server.close(() => process.exit(0));
