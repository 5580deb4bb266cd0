import { describe, expect, test } from "vitest";
import { openHome } from "../support/processes/program.ts";

const secrets = { PROGRAMME_WEBHOOK_SECRETS: `crm=${"s".repeat(20)},shop=${"t".repeat(20)};${"u".repeat(20)}` };

describe("the start message of a server", () => {
  test("has the addresses of incoming webhooks, without their secrets", async () => {
    const home = await openHome();
    const database = ["--database", home.database];
    await home.run(["token", "create", ...database]);
    const started = home.start(["http", "--port", "0", ...database], secrets);
    const [, origin = ""] = await started.printed(/MCP +(http:\/\/\S+)\/mcp\n/);
    await started.printed(/Token /);
    const { code, stdout } = await started.stop();
    expect(code).toBe(0);
    expect(stdout).toContain(`  Hooks ${origin}/webhooks/crm\n  Hooks ${origin}/webhooks/shop\n`);
    expect(stdout).not.toMatch(/s{20}|t{20}|u{20}/);
  });

  test("has them under the public URL, and no REST interface with a remote service", async () => {
    const home = await openHome();
    const environment = {
      ...secrets,
      PROGRAMME_BASE_URL: "http://127.0.0.1:9",
      PROGRAMME_TOKEN: "a".repeat(64),
      PROGRAMME_PUBLIC_URL: "https://mcp.example.org",
    };
    const started = home.start(["http", "--port", "0", "--database", home.database], environment);
    await started.printed(/webhooks\/shop\n/);
    const { stdout } = await started.stop();
    expect(stdout.split("\n").slice(1)).toEqual([
      "  Page  https://mcp.example.org/",
      "  MCP   https://mcp.example.org/mcp",
      "  Hooks https://mcp.example.org/webhooks/crm",
      "  Hooks https://mcp.example.org/webhooks/shop",
      "",
      // Calls on a remote service are approved in this program's own pages.
      expect.stringMatching(/^The first account for people/),
      expect.stringMatching(/^ {2}https:\/\/mcp\.example\.org\/join\/\w+$/),
      "",
    ]);
  });

  test("has settings for stdio that start this program", async () => {
    const home = await openHome();
    const started = home.start(["http", "--port", "0"]);
    const [, settings = ""] = await started.printed(/over stdio:\n(\{[\s\S]*?\n\})\n/);
    await started.stop();
    const { programme } = JSON.parse(settings).mcpServers;
    expect(programme.args).toEqual(home.command([]).args);
    expect(programme.env.PROGRAMME_TOKEN).toMatch(/^[0-9a-f]{64}$/);
  });
});
