import { inflateRawSync } from "node:zlib";
import { describe, expect, onTestFinished } from "vitest";
import { maxApprovalStreams, maxApprovalStreamsOfPerson } from "../../src/transport/console/approval-stream.ts";
import { BrowserSession, openAs } from "../identity/browser-session.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestServer, test } from "../support/servers/test-server.ts";

const hostile = '=HYPERLINK("https://collector.example.net") <script>alert(1)</script>';

/** A programme with a submission under review, its review, and one that waits to be screened. */
async function seedProgram({ seed }: TestServer) {
  const program = await seed.program({ name: "Roofs <b>2026</b>", lifecycleStatus: "underway" });
  const { programId } = program;
  const track = await seed.track({ programId, name: "Homes" });
  const round = await seed.round({ programId, trackId: track.trackId, name: "First reading" });
  const submission = await seed.submission({
    trackId: track.trackId,
    currentRoundId: round.roundId,
    state: "IN_REVIEW",
    title: hostile,
  });
  const unscreened = await seed.submission({ trackId: track.trackId, state: "SUBMITTED", title: "A green roof" });
  const reviewer = await seed.reviewer({ programIds: [programId], firstName: "Rita", lastName: "Reader" });
  const { assignmentId } = await seed.assignment({
    submissionId: submission.submissionId,
    programId,
    trackId: track.trackId,
    roundId: round.roundId,
    reviewerId: reviewer.reviewerId,
  });
  const { submissionId } = submission;
  const { roundId, rubricId } = round;
  await seed.review({ assignmentId, submissionId, programId, roundId, reviewerId: reviewer.reviewerId, rubricId });
  return { programId, submissionId, unscreened, round, base: `/programmes/${programId}` };
}

function formatCookies({ cookies }: BrowserSession): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

