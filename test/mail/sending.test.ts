import { expect, test } from "vitest";
import { listChanges } from "../support/data/state.ts";
import { openMailServer, openMailSetup, readHeader, smtp } from "./mail-server.ts";

test("a bulk e-mail goes out one message for each recipient, who see nothing of one another", async () => {
  const mailServer = await openMailServer();
  const { server, waitForSend, all } = await openMailSetup(smtp(mailServer));
  const chair = await server.as("REST");
  const { programId } = await server.seed.program();
  const programIds = [programId];
  const reviewerIds: string[] = [];
  for (const name of ["rita", "sam"]) {
    reviewerIds.push((await server.seed.reviewer({ programIds, email: `${name}@example.org` })).reviewerId);
  }
  await server.seed.applicant({ programIds, email: "ada@example.org" });
  const body = "Dear all,\n\n.a line that begins with a dot\nGrüße — it begins.";
  const outcome = await chair.send_bulk_email({
    programId,
    reviewers: { reviewerIds, subject: "Über das Gutachten", body },
    applicants: { applicantEmails: ["ada@example.org"], subject: "News", body },
  });
  expect(outcome).toMatchObject({ queued: 3, suppressed: 0 });
  for (const { emailSendId } of await all()) {
    const now = server.clock.now().toISOString();
    expect(await waitForSend(emailSendId, { status: "sent" })).toMatchObject({ sentAt: now, error: null });
  }
  const portalServices = ["ada@example.org", "rita@example.org", "sam@example.org"];
  expect(mailServer.accepted.map(({ to }) => to).toSorted()).toEqual(portalServices.map((person) => [person]));
  for (const letter of mailServer.accepted) {
    expect(letter.from).toBe("calls@example.org");
    expect(readHeader(letter, "To")).toEqual(letter.to);
    expect(readHeader(letter, "From")).toEqual(["Open Calls <calls@example.org>"]);
    for (const other of portalServices) expect(letter.raw.includes(other)).toBe(letter.to.includes(other));
    expect(readHeader(letter, "Cc").concat(readHeader(letter, "Bcc"))).toEqual([]);
    expect(letter.raw).toMatch(/\r\n\.a line that begins with a dot/);
    expect(letter.raw).toMatch(/Gr=C3=BC=C3=9Fe/);
  }
  const ids = (await all()).map(({ emailSendId }) => `<${emailSendId}@example.org>`);
  expect(mailServer.accepted.flatMap((letter) => readHeader(letter, "Message-ID")).toSorted()).toEqual(ids.toSorted());
  const subjects = mailServer.accepted.flatMap((letter) => readHeader(letter, "Subject"));
  expect(subjects.filter((subject) => /^=\?UTF-8\?Q\?=C3=9Cber_das_Gutachten\?=$/i.test(subject))).toHaveLength(2);
});

test("the audit entries of sent messages contain neither recipient nor text", async () => {
  const mailServer = await openMailServer();
  const { server, queue, waitForSend } = await openMailSetup(smtp(mailServer));
  const { emailSendId } = await queue();
  await waitForSend(emailSendId, { status: "sent" });
  const [entry, ...others] = await listChanges(server.app.store, server.businessId);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    action: "email_send.sent",
    entityId: emailSendId,
    actorType: "system",
    actorId: "mail",
  });
  expect(entry).toMatchObject({ tokenId: null, changes: [{ path: "status", from: "queued", to: "sent" }, {}] });
  expect(JSON.stringify(entry)).not.toMatch(/\b(?:ada|news|dear)\b/i);
  expect(await server.outbox()).toEqual([]);
});
