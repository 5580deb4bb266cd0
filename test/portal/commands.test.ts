import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openMailSetup } from "../mail/mail-server.ts";
import { fieldIds } from "../support/data/seed-factory.ts";
import { type Home, openHome } from "../support/processes/program.ts";

/** An organisation in the database of a home, made and left by this process. */
async function furnish(home: Home) {
  const { server, close } = await openMailSetup({ PROGRAMME_DATABASE: home.database }, {}, false);
  const { programId } = await server.seed.program({ feeRequired: true, currency: "EUR" });
  const track = await server.seed.track({
    programId,
    feeAmountMinor: 2500,
    intakeCloseDate: "2999-12-31T00:00:00.000Z",
  });
  const round = await server.seed.round({ programId, trackId: track.trackId });
  const { reviewerId } = await server.seed.reviewer();
  const bounced = await server.seed.emailSend({ status: "bounced" });
  await close();
  return { businessId: server.businessId, track, round, reviewerId, emailSendId: bounced.emailSendId };
}

async function assign(home: Home, place: Awaited<ReturnType<typeof furnish>>, submissionId: string) {
  const { server, close } = await openMailSetup({ PROGRAMME_DATABASE: home.database }, {}, false);
  const { programId, trackId, roundId } = place.round;
  const ids = { programId, trackId, roundId, submissionId, reviewerId: place.reviewerId };
  const { assignmentId } = await server.seed.assignment(ids);
  await close();
  return assignmentId;
}

test("a submission goes through all its states by commands, each of which prints its record", async () => {
  const home = await openHome();
  const place = await furnish(home);
  const { trackId, schemaId } = place.track;
  const server = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(["portal", ...args, "--json", "--database", home.database]);
    expect([args[0], code, stderr]).toEqual([args[0], 0, ""]);
    return JSON.parse(stdout);
  };
  const { applicantId } = await server(
    "register",
    "--track-id",
    trackId,
    "--email",
    "noor@example.org",
    "--name",
    "Noor",
  );
  const fields = join(home.path, "fields.json");
  await writeFile(fields, JSON.stringify({ [fieldIds.title]: "Rain harvest" }));
  const draft = await server("draft", "--track-id", trackId, "--applicant-id", applicantId, "--fields", `@${fields}`);
  expect(draft).toMatchObject({ state: "DRAFT", title: "Rain harvest", paymentStatus: "pending" });
  const { submissionId } = draft;
  const plan = join(home.path, "Plan für den Bau.pdf");
  await writeFile(plan, "%PDF-1.4 plan");
  const file = await server(
    "attach-file",
    "--submission-id",
    submissionId,
    "--field-id",
    fieldIds.annex,
    "--file",
    plan,
  );
  expect(file).toMatchObject({
    ...{ fileName: "Plan für den Bau.pdf", contentType: "application/pdf", sizeBytes: 13, scanStatus: "clean" },
    sha256: createHash("sha256").update("%PDF-1.4 plan").digest("hex"),
  });
  const supplement = await server(
    "request-supplement",
    "--submission-id",
    submissionId,
    "--schema-id",
    schemaId,
    "--title",
    "Letter",
    "--required",
    "false",
  );
  expect(supplement).toMatchObject({ required: false, status: "not_started" });
  const values = JSON.stringify({ [fieldIds.title]: "We support it" });
  const supplementResponseId = supplement.supplementResponseId;
  const answered = await server(
    "submit-supplement",
    "--supplement-response-id",
    supplementResponseId,
    "--fields",
    values,
  );
  expect(answered).toMatchObject({ status: "submitted" });
  expect(await server("payment", "--submission-id", submissionId, "--outcome", "offline")).toMatchObject({
    status: "succeeded",
    method: "offline",
  });
  const assignmentId = await assign(home, place, submissionId);
  const of = ["--assignment-id", assignmentId];
  expect(await server("respond", ...of, "--response", "accept")).toMatchObject({ status: "accepted" });
  const attested = await server("conflict", ...of, "--has-conflict", "false", "--statement", "None");
  expect(attested.conflictAttestation).toMatchObject({ hasConflict: false });
  const scores = JSON.stringify(["crt_a", "crt_b"].map((criterionId) => ({ criterionId, value: 6 })));
  const review = await server("review", ...of, "--scores", scores, "--recommendation", "accept");
  expect(review).toMatchObject({ status: "submitted", weightedScore: 6 });
  const feedback = await server("feedback", "--submission-id", submissionId, "--body", "Well done");
  expect(feedback).toMatchObject({ released: false });
});

