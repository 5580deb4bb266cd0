import type { App } from "../app/app.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { type Role, roles, type User } from "../contract/access/roles.ts";
import { Problem } from "../contract/errors.ts";
import { suggestWord } from "../lib/did-you-mean.ts";
import { isLoopback } from "../lib/http/loopback.ts";
import type { Author } from "../store/handler-context.ts";
import { withApp } from "./open-app.ts";
import { getTextOption, note, type Options, print, printJson } from "./terminal/output.ts";
import { formatColumns } from "./terminal/table.ts";
import { chooseBusiness } from "./tokens/tokens.ts";
import { formatUserLink } from "./user-link.ts";

const operator: Author = { actorType: "user", actorId: "command_line" };

/**
 * Adds a person and passes on the one-time link with which the person chooses a password.
 * @throws UsageError when the address is not one, or belongs to a person
 */
export async function inviteUser(email: string, options: Options): Promise<void> {
  const role = parseRole(getTextOption(options, "role"));
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) || email.length > 254) {
    throw new UsageError(`${JSON.stringify(email)} is not an e-mail address`);
  }
  const config = loadConfig(process.env, options);
  await withApp(config, async (app) => {
    const { store, userAdmin } = app;
    const businessId = await chooseBusiness(store, getTextOption(options, "business"));
    const seesSensitive = options["sensitive"] === true;
    const invited = await userAdmin.invite({ businessId, email, role, seesSensitive }, operator);
    if (!invited) throw new UsageError(`${email} already has an account; user link makes a new link for it`);
    await passLink(app, config, options, invited);
  });
}

/** Passes on a new one-time link for a person who lost the password or the invitation. */
export async function issueUserLink(email: string, options: Options): Promise<void> {
  const config = loadConfig(process.env, options);
  await withApp(config, async (app) => {
    const { userId } = await findUser(app, email);
    await passLink(app, config, options, await app.userAdmin.issueLink(userId, operator));
  });
}

/** Prints all people who sign in. */
export async function listUsers(options: Options): Promise<void> {
  await withApp(loadConfig(process.env, options), async ({ store }) => {
    const users = await store.users.list();
    if (options["json"]) return printJson(users);
    const rows = users.map(({ businessId, name, email, role, seesSensitive, disabledAt }) => [
      email,
      name === "" ? "(invited)" : name,
      role,
      seesSensitive ? "sees sensitive data" : "",
      businessId,
      disabledAt ? `disabled ${disabledAt}` : "enabled",
    ]);
    print(formatColumns([["e-mail", "name", "role", "sensitive data", "business", "state"], ...rows], "header"));
  });
}

/**
 * Changes a person's role or access, with effect from the next request.
 * @throws UsageError when nothing would change, or nobody could manage access
 */
export async function updateUser(email: string, options: Options): Promise<void> {
  const role = getTextOption(options, "role");
  const { sensitive } = options;
  const patch = {
    ...(role === undefined ? {} : { role: parseRole(role) }),
    ...(sensitive === undefined ? {} : { seesSensitive: sensitive === true }),
  };
  if (Object.keys(patch).length === 0) {
    throw new UsageError("Nothing to change: give --role, --sensitive or --no-sensitive");
  }
  await changeUser(email, options, "Updated", (app, user) => app.userAdmin.update(user.userId, patch, operator));
}

/** Ends all access of a person, who stays in the list. */
export async function disableUser(email: string, options: Options): Promise<void> {
  await changeUser(email, options, "Disabled", (app, user) =>
    app.userAdmin.update(user.userId, { disabledAt: new Date().toISOString() }, operator),
  );
}

/** Lets a disabled person sign in again. */
export async function enableUser(email: string, options: Options): Promise<void> {
  await changeUser(email, options, "Enabled", (app, user) =>
    app.userAdmin.update(user.userId, { disabledAt: null }, operator),
  );
}

/** Deletes a person. The audit log keeps what the person did. */
export async function removeUser(email: string, options: Options): Promise<void> {
  await changeUser(email, options, "Removed", async (app, user) => {
    await app.userAdmin.remove(user.userId, operator);
    return user;
  });
}

async function changeUser(
  email: string,
  options: Options,
  done: string,
  work: (app: App, user: User) => Promise<User>,
): Promise<void> {
  await withApp(loadConfig(process.env, options), async (app) => {
    const user = await findUser(app, email);
    const changed = await work(app, user).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.code !== "invalid_state_transition") throw error;
      throw new UsageError(`${email} is the only owner: make another person owner first`);
    });
    if (options["json"]) return printJson(changed);
    print(`${done} ${email}.\n`);
  });
}

/** @throws UsageError when nobody has the address */
async function findUser({ store }: App, email: string): Promise<User> {
  const user = await store.users.findByEmail(email);
  if (!user) throw new UsageError(`Nobody has the address ${email}: user list shows all`);
  return user;
}

function parseRole(text: string | undefined): Role {
  const role = roles.find((name) => name === text);
  if (!role) {
    const hint = suggestWord(text ?? "", roles);
    throw new UsageError(`--role must be one of ${roles.join(", ")}, not ${JSON.stringify(text ?? "")}.${hint}`);
  }
  return role;
}

/** Mails a link to its person if there is a mail server. Otherwise, if that fails or with `--print`, prints it. */
async function passLink(
  { personMailer }: App,
  config: Config,
  options: Options,
  { user, secret }: { readonly user: User; readonly secret: string },
): Promise<void> {
  const link = formatUserLink(getOrigin(config), secret);
  const mails = personMailer !== undefined && options["print"] !== true;
  const isMailed = mails && (await personMailer.sendLink(user, link));
  if (options["json"]) {
    printJson(isMailed ? { ...user, mailed: true } : { ...user, mailed: false, link });
    return;
  }
  if (config.publicUrl === undefined) {
    note(
      `The link is for a server at ${new URL(link).origin}. If yours has another address, set PROGRAMME_PUBLIC_URL and use user link.`,
    );
  }
  if (isMailed) return print(`The link was mailed to ${user.email}. It works once, for three days.\n`);
  if (mails) note(`The mail server did not accept the message to ${user.email}: pass the link on yourself.`);
  print(`${link}\n`);
  note("The link is for this person, works once and for three days, and is not shown again.");
}

/** Returns where the server listens, as far as the settings say. */
function getOrigin({ publicUrl, host, port }: Config): string {
  return publicUrl ?? `http://${isLoopback(host) ? host : "127.0.0.1"}:${port}`;
}
