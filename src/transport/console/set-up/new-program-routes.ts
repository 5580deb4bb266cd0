import * as z from "zod";
import type { User } from "../../../contract/access/roles.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { FormMistakes } from "../../../pages/components/form-fields.ts";
import {
  type NewProgramForm,
  newProgramPath,
  renderNewProgramPage,
} from "../../../pages/console/set-up/new-program.ts";
import type { PageContext, PeopleApp } from "../../people/browser-request.ts";
import { readForm } from "../../people/forms.ts";
import { addSetUpChecks, addTextRoutes, answerText, requireOwner, type SetUpServices } from "./set-up-text.ts";

const newTarget = { target: {}, path: newProgramPath } as const;

const Settings = z.object({
  name: z.string().trim().min(1).max(200),
  year: z.coerce.number().int().min(1900).max(3000),
  opensOn: z.iso.date(),
});

const settingMessages = {
  name: "Give a name of at most 200 characters.",
  year: "Give a year between 1900 and 3000.",
  opensOn: "Give an opening date.",
} as const satisfies Record<keyof typeof Settings.shape, string>;

/** Adds the pages on which owners make a new programme. */
export function addNewProgramRoutes(app: PeopleApp, services: SetUpServices, clock: Clock): void {
  const { people, loadEditor } = services;
  addSetUpChecks(app, people, newProgramPath);

  async function show(context: PageContext, user: User, form: NewProgramForm, mistakes: FormMistakes = []) {
    const programs = await (await loadEditor()).listPrograms(user.businessId);
    return context.html(renderNewProgramPage({ user, programs, form, mistakes }), mistakes.length === 0 ? 200 : 422);
  }

  const createBlank = (like = ""): NewProgramForm => {
    const today = clock.now().toISOString().slice(0, 10);
    return { like, name: "", year: today.slice(0, 4), opensOn: today };
  };

  app.get(
    newProgramPath,
    requireOwner(services, (context, user) => show(context, user, createBlank(context.req.query("like")))),
  );

  app.post(
    `${newProgramPath}/like`,
    requireOwner(services, async (context, user) => {
      const form = await readForm(context, ["like", "name", "year", "opensOn"]);
      const settings = Settings.safeParse(form);
      if (!settings.success) {
        const wrong = new Set(settings.error.issues.map(({ path: [name] }) => name as keyof typeof settingMessages));
        return show(
          context,
          user,
          form,
          [...wrong].map((input) => ({ input, message: settingMessages[input] })),
        );
      }
      const text = await (await loadEditor()).draftProgram(user.businessId, form.like || undefined, settings.data);
      return answerText(services, context, user, { ...newTarget, text, dryRun: true });
    }),
  );

  addTextRoutes(app, services, newProgramPath, async (context, user, form, dryRun) => {
    if (!form) {
      return show(context, user, createBlank(), [
        { input: "file", message: "Choose a file of UTF-8 text that is not empty." },
      ]);
    }
    return answerText(services, context, user, { ...newTarget, text: form.text, dryRun });
  });
}