describe("mistakes and refusals", () => {
  test("are printed on one line", async () => {
    const home = await openHome();
    const { track } = await furnish(home);
    const { trackId } = track;
    const cases: readonly [args: string[], code: number, message: RegExp][] = [
      [["register", "--email", "noor@example.org", "--name", "Noor"], 2, /--track-id/],
      [["register", "--track-id", trackId, "--email", "noor", "--name", "Noor"], 2, /validation_failed.*email/],
      [["register", "--track-id", "trk_none", "--email", "noor@example.org", "--name", "N"], 1, /not_found/],
      [["draft", "--track-id", trackId, "--applicant-id", "app_none", "--fields", "{"], 2, /--fields must be JSON/],
      [["draft", "--fields", "@/nowhere.json"], 2, /--fields must be JSON/],
      [["attach-file", "--submission-id", "sub_1", "--file", home.path], 2, /--file/],
      [["payment", "--submission-id", "sub_none", "--outcome", "paid"], 1, /not_found/],
      [["payment", "--submission-id", "sub_none", "--outcome", "stolen"], 2, /validation_failed.*outcome/],
      [["register", "--business", "Nobody", "--track-id", "t", "--email", "a@example.org", "--name", "N"], 2, /Nobody/],
      [["elect"], 2, /elect/],
    ];
    for (const [args, code, message] of cases) {
      const ended = await home.run(["portal", ...args, "--database", home.database]);
      expect([args, ended.code, ended.stdout]).toEqual([args, code, ""]);
      expect(ended.stderr).toMatch(message);
      expect(ended.stderr).toMatch(/^[^\n]+\n$/);
    }
  });

  test("a file that is not what it is called is not attached", async () => {
    const home = await openHome();
    const { track } = await furnish(home);
    const file = join(home.path, "plan.pdf");
    await writeFile(file, "<script>");
    const args = ["portal", "attach-file", "--submission-id", "sub_1", "--file", file, "--database", home.database];
    const { code, stderr } = await home.run(args);
    expect([track.intakeOpen, code, stderr]).toEqual([
      true,
      2,
      expect.stringMatching(/validation_failed.*contentType/),
    ]);
  });

  test("help lists the fields of each action", async () => {
    const home = await openHome();
    const { stdout } = await home.run(["portal", "review", "--help"]);
    for (const option of [
      "--assignment-id <text>",
      "--scores <json or @file>",
      "accept|revise|reject|none",
      "--draft",
    ]) {
      expect(stdout).toContain(option);
    }
    const all = await home.run(["portal", "--help"]);
    const names = ["register", "draft", "attach-file", "request-supplement", "submit-supplement", "payment"];
    for (const name of [...names, "respond", "conflict", "review", "feedback"])
      expect(all.stdout).toMatch(new RegExp(`^ +${name} +\\S`, "m"));
  });
});

test("mail is suppressed, allowed and queued again by commands", async () => {
  const home = await openHome();
  const { emailSendId } = await furnish(home);
  const mail = async (...args: string[]) => {
    const { code, stdout, stderr } = await home.run(["mail", ...args, "--database", home.database]);
    return [code, stdout, stderr];
  };
  expect(await mail("suppress", "Ada@example.org", "--unsubscribed")).toEqual([0, "Suppressed.\n", ""]);
  expect(await mail("suppress", "ada@example.org")).toEqual([0, "It was suppressed already.\n", ""]);
  const [, listed] = await mail("suppressed", "--json");
  expect(JSON.parse(String(listed))).toMatchObject({ email: "Ada@example.org", reason: "unsubscribed" });
  expect(await mail("allow", "ADA@example.org", "--json")).toEqual([0, '{"suppressed":false,"changed":true}\n', ""]);
  expect(await mail("suppressed")).toEqual([0, "", ""]);
  expect(await mail("suppress", "ada")).toEqual([2, "", expect.stringMatching(/validation_failed/)]);
  expect(await mail("retry", emailSendId)).toEqual([0, `${emailSendId} is queued again.\n`, ""]);
  expect(await mail("retry", emailSendId)).toEqual([2, "", expect.stringMatching(/invalid_state_transition/)]);
  expect(await mail("retry", "eml_none")).toEqual([2, "", expect.stringMatching(/not_found/)]);
});
