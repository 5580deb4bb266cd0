import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { addOptions } from "../../src/config/options.ts";
import { commandNames } from "../../src/config/setting.ts";
import { settings } from "../../src/config/table.ts";

function parse(name: (typeof commandNames)[number], ...args: string[]) {
  const command = addOptions(new Command(name), name)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.parse(args, { from: "user" });
  return command.opts();
}

describe("options", () => {
  test("are read under their setting's name", () => {
    for (const name of commandNames) {
      const options = addOptions(new Command(name), name).options.map((option) => option.attributeName());
      const expected = settings.filter(([, entry]) => "option" in entry && entry.commands.includes(name));
      expect(options.toSorted()).toEqual(expected.map(([setting]) => setting as string).toSorted());
    }
  });

  test("reach the configuration", () => {
    const options = parse("http", "--port", "0", "--demo", "--allowed-hosts", "a.example,b.example");
    expect(loadConfig({}, options)).toMatchObject({ port: 0, demo: true, allowedHosts: ["a.example", "b.example"] });
  });

  test("that were not given leave the variable's value", () => {
    expect(loadConfig({ PROGRAMME_PORT: "4000", PROGRAMME_DEMO: "1" }, parse("http"))).toMatchObject({
      port: 4000,
      demo: true,
    });
  });

  test("belong to their commands: stdio does not listen", () => {
    expect(() => parse("stdio", "--port", "1")).toThrow("unknown option '--port'");
  });

  test("never carry the token, which other users could read in the list of processes", () => {
    for (const name of commandNames) {
      expect(addOptions(new Command(name), name).helpInformation()).not.toMatch(/--\w*token/);
    }
  });

  test("name their variable and default in the help", () => {
    const help = addOptions(new Command("http"), "http").helpInformation().replaceAll(/\s+/g, " ");
    expect(help).toContain("Default: 3000. (PROGRAMME_PORT)");
  });
});

describe("settings", () => {
  test("have a variable each", () => {
    const variables = settings.map(([, { variable }]) => variable);
    expect(new Set(variables).size).toBe(variables.length);
  });

  test("say what they default to", () => {
    for (const [, setting] of settings) expect(setting.default ?? setting.defaultText).toBeDefined();
  });
});
