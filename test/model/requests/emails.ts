import type { emailHandlers } from "../emails.ts";
import type { ModelTenant } from "../tenant.ts";
import type { Call, RequestInput } from "./call.ts";

export function createEmailInput(
  { name, choice, target }: Call & { readonly name: keyof typeof emailHandlers },
  own: ModelTenant,
  { fixed, reviewers }: ModelTenant,
): RequestInput {
  const addresses = own.emailSends.map(({ recipientEmail }) => recipientEmail);
  if (name === "list_email_sends") return { recipientEmail: addresses.at(-1 - choice) ?? "Person1@Example.org" };
  const subject = target === 3 && choice === 0 ? "News\nBcc: all" : `News ${choice}`;
  const message = { subject, body: "We have news." };
  const reviewerIds = [...reviewers.slice(target).map(({ reviewerId }) => reviewerId), reviewers[0]?.reviewerId];
  const applicantEmails = [1, 2, 3, choice].map((each) => `person${each}@example.org`);
  const toReviewers = { reviewers: { ...message, reviewerIds } };
  const repeated = [...applicantEmails, "PERSON2@example.org", "ada@example.org"];
  const toApplicants = { applicants: { ...message, applicantEmails: repeated } };
  const blocks = [toReviewers, toApplicants, { ...toReviewers, ...toApplicants }, choice === 5 ? {} : toApplicants];
  return { programId: fixed.programId, ...blocks[target] };
}
