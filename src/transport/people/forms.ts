import { maxPasswordChars, minPasswordChars } from "../../identity/limits.ts";
import type { FormMistake } from "../../pages/components/form-fields.ts";
import type { PageContext } from "./browser-request.ts";

/** Reads the named fields of a form. A field that is missing, or is a file, is empty. */
export async function readForm<Name extends string>(
  context: PageContext,
  names: readonly Name[],
): Promise<Readonly<Record<Name, string>>> {
  const form = await context.req.parseBody();
  const entries = names.map((name) => {
    const value = form[name];
    return [name, typeof value === "string" ? value : ""];
  });
  return Object.fromEntries(entries) as Record<Name, string>;
}

/** Reads all values of a field that a form may name several times. Files are left out. */
export async function readList(context: PageContext, name: string): Promise<readonly string[]> {
  const form = await context.req.parseBody({ all: true });
  return [form[name] ?? []].flat().filter((value) => typeof value === "string");
}

export function addCookies(context: PageContext, cookies: readonly string[]): void {
  for (const cookie of cookies) context.header("set-cookie", cookie, { append: true });
}

/** Returns what is wrong with a new password. */
export function checkNewPassword({ password, repeated }: { password: string; repeated: string }): FormMistake[] {
  const refuse = (input: string, message: string) => [{ input, message }];
  if (password.length < minPasswordChars) {
    return refuse("password", `The password must have at least ${minPasswordChars} characters.`);
  }
  if (password.length > maxPasswordChars) {
    return refuse("password", `The password may have at most ${maxPasswordChars} characters.`);
  }
  return password === repeated ? [] : refuse("repeated", "The two passwords are not the same.");
}

/** Explains how long to wait after too many attempts. */
export function formatWait(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return `There were too many attempts. Wait ${minutes} ${minutes === 1 ? "minute" : "minutes"}, then try again.`;
}
