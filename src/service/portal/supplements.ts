import { limits } from "../../contract/access/limits.ts";
import { validationProblem } from "../../contract/errors.ts";
import { listMissingRequired } from "../../domain/fields.ts";
import { pickKeys } from "../../domain/patch.ts";
import { createIncompleteProblem } from "../../domain/submissions.ts";
import { checkSupplementTransition } from "../../domain/supplements.ts";
import type { PortalActionHandler } from "../../store/handler-context.ts";
import { findForm, loadForm } from "../forms.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";
import { saveSupplement } from "../supplements.ts";
import { loadRespondentAuthor, staff } from "./authors.ts";

export const request_supplement: PortalActionHandler<"request_supplement"> = {
  author: async () => staff,

  async run({ store, newId }, input) {
    const { submissionId, schemaId } = input;
    const { programId } = await getOrThrow(store, "submissions", submissionId);
    await loadWritableProgram(store, programId);
    if (!(await findForm(store, schemaId))) {
      throw validationProblem({ path: "schemaId", code: "not_found", message: "There is no such record" });
    }
    if ((await store.count("supplements", { where: { submissionId } })) >= limits.listedSupplements) {
      throw validationProblem({
        path: "submissionId",
        code: "too_big",
        message: `It has ${limits.listedSupplements} supplements already`,
      });
    }
    return store.insert("supplements", {
      ...pickKeys(input, "submissionId", "title", "required", "audience", "schemaId"),
      supplementResponseId: newId("sup"),
      supplementRequestId: input.supplementRequestId ?? newId("srq"),
      contributorId: null,
      contributorIndex: null,
      fields: {},
      fileIds: [],
      status: "not_started",
      dueAt: input.dueAt ?? null,
      submittedAt: null,
      closedAt: null,
      reopenedAt: null,
    });
  },
};

/** Applicants submit only complete responses. Staff can set any status through the interface. */
export const submit_supplement: PortalActionHandler<"submit_supplement"> = {
  author: (store, { supplementResponseId }) => loadRespondentAuthor(store, supplementResponseId),

  async run(context, { supplementResponseId, fields, fileIds }) {
    const supplement = await getOrThrow(context.store, "supplements", supplementResponseId);
    checkSupplementTransition("submit", supplement.status);
    const saved = await saveSupplement(context, {
      ...pickKeys(supplement, "submissionId", "supplementResponseId", "version"),
      fields,
      fileIds,
      status: "submitted",
    });
    const form = await loadForm(context.store, saved.schemaId);
    const missing = listMissingRequired(form.fields, saved.fields);
    if (missing.length > 0) throw createIncompleteProblem(form.fields, missing);
    return saved;
  },
};
