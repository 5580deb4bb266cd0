// Prints how many tests passed and failed, from the files of vitest's JSON reporter.
import { readFileSync } from "node:fs";

const counts = process.argv.slice(2).map(count);
const passed = counts.reduce((sum, each) => sum + each.passed, 0);
const failed = counts.reduce((sum, each) => sum + each.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || counts.some((each) => each.passed === 0)) process.exitCode = 1;

function count(path) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // No report: the run itself broke.
    return { passed: 0, failed: 1 };
  }
  // A file that could not be loaded or set up has failed without a failed test.
  const broken = report.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}
