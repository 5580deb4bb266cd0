import {
  args,
  authorization,
  command,
  confirmBySecondCall,
  env,
  expectPrompt,
  expectSubmission,
  expectTools,
  over,
  programId,
  report,
  run,
  scriptOf,
  submission,
  submissionUri,
  url,
} from "../driving.mjs";

const script = scriptOf(import.meta.dirname, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const settings = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
const server =
  over === "HTTP"
    ? ["--server-url", url, "--transport", "http", "--header", `Authorization: ${authorization}`]
    : [...settings, command, ...args];
/** Its options end where the server's own begin. */
const inspect = async (method, ...words) =>
  JSON.parse(await run(process.execPath, [script, "--cli", "--method", method, ...words, ...server]));
const call = (name, input) =>
  inspect(
    "tools/call",
    "--tool-name",
    name,
    ...Object.entries(input).flatMap(([key, value]) => ["--tool-arg", `${key}=${value}`]),
  );

expectTools((await inspect("tools/list")).tools.map(({ name }) => name));
const { submissionId } = submission;
expectSubmission(await call("get_submission", { submissionId }));
expectSubmission((await inspect("resources/read", "--uri", submissionUri)).contents);
const promptArgs = ["--prompt-name", "triage_new_submissions", "--prompt-args", `programId=${programId}`];
expectPrompt(await inspect("prompts/get", ...promptArgs));
/** Lists the tools with views. */
async function listViews(...words) {
  const options = ["--cli", "--method", "tools/list", "--app-info", ...words];
  const lines = (await run(process.execPath, [script, ...options, ...server])).trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ hasApp }) => hasApp);
}
const views = await listViews("--advertise-apps");
const shown = views.find(({ toolName }) => toolName === "get_review_progress");
if (shown?.resourceUri !== "ui://programme/progress" || shown.resourceMimeType !== "text/html;profile=mcp-app")
  throw new Error(`Views: ${JSON.stringify(views)}`);
if ((await listViews()).length > 0) throw new Error("A client that does not show views gets them");
const write = await confirmBySecondCall((input) => call("withdraw_submission", input));
const subscription = "no: a run of it makes one request";
report({ list: "yes", read: "yes", write, resource: "yes", prompt: "yes", subscription });
