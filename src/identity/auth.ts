import { kyselyAdapter } from "@better-auth/kysely-adapter";
import { passkey } from "@better-auth/passkey";
import { APIError } from "better-auth/api";
import { betterAuth } from "better-auth/minimal";
import { genericOAuth } from "better-auth/plugins";
import { connectionIdPrefix } from "../contract/access/connected-apps.ts";
import { createId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { SignInAudit, SignInMethod } from "../pipeline/users/sign-in-audit.ts";
import type { UserStore } from "../store/people/user-store.ts";
import type { ClientDocuments } from "./client-documents.ts";
import { authPath, maxNameChars, maxPasswordChars, minPasswordChars, sessionHours } from "./limits.ts";
import { createOAuthProvider } from "./oauth-provider.ts";

/** An external OpenID Connect provider with which people sign in. */
export interface IdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** The name on the button. */
  readonly name: string;
}

export interface AuthOptions {
  readonly users: UserStore;
  readonly audit: SignInAudit;
  /** At least 32 characters. It signs cookies. */
  readonly secret: string;
  readonly log: Log;
  readonly provider: IdentityProvider | undefined;
  /** Returns the address of MCP, for which apps get tokens. */
  readonly getResource: (origin: string) => string;
  /** The metadata documents of apps. */
  readonly documents: ClientDocuments;
}

export const providerId = "organisation";
const hourSeconds = 60 * 60;

const prefixes: Readonly<Record<string, string>> = {
  user: "usr",
  session: "uss",
  account: "crd",
  verification: "vrf",
  passkey: "psk",
  oauthConsent: connectionIdPrefix,
};

/** The ways to sign in, by the endpoint that began the session. */
const signInMethods: Readonly<Record<string, SignInMethod>> = {
  "/sign-in/email": "password",
  "/passkey/verify-authentication": "passkey",
  "/callback/:id": "provider",
};

/** Begins the library's own variables, with which it would report its use, or trust other origins. */
const foreignPrefix = "BETTER_AUTH_";

/**
 * Creates better-auth for one origin. People are only added by invitation. With a provider, it asks for the provider's
 * addresses once; it knows no provider if there was no answer.
 */
export function createAuth(origin: string, { users, audit, secret, log, provider, ...apps }: AuthOptions) {
  const { hostname, protocol } = new URL(origin);
  const isSecure = protocol === "https:";
  // Browsers accept a cookie of this prefix only over https, for the whole host and from the host itself.
  const prefix = isSecure ? "__Host-" : "";
  const nameCookie = (name: string) => ({ name: `${prefix}${name}`, attributes: { secure: isSecure } });
  for (const name of Object.keys(process.env)) if (name.startsWith(foreignPrefix)) delete process.env[name];
  return betterAuth({
    appName: "programme-mcp",
    baseURL: origin,
    basePath: authPath,
    // The list form keeps the library from reading secrets from the environment.
    secrets: [{ version: 1, value: secret }],
    telemetry: { enabled: false },
    logger: { log: (level, message) => log[level](`Sign-in: ${message}`), level: "warn", disableColors: true },
    onAPIError: { errorURL: `${origin}/sign-in` },
    // Every engine stores dates as text and truth values as numbers, which the adapter does only for SQLite.
    database: kyselyAdapter(users.database, { type: "sqlite" }),
    trustedOrigins: [origin],
    // Limits are counted in the database by `attempts.ts`.
    rateLimit: { enabled: false },
    advanced: {
      useSecureCookies: false,
      disableOriginCheck: false,
      disableCSRFCheck: false,
      cookiePrefix: `${prefix}programme`,
      defaultCookieAttributes: { secure: isSecure, sameSite: "lax", httpOnly: true, path: "/" },
      cookies: { session_token: nameCookie("programme.session") },
      ipAddress: { disableIpTracking: true },
      database: { generateId: ({ model }) => createId(prefixes[model] ?? "oau"), validateSchema: false },
    },
    ...models,
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: minPasswordChars,
      maxPasswordLength: maxPasswordChars,
      revokeSessionsOnPasswordReset: true,
    },
    databaseHooks: {
      account: {
        create: {
          // Nothing here uses the provider's tokens.
          before: async (account) => ({ data: { ...account, accessToken: null, refreshToken: null, idToken: null } }),
        },
      },
      session: {
        create: {
          // Every way to sign in creates a session.
          before: async ({ userId }) => {
            const user = await users.get(userId);
            return user !== undefined && user.disabledAt === null;
          },
          after: async ({ userId }, context) => {
            // A new password begins a new session too.
            if (context?.path === "/change-password") return audit.record(userId, "user.password_changed");
            return audit.record(userId, "user.signed_in", signInMethods[context?.path ?? ""]);
          },
        },
      },
    },
    plugins: [
      connectPasskeys(origin, hostname),
      ...(provider ? [connectProvider(provider)] : []),
      createOAuthProvider(apps.getResource(origin), apps.documents),
    ],
  });
}

/** The tables of the models, and their lifetimes. */
const models = {
  user: {
    modelName: "users",
    additionalFields: {
      businessId: { type: "string", input: false },
      role: { type: "string", input: false },
      seesSensitive: { type: "boolean", input: false },
      disabledAt: { type: "string", required: false, input: false },
    },
  },
  session: {
    modelName: "userSessions",
    expiresIn: sessionHours * hourSeconds,
    updateAge: hourSeconds,
    freshAge: sessionHours * hourSeconds,
  },
  account: {
    modelName: "userCredentials",
    // A provider leads only to the person whose address it has verified, and names the person. None is trusted more.
    accountLinking: { updateUserInfoOnLink: true },
    storeAccountCookie: false,
    updateAccountOnSignIn: false,
  },
  verification: { modelName: "verifications", storeIdentifier: "hashed" },
} as const;

function connectPasskeys(origin: string, hostname: string) {
  return passkey({
    rpID: hostname,
    rpName: "programme-mcp",
    origin,
    schema: { passkey: { modelName: "userPasskeys" } },
    advanced: { webAuthnChallengeCookie: "passkey" },
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    authentication: {
      // A passkey stands for the password too, so its owner must have unlocked it.
      afterVerification: async ({ verification }) => {
        if (!verification.authenticationInfo.userVerified) throw new APIError("UNAUTHORIZED");
      },
    },
  });
}

function connectProvider({ issuer, clientId, clientSecret, name }: IdentityProvider) {
  return genericOAuth({
    config: [
      {
        providerId,
        name,
        clientId,
        ...(clientSecret === undefined ? {} : { clientSecret }),
        discoveryUrl: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
        requireIdTokenVerification: true,
        scopes: ["openid", "email", "profile"],
        pkce: true,
        mapProfileToUser: ({ email, name: fullName, email_verified: isVerified }) => ({
          // A person without a name has not accepted the invitation.
          name: String(fullName || email)
            .replaceAll("\0", "")
            .slice(0, maxNameChars),
          image: "",
          emailVerified: isVerified === true,
        }),
        disableImplicitSignUp: true,
        disableSignUp: true,
      },
    ],
  });
}

export type Auth = ReturnType<typeof createAuth>;
