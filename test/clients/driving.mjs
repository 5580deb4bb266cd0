import assert from "node:assert/strict";
import { spawn } from "node:child_process";

/**
 * Where the server is, over HTTP or as a command for stdio, and what there is to try it on: given by the test that
 * starts a driver. Each transport has a submission of its own to withdraw.
 */
export const { over, url, token: accessToken, command, args, env, programId, submission } = JSON.parse(process.argv[2]);

export const authorization = `Bearer ${accessToken}`;
export const submissionUri = `programme://submissions/${submission.submissionId}`;
export const withdrawal = { ...submission, reason: "The applicant asked for it" };

/** Prints the results for the test, as the last line. What keeps the client's process alive is no matter then. */
export function report(results) {
  process.stdout.write(`\n${JSON.stringify(results)}\n`, () => process.exit());
}

export function expectTools(names) {
  assert.ok(names.length >= 58 && names.includes("withdraw_submission"), `${names.length} tools`);
}

/** Expects the submission in what a client made of a record. */
export function expectSubmission(shown) {
  const text = typeof shown === "string" ? shown : JSON.stringify(shown);
  assert.ok(text.includes(submission.submissionId) && text.includes("IN_REVIEW"), text);
}

export function expectPrompt(shown) {
  assert.match(JSON.stringify(shown), /list_submissions/);
}

export function expectQuestion(question) {
  assert.match(question, /^Withdraw submission/);
}

/** Withdraws the submission by two calls. The test looks whether it is withdrawn then. */
export async function confirmBySecondCall(call) {
  const { question, token } = structuredIn(await call(withdrawal)).confirmation;
  expectQuestion(question);
  await call({ ...withdrawal, confirmation: token });
  return "by a second call";
}

/** Accepts a question that a client asks its human. */
export function agree({ message }, questions) {
  questions.push(message);
  return { action: "accept", content: { confirm: true } };
}

/** Withdraws the submission where the client asks its human; `questions` holds what it asked. */
export async function confirmByElicitation(call, questions) {
  assert.equal(structuredIn(await call(withdrawal)).data.state, "WITHDRAWN");
  assert.equal(questions.length, 1);
  expectQuestion(questions[0]);
  return "asks its human";
}

function structuredIn({ isError, structuredContent, content }) {
  assert.ok(!isError && structuredContent, JSON.stringify(content));
  return structuredContent;
}

export async function until(condition) {
  for (let left = 100; left > 0 && !condition(); left--) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(condition());
}

/** Runs a program of the client's to its end. */
export async function run(program, programArgs, environment = {}) {
  const env = { ...process.env, ...environment };
  const child = spawn(program, programArgs, { env, stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  assert.equal(code, 0, `${programArgs.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** The script of a command that is installed beside a driver. */
export function scriptOf(directory, path) {
  return `${directory}/node_modules/${path}`;
}
