import type { TestServer } from "../support/servers/test-server.ts";

/** A page's answer. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A browser without scripts: keeps cookies, follows nothing, and sends forms as a page of the server does. */
export class BrowserSession {
  readonly origin: string;
  readonly cookies = new Map<string, string>();

  constructor({ origin }: Pick<TestServer, "origin">) {
    // The name under which passkeys work too.
    this.origin = origin.replace("127.0.0.1", "localhost");
  }

  open(path: string): Promise<PageAnswer> {
    return this.#send(path, {});
  }

  submit(
    path: string,
    fields: Record<string, string> | URLSearchParams = {},
    headers: Record<string, string> = {},
  ): Promise<PageAnswer> {
    const own = { origin: this.origin, "sec-fetch-site": "same-origin", ...headers };
    return this.#send(path, { method: "POST", body: new URLSearchParams(fields), headers: own });
  }

  async #send(path: string, init: RequestInit): Promise<PageAnswer> {
    const headers = new Headers(init.headers);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    if (cookie !== "") headers.set("cookie", cookie);
    headers.set("accept", "text/html");
    const answer = await fetch(`${this.origin}${path}`, { ...init, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }
}

export const password = "correct horse battery staple";

/** Adds a person who has accepted the invitation, and returns the person's browser, which is signed in. */
export async function openAs(
  server: TestServer,
  { email = "olga@example.org", role = "owner" as const, ...more }: Partial<Invited> = {},
): Promise<BrowserSession> {
  const browser = new BrowserSession(server);
  const secret = await invite(server, { email, role, ...more });
  const answer = await browser.submit(`/join/${secret}`, { name: "Olga Owner", password, repeated: password });
  if (answer.status !== 303) throw new Error(`The invitation was not accepted: ${answer.status}`);
  return browser;
}

interface Invited {
  readonly email: string;
  readonly role: "owner" | "staff" | "viewer";
  readonly seesSensitive: boolean;
}

/** Invites a person. Returns the secret of the link. */
export async function invite(
  server: TestServer,
  { email, role, seesSensitive = false }: Partial<Invited>,
): Promise<string> {
  const { businessId, app } = server;
  const author = { actorType: "user", actorId: "command_line" } as const;
  const invitee = { businessId, email: email ?? "olga@example.org", role: role ?? "viewer", seesSensitive };
  const invited = await app.userAdmin.invite(invitee, author);
  if (!invited) throw new Error("The address belongs to a person");
  return invited.secret;
}
