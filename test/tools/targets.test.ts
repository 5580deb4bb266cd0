import { describe, expect, onTestFinished, test } from "vitest";
import { createFactory } from "../support/data/seed-factory.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { openAgent } from "../upstream/agent.ts";
import { openRemoteSetup } from "../upstream/remote-setup.ts";

/** Agents of the embedded service and of a remote one. */
const services = {
  async embedded(environment: Record<string, string>) {
    const { server, close } = await openTestServer(environment);
    onTestFinished(close);
    return { server, agent: await openAgent(server.app, await server.token()) };
  },
  remote: (environment: Record<string, string>) => openRemoteSetup({ environment }),
};

const message = { subject: "Your application", body: "Please complete it." };

describe.each(Object.entries(services))("a target, with the %s service,", (_, open) => {
  /** A programme with two applicants who have drafts, one of them two, and a third who submitted. */
  async function openProgram(environment: Record<string, string> = {}) {
    const { server, agent } = await open({
      PROGRAMME_CONFIRM: "ask",
      PROGRAMME_PRIVACY: "pseudonymize",
      ...environment,
    });
    const { seed } = server;
    const round = await seed.round();
    const { programId, trackId, roundId } = round;
    const [ida, omar, eve] = await Promise.all(
      ["Ida", "Omar", "Eve"].map((name) =>
        seed.applicant({
          name,
          email: `${name.toLowerCase()}@example.org`,
          programIds: [programId],
          trackIds: [trackId],
        }),
      ),
    );
    const submit = (applicant: typeof ida, state: "DRAFT" | "SUBMITTED") =>
      seed.submission({
        programId,
        trackId,
        state,
        applicantId: applicant?.applicantId ?? "",
        innovatorEmail: applicant?.email ?? "",
      });
    for (const applicant of [ida, ida, omar]) await submit(applicant, "DRAFT");
    await submit(eve, "SUBMITTED");
    const listMails = async () => {
      const rows = await server.app.store.reader(server.businessId).find("emailSends", {}, { limit: 50 });
      return rows.map(({ recipientEmail }) => recipientEmail).toSorted();
    };
    return { server, agent, programId, trackId, roundId, submit, eve, listMails };
  }

  test("that selects more than 1,000 applicants or reviewers sends to none of them, and says how many match", async () => {
    const { server, agent, programId, trackId, listMails } = await openProgram();
    const programIds = [programId];
    await server.write(async (transaction) => {
      const factory = createFactory((work) => work(transaction));
      for (let index = 0; index < 1_001; index += 1) {
        await factory.applicant({ email: `a${index}@example.org`, programIds, trackIds: [trackId] });
        await factory.reviewer({ email: `r${index}@example.org`, programIds, status: "active" });
      }
    });
    for (const [kind, count] of Object.entries({ applicants: 1_004, reviewers: 1_001 })) {
      const { error, confirmation } = await agent.call("send_bulk_email", { programId, target: {}, [kind]: message });
      expect(confirmation).toBeUndefined();
      const text = `${count} ${kind} match: one call sends to at most 1000. Narrow the target by trackId, roundId or state`;
      const issues = [{ path: "target", code: "too_big", message: text }];
      expect(error).toMatchObject({ code: "validation_failed", details: { issues } });
    }
    expect(await listMails()).toEqual([]);
  });

  test("selects the applicants of submissions in a state, each once, and the question lists them", async () => {
    const { agent, programId, listMails } = await openProgram();
    const args = { programId, target: { state: "DRAFT" }, applicants: message };
    const { confirmation } = await agent.call("send_bulk_email", args);
    expect(confirmation?.question).toContain(
      `Target (programId ${programId}, state DRAFT): 3 submissions of 2 applicants`,
    );
    expect(confirmation?.question).toContain("2 e-mails to applicants");
    for (const name of ["Ida", "Omar"]) expect(confirmation?.question).toContain(`“${name}”`);
    expect(confirmation?.question).not.toContain("Eve");
    expect(confirmation?.question).not.toContain("@example.org");
    expect(await listMails()).toEqual([]);
    const { data } = await agent.call("send_bulk_email", { ...args, confirmation: confirmation?.token });
    expect(data).toMatchObject({ queued: 2, skipped: [] });
    expect(await listMails()).toEqual(["ida@example.org", "omar@example.org"]);
  });

  test("asks again if another record matches since, and refuses another target", async () => {
    const { agent, programId, submit, eve, listMails } = await openProgram();
    const args = { programId, target: { state: "DRAFT" }, applicants: message };
    const first = await agent.call("send_bulk_email", args);
    const confirmation = first.confirmation?.token;
    const other = await agent.call("send_bulk_email", { ...args, target: {}, confirmation });
    expect(other.error?.code).toBe("confirmation_invalid");
    await submit(eve, "DRAFT");
    const second = await agent.call("send_bulk_email", { ...args, confirmation });
    expect(second.confirmation?.question).toMatch(/^The records have changed since you were asked/);
    expect(second.confirmation?.question).toContain("“Eve”");
    expect(await listMails()).toEqual([]);
    const { data } = await agent.call("send_bulk_email", { ...args, confirmation: second.confirmation?.token });
    expect(data).toMatchObject({ queued: 3 });
  });

  test("that matches nothing does nothing, and says so without a question", async () => {
    const { agent, programId, listMails } = await openProgram();
    const args = { programId, target: { state: "WINNER" }, applicants: message };
    const outcome = await agent.call("send_bulk_email", args);
    expect(outcome.data).toEqual({ queued: 0, suppressed: 0, skipped: [] });
    expect(outcome.notes?.slice(0, 2)).toEqual([
      "Nothing was done.",
      `Target (programId ${programId}, state WINNER): 0 submissions of 0 applicants`,
    ]);
    expect(await listMails()).toEqual([]);
  });

  test("selects the reviewers of a round, without those who declined", async () => {
    const { server, agent, programId, trackId, roundId, listMails } = await openProgram({ PROGRAMME_CONFIRM: "off" });
    const at = { programIds: [programId], roundIds: [roundId] };
    await server.seed.reviewer({ ...at, email: "rita@example.org" });
    await server.seed.reviewer({ ...at, email: "tom@example.org", status: "declined" });
    await server.seed.reviewer({ programIds: [programId], email: "uma@example.org" });
    const outcome = await agent.call("send_bulk_email", { programId, target: { trackId }, reviewers: message });
    expect(outcome.data).toMatchObject({ queued: 1 });
    expect(outcome.notes?.[0]).toMatch(/^Target .*: 1 reviewer; 1 declined or inactive left out$/);
    expect(await listMails()).toEqual(["rita@example.org"]);
    const both = { programId, target: { state: "DRAFT" }, reviewers: message };
    const refused = await agent.call("send_bulk_email", both);
    expect(refused.error).toMatchObject({ code: "validation_failed", details: { issues: [{ path: "target.state" }] } });
  });

  test("assigns reviewers to all submissions in review in the round, and to no others", async () => {
    const { server, agent, programId, trackId, roundId } = await openProgram();
    const place = { programId, trackId, currentRoundId: roundId, state: "IN_REVIEW" } as const;
    for (const title of ["Roof", "Bridge"]) await server.seed.submission({ ...place, title });
    const { reviewerId } = await server.seed.reviewer({ roundIds: [roundId], programIds: [programId] });
    const args = { roundId, target: {}, reviewerIds: [reviewerId] };
    const { confirmation } = await agent.call("bulk_assign_reviewers", args);
    expect(confirmation?.question).toContain(`Target (state IN_REVIEW, roundId ${roundId}): 2 submissions`);
    expect(confirmation?.question).toContain("“Roof”");
    const { data } = await agent.call("bulk_assign_reviewers", { ...args, confirmation: confirmation?.token });
    expect(data.created).toHaveLength(2);
    const listed = await agent.call("bulk_assign_reviewers", { ...args, submissionIds: ["sub_1"] });
    expect(listed.error?.details.issues.map(({ path }: { path: string }) => path)).toEqual(["target", "submissionIds"]);
    const nobody = await agent.call("bulk_assign_reviewers", { ...args, target: { state: "WINNER" } });
    expect(nobody.notes?.[0]).toBe("Nothing was done.");
  });

  test("that matches more than the operation accepts is refused with the number", async () => {
    const { server, agent, programId, trackId, roundId } = await openProgram();
    const place = { programId, trackId, currentRoundId: roundId, state: "IN_REVIEW" } as const;
    for (let count = 0; count < 126; count += 1) await server.seed.submission(place);
    const reviewerIds = ["rev_1", "rev_2", "rev_3", "rev_4"];
    const { error } = await agent.call("bulk_assign_reviewers", { roundId, target: {}, reviewerIds });
    expect(error?.details.issues).toEqual([
      expect.objectContaining({
        path: "target",
        code: "too_big",
        message: expect.stringContaining("126 submissions × 4 reviewers: one call makes at most 500 assignments"),
      }),
    ]);
  });
});
