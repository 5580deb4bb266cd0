import type { Setting } from "./setting.ts";
import { UsageError } from "./usage-error.ts";
import { createTextType, issuerUrl } from "./values.ts";

const listening = ["http", "console"] as const;

/** Settings of an external provider with which people sign in. */
export const signInSettings = {
  signInIssuer: {
    variable: "PROGRAMME_SIGN_IN_ISSUER",
    group: "People",
    option: "--sign-in-issuer <address>",
    type: issuerUrl,
    defaultText: "none: people sign in with a password or a passkey",
    help: "The OpenID Connect provider with which people may sign in too, exactly as it names itself. It must confirm their e-mail addresses; only people who were invited get in. Its client's redirect address is `PROGRAMME_PUBLIC_URL` with `/auth/callback/organisation`.",
    commands: listening,
  },
  signInClientId: {
    variable: "PROGRAMME_SIGN_IN_CLIENT_ID",
    group: "People",
    option: "--sign-in-client-id <id>",
    type: createTextType("the id of a client"),
    defaultText: "none; needed with `PROGRAMME_SIGN_IN_ISSUER`",
    help: "This server's client id with `PROGRAMME_SIGN_IN_ISSUER`.",
    commands: listening,
  },
  signInClientSecret: {
    variable: "PROGRAMME_SIGN_IN_CLIENT_SECRET",
    group: "People",
    type: createTextType("the secret of a client"),
    defaultText: "none: a public client, with PKCE",
    secret: true,
    help: "The secret of `PROGRAMME_SIGN_IN_CLIENT_ID`. Has no option, because other users can see a process's arguments.",
    commands: listening,
  },
  signInName: {
    variable: "PROGRAMME_SIGN_IN_NAME",
    group: "People",
    option: "--sign-in-name <name>",
    type: createTextType("a name"),
    default: "your organisation",
    help: "The name of `PROGRAMME_SIGN_IN_ISSUER` on the page for signing in.",
    commands: listening,
  },
} as const satisfies Record<string, Setting>;

/** An external OpenID Connect provider with which people sign in. */
export interface SignInConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** The name on the button. */
  readonly name: string;
}

/** @throws UsageError for settings that do not belong together */
export function toSignInConfig(values: {
  readonly signInIssuer: string | undefined;
  readonly signInClientId: string | undefined;
  readonly signInClientSecret: string | undefined;
  readonly signInName: string;
}): SignInConfig | undefined {
  const { signInIssuer: issuer, signInClientId: clientId, signInClientSecret: clientSecret, signInName: name } = values;
  if (issuer !== undefined && clientId !== undefined) return { issuer, clientId, clientSecret, name };
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined;
  throw new UsageError("PROGRAMME_SIGN_IN_ISSUER and PROGRAMME_SIGN_IN_CLIENT_ID belong together: set both or none.");
}
