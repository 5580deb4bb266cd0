// Prints each failed test, then how many passed and failed, from the files of vitest's JSON reporter.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

const messageLines = 8;

const counts = process.argv.slice(2).map(count);
const passed = counts.reduce((sum, each) => sum + each.passed, 0);
const failures = counts.flatMap((each) => each.failures);
for (const failure of failures) console.log(`${failure}\n`);
console.log(`${passed} passed, ${failures.length} failed`);
if (failures.length > 0 || counts.some((each) => each.passed === 0)) process.exitCode = 1;

function count(path) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return { passed: 0, failures: [describe("no report: the run itself broke", path, error.message)] };
  }
  return { passed: report.numPassedTests, failures: report.testResults.flatMap(listFailures) };
}

function listFailures(file) {
  const path = relative(process.cwd(), file.name);
  const failed = file.assertionResults.filter((test) => test.status === "failed");
  // A file that could not be loaded or set up has failed without a failed test.
  if (file.status === "failed" && failed.length === 0) return [describe("the file broke", path, file.message)];
  return failed.map((test) => describe(test.fullName, path, test.failureMessages.join("\n")));
}

function describe(title, path, message) {
  const lines = stripVTControlCharacters(message).trim().split("\n").slice(0, messageLines);
  return [`FAILED ${path}: ${title}`, ...lines.map((line) => `  ${line}`)].join("\n");
}
