import { checkIntake } from "../../domain/submissions.ts";
import { createId } from "../../lib/ids.ts";
import type { ActHandler } from "../../store/handler-context.ts";
import type { Reader } from "../../store/port.ts";
import { normalizeEmail, type Row } from "../../store/tables.ts";
import { enrolApplicant } from "../applicant-resolution.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";

/** Whoever is registered on the track already stays as they are, and nothing is told. */
export const register_applicant: ActHandler<"register_applicant"> = {
  // Somebody new acts under the id that they are about to get.
  author: async (store, { email }) => ({
    actorType: "applicant",
    actorId: (await findApplicantByEmail(store, email))?.applicantId ?? createId("app"),
  }),

  async run(work, { trackId, email, name }) {
    const { store, now, emit, author } = work;
    const track = await getOrThrow(store, "tracks", trackId);
    await loadWritableProgram(store, track.programId);
    checkIntake(track, now);
    const before = await findApplicantByEmail(store, email);
    const applicantId = before?.applicantId ?? author.actorId;
    const registered = !before?.trackIds.includes(trackId);
    if (registered) {
      const actAsApplicant = (prefix: string) => (prefix === "app" ? applicantId : work.newId(prefix));
      const given = { innovatorEmail: email, innovatorName: before?.name || name };
      await enrolApplicant({ ...work, newId: actAsApplicant }, given, track);
    }
    const { personId } = await getOrThrow(store, "applicants", applicantId);
    if (registered) emit("applicant.registered", { programId: track.programId, applicantId, personId, trackId });
    return { applicantId, personId, trackId, registered };
  },
};

async function findApplicantByEmail(store: Reader, email: string): Promise<Row<"applicants"> | undefined> {
  const [applicant] = await store.find("applicants", { has: { email: normalizeEmail(email) } }, { limit: 1 });
  return applicant;
}
