import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { openAs } from "../identity/browser-session.ts";
import { allow } from "../identity/test-app.ts";
import { freePort } from "../support/processes/free-port.ts";
import { test } from "../support/servers/test-server.ts";

const suite = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js");

test("the conformance suite's scenarios of authorization servers pass", async ({ server }) => {
  const browser = await openAs(server);
  const port = await freePort();
  const registration = await fetch(`${browser.origin}/auth/oauth2/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
    }),
  });
  const { client_id } = (await registration.json()) as { client_id: string };
  const issuer = `${browser.origin}/auth`;
  const args = ["--url", issuer, "--client-id", client_id, "--resource", `${browser.origin}/mcp`, "-p", String(port)];
  const run = spawn(process.execPath, [suite, "authorization", ...args]);
  const report: string[] = [];
  for await (const line of createInterface(run.stdout)) {
    report.push(line);
    // The suite waits for a person, and listens where the browser is then sent.
    if (line.startsWith(`${issuer}/oauth2/authorize`)) await fetch(await allow(browser, new URL(line), "read"));
  }
  const text = report.join("\n");
  for (const scenario of ["authorization-server-metadata-endpoint", "authorization-code-grant"]) {
    expect(text).toMatch(new RegExp(`✓ ${scenario}`));
  }
  expect(text).toMatch(/Total: \d+ passed, 0 failed/);
});