/** Fetches a file with a browser's cookies. */
async function download(browser: BrowserSession, path: string) {
  const answer = await fetch(`${browser.origin}${path}`, { headers: { cookie: formatCookies(browser) } });
  return { headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

/** Opens the stream of approvals. `readText` returns what comes next, or undefined at its end. */
async function openStream(browser: BrowserSession) {
  const headers = { cookie: formatCookies(browser) };
  const { status, body } = await fetch(`${browser.origin}/live/approvals`, { headers });
  const reader = body?.getReader();
  return {
    status,
    async readText() {
      const { value } = (await reader?.read()) ?? {};
      return value && Buffer.from(value).toString();
    },
  };
}

/** Returns the text of a file in a ZIP archive. */
function readZipped(archive: Buffer, name: string): string {
  const directory = archive.indexOf("PK\u0001\u0002");
  for (let at = directory; archive.readUInt32LE(at) === 0x02014b50; ) {
    const nameBytes = archive.readUInt16LE(at + 28);
    if (archive.toString("utf8", at + 46, at + 46 + nameBytes) === name) {
      const local = archive.readUInt32LE(at + 42);
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const bytes = archive.subarray(start, start + archive.readUInt32LE(at + 20));
      return archive.readUInt16LE(at + 10) === 0 ? bytes.toString() : inflateRawSync(bytes).toString();
    }
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`${name} is not in the archive`);
}

describe("the console", () => {
  test("shows records to people who are signed in alone", async ({ server }) => {
    const { base, submissionId } = await seedProgram(server);
    const visitor = new BrowserSession(server);
    expect((await visitor.open("/")).text).toContain("Connect an AI client");
    expect((await visitor.open("/")).text).not.toContain("What needs doing");
    for (const path of ["/programmes", base, `${base}/submissions?format=csv`, `/submissions/${submissionId}`]) {
      const answer = await visitor.open(path);
      expect([answer.status, answer.text]).toEqual([303, ""]);
      expect(answer.headers.get("location")).toBe(`/sign-in?${new URLSearchParams({ next: path })}`);
    }
    expect((await visitor.open("/live/approvals")).status).toBe(401);
  });

  test("shows a viewer what needs doing, as the workflow counts it, and what agents changed", async ({ server }) => {
    const { programId, unscreened } = await seedProgram(server);
    const agent = await server.as("REST");
    const { submissionId, version } = unscreened;
    const viewer = await openAs(server, { role: "viewer" });
    const before = await viewer.open("/");
    expect(before.text).toMatch(
      new RegExp(`/programmes/${programId}#unscreened">Submissions to screen</a>:\\s+<strong>1<`),
    );
    expect(before.text).toContain("Nothing waits for approval.");
    expect(before.text).toContain("No agent has changed anything lately.");
    await agent.screen_submission({ submissionId, version, eligible: true });
    const after = await viewer.open("/");
    expect(after.text).not.toContain("Submissions to screen");
    expect(after.text).toContain("Submission screened (1)");
    expect(after.headers.get("content-security-policy")).toContain("default-src 'none'");
    await server.app.pipeline.flush();
    const entries = (
      await server.app.store.reader(server.businessId).pageAudit({ action: "program.open_work_listed" }, { limit: 10 })
    ).rows;
    expect(entries.map(({ actorType }) => actorType)).toEqual(["user", "user"]);
  });

  test("leads from the programmes to a submission, and escapes what people wrote", async ({ server }) => {
    const { base, submissionId, round } = await seedProgram(server);
    const staff = await openAs(server, { role: "staff" });
    const pages: Record<string, string> = {};
    for (const path of [
      "/programmes",
      base,
      `${base}/submissions`,
      `${base}/reviewers`,
      `${base}/scores`,
      `/submissions/${submissionId}`,
    ]) {
      const { status, text } = await staff.open(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toContain("<script>alert");
      expect(text).not.toContain("<b>2026");
      pages[path] = text;
    }
    expect(pages["/programmes"]).toContain(`<a href="${base}">Roofs &lt;b&gt;2026&lt;/b&gt;</a>`);
    expect(pages[base]).toContain(round.name);
    expect(pages[`${base}/submissions`]).toContain(`<a href="/submissions/${submissionId}">=HYPERLINK`);
    expect(pages[`${base}/reviewers`]).toContain("Rita Reader");
    expect(pages[`${base}/scores`]).toMatch(/<svg[^>]+role="img"[^>]+aria-label="Mean scores/);
    const { [`/submissions/${submissionId}`]: own } = pages;
    for (const part of ["Ada Marsh", "Rita Reader", "Answers", "History"]) expect(own).toContain(part);
  });

  test("filters, searches and pages submissions", async ({ server }) => {
    const { base, unscreened } = await seedProgram(server);
    const { trackId } = unscreened;
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => server.seed.submission({ trackId, title: `Roof ${index}` })),
    );
    const staff = await openAs(server, { role: "staff" });
    const count = (text: string) => text.match(/<th role="rowheader"/g)?.length ?? 0;
    const first = await staff.open(`${base}/submissions`);
    expect(count(first.text)).toBe(50);
    const [, next = ""] = /href="([^"]+cursor=[^"]+)">Older entries/.exec(first.text) ?? [];
    const second = await staff.open(next.replaceAll("&amp;", "&"));
    expect([count(second.text), second.text.includes("Older entries")]).toEqual([2, false]);
    expect(count((await staff.open(`${base}/submissions?state=SUBMITTED`)).text)).toBe(1);
    expect((await staff.open(`${base}/submissions?words=green`)).text).toContain("A green roof");
    expect((await staff.open(`${base}/submissions?words=purple`)).text).toContain("No submission has all these words.");
    for (const [query, mistake] of [
      ["state=NONSENSE", '<a href="#state">'],
      ["words=!!", '<a href="#words">'],
      ["cursor=nonsense", "The cursor does not belong"],
    ] as const) {
      const { text, status } = await staff.open(`${base}/submissions?${query}`);
      expect([query, status, count(text)]).toEqual([query, 400, 0]);
      expect(text).toContain('role="alert"');
      expect(text).toContain(mistake);
      const [, input] = /href="#(.+)"/.exec(mistake) ?? [];
      if (input)
        expect(text).toMatch(new RegExp(`id="${input}"[^>]* aria-describedby="${input}-mistake" aria-invalid`));
    }
  });

  test("hides contact details from people without the right to sensitive data", async ({ server }) => {
    const { submissionId } = await seedProgram(server);
    const viewer = await openAs(server, { role: "viewer" });
    const trusted = await openAs(server, { email: "tess@example.org", role: "viewer", seesSensitive: true });
    const path = `/submissions/${submissionId}`;
    expect((await viewer.open(path)).text).not.toContain("ada@example.org");
    expect((await trusted.open(path)).text).toContain("ada@example.org");
  });

  test("shows nothing of another organisation", async ({ server }) => {
    const { base, submissionId } = await seedProgram(server);
    const stranger = await openAs(await server.other(), { email: "sam@example.org" });
    expect((await stranger.open("/programmes")).text).toContain("There are no programmes yet.");
    for (const path of [base, `${base}/submissions?format=csv`, `${base}/scores`, `/submissions/${submissionId}`]) {
      const { status, text } = await stranger.open(path);
      expect([status, text.includes("roof")]).toEqual([404, false]);
    }
  });

  test("writes tables as files in which no text runs as a formula", async ({ server }) => {
    const { base, round } = await seedProgram(server);
    const staff = await openAs(server, { role: "staff" });
    const csv = await download(staff, `${base}/submissions?format=csv`);
    expect(csv.headers.get("content-disposition")).toBe('attachment; filename="submissions.csv"');
    const lines = csv.bytes.toString().split("\n");
    expect(lines[0]).toBe("\ufeffTitle,Applicant,State,Track,Round,Submitted");
    expect(lines.find((line) => line.includes("HYPERLINK"))).toMatch(/^"'=HYPERLINK/);
    expect(lines.some((line) => line.startsWith("A green roof,Ada Marsh,Submitted,Homes,"))).toBe(true);
    const xlsx = await download(staff, `${base}/submissions?format=xlsx`);
    expect(xlsx.headers.get("content-type")).toContain("spreadsheetml");
    const sheet = readZipped(xlsx.bytes, "xl/worksheets/sheet1.xml");
    expect(sheet).not.toContain("<f>");
    expect(sheet + readZipped(xlsx.bytes, "xl/sharedStrings.xml")).toContain("=HYPERLINK");
    for (const path of [base, `${base}/reviewers`, `${base}/scores?roundId=${round.roundId}`]) {
      const joint = path.includes("?") ? "&" : "?";
      const file = (await download(staff, `${path}${joint}format=csv`)).bytes.toString();
      expect(file.trim().split("\n").length).toBe(2);
    }
  });

  test("streams waiting approvals until the person signs out or the server closes", async () => {
    const { server, close } = await openTestServer();
    const [leaving, staying] = await Promise.all([
      openAs(server, { role: "staff" }),
      openAs(server, { email: "sam@example.org", role: "staff" }),
    ]);
    const streams = await Promise.all([leaving, staying].map(openStream));
    for (const stream of streams) expect(await stream.readText()).toContain("Nothing waits for approval.");
    await leaving.submit("/sign-out");
    while ((await streams[0]?.readText()) !== undefined);
    await close();
    while ((await streams[1]?.readText()) !== undefined);
  });

  test("keeps a bounded number of streams open", async ({ server }) => {
    const people = [];
    for (let n = 0; n <= maxApprovalStreams / maxApprovalStreamsOfPerson; n++)
      people.push(await openAs(server, { role: "staff", email: `person${n}@example.org` }));
    const last = people.pop() as BrowserSession;
    const openings = people.flatMap((person) =>
      Array.from({ length: maxApprovalStreamsOfPerson }, () => openStream(person)),
    );
    const streams = await Promise.all(openings);
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await openStream(last)).status).toBe(503);
  });

  test("has no records with a remote service, and says so", async ({ server }) => {
    const app = await openRemote(server.origin, {}, { clock: server.clock });
    onTestFinished(() => app.close());
    await app.store.insertBusiness({ businessId: "biz_front", name: "Front", createdAt: "2026-11-20T09:00:00.000Z" });
    const { origin } = await app.listen();
    const staff = await openAs({ ...server, app, origin, businessId: "biz_front" }, { role: "staff" });
    for (const path of ["/", "/programmes", "/programmes/new", "/programmes/prg_1"]) {
      const { status, text } = await staff.open(path);
      expect([path, status, /the records of another service[^<]*to set them up/.test(text)]).toEqual([path, 200, true]);
    }
  });
});
