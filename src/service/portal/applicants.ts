import { checkIntake } from "../../domain/submissions.ts";
import type { PortalActionHandler } from "../../store/handler-context.ts";
import type { Reader } from "../../store/port.ts";
import { normalizeEmail, type Row } from "../../store/tables.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";
import { enrolApplicant } from "../persons/applicant-resolution.ts";

/** Registers an applicant. For one who is already registered on the track, nothing changes and no event is sent. */
export const register_applicant: PortalActionHandler<"register_applicant"> = {
  // A new applicant acts under the id that this action creates.
  author: async (store, { email }, newId) => ({
    actorType: "applicant",
    actorId: (await findApplicantByEmail(store, email))?.applicantId ?? newId("app"),
  }),

  async run(context, { trackId, email, name }) {
    const { store, now, emit, author } = context;
    const track = await getOrThrow(store, "tracks", trackId);
    await loadWritableProgram(store, track.programId);
    checkIntake(track, now);
    const existing = await findApplicantByEmail(store, email);
    const applicantId = existing?.applicantId ?? author.actorId;
    const registered = !existing?.trackIds.includes(trackId);
    if (registered) {
      const createIdAsApplicant = (prefix: string) => (prefix === "app" ? applicantId : context.newId(prefix));
      const identity = { innovatorEmail: email, innovatorName: existing?.name || name };
      await enrolApplicant({ ...context, newId: createIdAsApplicant }, identity, track);
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
