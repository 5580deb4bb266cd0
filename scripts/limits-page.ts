import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/server";
import { cacheMs } from "../src/app/readiness.ts";
import { noticeIntervalMs } from "../src/approvals/notifier.ts";
import { settings, table } from "../src/config/table.ts";
import { limits } from "../src/contract/access/limits.ts";
import { defaultLimit, maxLimit } from "../src/contract/definition/page.ts";
import { maxWorkflowRows } from "../src/contract/definition/workflow.ts";
import { maxRecipients } from "../src/contract/emails.ts";
import { peopleLimits } from "../src/contract/set-up/people.ts";
import { configLimits } from "../src/contract/set-up/program-config.ts";
import { maxCandidateSubmissions } from "../src/contract/workflows/reviewer-candidates.ts";
import { maxPlanned, maxSkipped } from "../src/domain/assignment-plan.ts";
import { budgetMs as patternBudgetMs } from "../src/domain/pattern.ts";
import { maxExternalRefs, maxMetadataBytes } from "../src/domain/persons.ts";
import { maxExportAttempts as exportAttempts, exportConcurrency as exportLanes } from "../src/exports/worker.ts";
import {
  appIdleDays,
  appTokenMinutes,
  attemptWindowMinutes,
  consentMinutes,
  maxAttempts,
  maxPasswordChars,
  maxUnusedClients,
  minPasswordChars,
  sessionHours,
} from "../src/identity/limits.ts";
import { maxLogTextChars } from "../src/lib/mask.ts";
import { mailRetryDelaysMs as mailDelaysMs } from "../src/mail/retry-schedule.ts";
import { maxMessages } from "../src/mail/smtp-transport.ts";
import { maxQueued } from "../src/pipeline/audit/access-log.ts";
import { maxChanges, maxFeedWatchers } from "../src/pipeline/change-feed.ts";
import { maxLimitedTokens } from "../src/pipeline/rate-limiter.ts";
import { maxBegunAlone, maxBegunShared } from "../src/pipeline/request-pacer.ts";
import { getCallLimits, getWorkflowLimits } from "../src/pipeline/steps/schedule.ts";
import { maxIssues } from "../src/pipeline/steps/validate.ts";
import { sessionBounds } from "../src/pipeline/tokens/session-registry.ts";
import { firstLinkHours, userLinkHours } from "../src/pipeline/users/user-admin.ts";
import { maxValues } from "../src/resources/complete.ts";
import { maxArgumentChars } from "../src/resources/prompts.ts";
import { maxFollowed } from "../src/resources/subscriber.ts";
import { maxUriChars } from "../src/resources/target.ts";
import { defaultBusyTimeoutMs } from "../src/store/open.ts";
import { maxReplicaLagMs, replicaTimeoutMs } from "../src/store/postgres/replicas.ts";
import { maxCountedBacklog } from "../src/store/queues/queue-depths.ts";
import { failingForMs, minFreeBytes } from "../src/store/sqlite/open.ts";
import { readBatching } from "../src/telemetry/environment.ts";
import { maxMatches } from "../src/tools/catalog/search.ts";
import { ttlMs as confirmationTtlMs } from "../src/tools/confirmation/confirmation-token.ts";
import { maxFileBytes } from "../src/transport/auth/gateway-keys.ts";
import { fetchTimeoutMs, maxRemembered } from "../src/transport/auth/oauth-token-verifier.ts";
import { maxUnknownPerMinute } from "../src/transport/auth/unknown-tokens.ts";
import { maxSetUpFormBytes } from "../src/transport/console/set-up/set-up-text.ts";
import { computeBodyPauseMs, maxWaitingBodies, smallBodyBytes } from "../src/transport/http/body.ts";
import { slowClientAfterMs } from "../src/transport/http/concurrency-limiter.ts";
import { maxAddresses, requestsPerMinute } from "../src/transport/http/invitations.ts";
import { getMessagesPerMinute, maxBatch } from "../src/transport/http/mcp-admission.ts";
import { maxMetricsConnections } from "../src/transport/http/metrics-server.ts";
import { httpTimeouts, maxHeaderBytes } from "../src/transport/http/server.ts";
import { bodyTimeoutMs, maxEventBytes } from "../src/transport/http/webhook-receiver.ts";
import { maxFormBytes } from "../src/transport/people/people-app.ts";
import { maxAnswerChars } from "../src/transport/sessions/elicitations.ts";
import { maxStreams, maxStreamsPerCaller, maxUnread } from "../src/transport/sessions/listen.ts";
import { sessionMs } from "../src/transport/sessions/sessions.ts";
import { maxListens } from "../src/transport/stdio/connect-stdio.ts";
import { failuresToOpen, firstPauseMs, maxPauseMs } from "../src/upstream/remote/circuit-breaker.ts";
import { connections, maxAnswerBytes } from "../src/upstream/remote/http-client.ts";
import { listCacheChars, listCacheSeconds } from "../src/upstream/remote/list-cache.ts";
import { maxThrottledTokens, maxWaitMs } from "../src/upstream/remote/rate-throttle.ts";
import { maxWorkflowRequests, maxWorkflowWaitSeconds } from "../src/upstream/remote/record-reader.ts";
import { maxCallAttempts as upstreamAttempts } from "../src/upstream/remote/retry-policy.ts";
import { maxScopeWatchers as maxRemoteWatchers } from "../src/upstream/remote/scope-cache.ts";
import { maxEndpoints } from "../src/webhooks/endpoints.ts";
import { maxDocumentBytes } from "../src/webhooks/fetch-document.ts";
import { keptMs, maxEvents, toleranceMs } from "../src/webhooks/receive.ts";
import { giveUpAfterMs, maxRetryAfterMs, webhookRetryDelaysMs } from "../src/webhooks/retry-schedule.ts";
import { answerBytes, attemptTimeoutMs } from "../src/webhooks/sender.ts";
import { maxUrlChars } from "../src/webhooks/url.ts";
import { perEndpoint, slowForMs, slowMs } from "../src/webhooks/worker.ts";
import { argumentLimits } from "./argument-limits.ts";

/** A limited quantity, its limit, and the effect of reaching it. */
type Row = readonly [what: string, limit: string, reached: string];

const count = (number: number) => number.toLocaleString("en-US");

function bytes(number: number): string {
  const [unit, size] = [["GiB", 1024 ** 3] as const, ["MiB", 1024 ** 2] as const, ["KiB", 1024] as const].find(
    ([, each]) => number % each === 0,
  ) ?? ["bytes", 1];
  return `${count(number / size)} ${unit}`;
}

function time(ms: number): string {
  const units = [["days", 86_400_000] as const, ["hours", 3_600_000] as const, ["minutes", 60_000] as const];
  const [unit, size] = units.find(([, each]) => ms % each === 0 && ms / each > 1) ?? ["seconds", 1_000];
  if (ms < 1_000) return `${ms} ms`;
  return ms === 1_000 ? "1 second" : `${count(ms / size)} ${unit}`;
}

const seconds = (number: number) => time(number * 1_000);

type Numeric = {
  [K in keyof typeof table]: (typeof table)[K] extends { default: number } ? K : never;
}[keyof typeof table];

/** Returns the default of a configurable limit, with a link to its setting. */
function set(name: Numeric, written: (value: number) => string): string {
  const setting = settings.find(([each]) => each === name)?.[1];
  return `${written(table[name].default)} ([${setting?.variable}](configuration.md#${setting?.variable.toLowerCase()}))`;
}

const placeDefaults = {
  databaseConnections: table.databaseConnections.default,
  maxConcurrentRequests: table.maxConcurrentRequests.default,
};
const calls = getCallLimits({ ...placeDefaults, database: ":memory:" });
const postgresCalls = getCallLimits({ ...placeDefaults, database: "postgres://localhost/programme" });
const workflowCalls = getWorkflowLimits({ ...placeDefaults, database: ":memory:" });

const sections: Readonly<Record<string, readonly Row[]>> = {
  "People who sign in": [
    [
      `Failed attempts to sign in to one account within ${time(attemptWindowMinutes * 60_000)}, whether or not it exists`,
      count(maxAttempts.account),
      "429; passkeys keep working",
    ],
    [
      `Audit entries of an account's refused attempts within ${time(attemptWindowMinutes * 60_000)}`,
      count(maxAttempts.refusal),
      "later ones are not recorded",
    ],
    [
      `Attempts from one address (IPv6: from one /64) within ${time(attemptWindowMinutes * 60_000)}`,
      count(maxAttempts.address),
      "429",
    ],
    [
      `Openings of links to set a password, from one address within ${time(attemptWindowMinutes * 60_000)}`,
      count(maxAttempts.link),
      "429",
    ],
    [
      `Sign-ins begun with a passkey or an external provider, from one address within ${time(attemptWindowMinutes * 60_000)}`,
      count(maxAttempts.start),
      "429",
    ],
    [
      `Apps that register from one address within ${time(attemptWindowMinutes * 60_000)}`,
      count(maxAttempts.registration),
      "429",
    ],
    [
      `Metadata documents of apps that one address has fetched within ${time(attemptWindowMinutes * 60_000)}`,
      count(maxAttempts.document),
      "429",
    ],
    ["Registered apps that no one has connected", count(maxUnusedClients), "the oldest are deleted; each after a day"],
    ["A metadata document of an app", bytes(maxDocumentBytes), "the app cannot be connected"],
    ["Time to answer an app's request, and to exchange its code", time(consentMinutes * 60_000), "the app asks again"],
    ["Lifetime of an app's access token", time(appTokenMinutes * 60_000), "the app renews it"],
    ["Time in which an app does nothing", time(appIdleDays * 86_400_000), "the connection ends"],
    ["A password", `${count(minPasswordChars)} to ${count(maxPasswordChars)} characters`, "422"],
    ["Time without a request in a session", time(sessionHours * 3_600_000), "the session ends"],
    [
      "Lifetime of a link for an invitation or a lost password",
      time(userLinkHours * 3_600_000),
      "the link does not work",
    ],
    ["Lifetime of the link for the first account", time(firstLinkHours * 3_600_000), "the next start prints another"],
    ["Messages of new approvals to one person", `one in ${time(noticeIntervalMs)}`, "the next message covers them"],
    ["A form's body", bytes(maxFormBytes), "413"],
    ["A form with a programme's set-up", bytes(maxSetUpFormBytes), "413"],
  ],
  "HTTP, all callers together": [
    ["Open connections", set("maxConnections", count), "the server closes a further connection at once"],
    [
      "Open connections from one address (IPv6: from one /64)",
      set("maxConnectionsPerAddress", count),
      "the server closes a further connection at once",
    ],
    [
      "Requests a minute from one address without a token that was valid before",
      count(maxUnknownPerMinute),
      "429 `rate_limited`; tokens that were valid before keep working",
    ],
    [
      "Requests in flight",
      set("maxConcurrentRequests", count),
      "503 `unavailable`, retry after a second; slow clients are disconnected first",
    ],
    ["Time for a slow client to send or read while others wait", time(slowClientAfterMs), "the connection is closed"],
    ["A request's headers", bytes(maxHeaderBytes), "431"],
    ["Time for a request's headers", time(httpTimeouts.headersMs), "408"],
    ["Time for a whole request", time(httpTimeouts.requestMs), "408"],
    ["Time in which a client reads nothing of a response", time(httpTimeouts.stallMs), "the connection is closed"],
    ["Time between two requests on a connection", time(httpTimeouts.keepAliveMs), "the connection is closed"],
    ["A request's body", set("maxBodyBytes", bytes), "413 `payload_too_large`"],
    ["Nesting of free-form JSON", count(limits.maxJsonDepth), "400 `validation_failed`"],
    [
      `Concurrent bodies of more than ${bytes(smallBodyBytes)} of one caller`,
      `one is read, and the next after ${time(computeBodyPauseMs(table.requestsPerMinute.default))}; ${count(maxWaitingBodies)} wait`,
      "429 `rate_limited`, retry after a second",
    ],
    ["Arguments of a tool call", count(limits.maxArguments), "`validation_failed`"],
    ["Values in a request's JSON, nested ones included", count(limits.maxJsonValues), "400 `validation_failed`"],
    ["Issues that an error lists", count(maxIssues), "further issues are omitted"],
    ["Time for requests in flight at shutdown", set("shutdownSeconds", seconds), "they are aborted"],
    [
      "Requests a minute for invitations, from one address",
      count(requestsPerMinute),
      `429; also for addresses beyond the first ${count(maxAddresses)} of a minute`,
    ],
  ],
  "One organisation": [
    [
      "Calls that run and that wait in one process",
      `${count(calls.maxRunning)} and ${count(calls.maxWaiting)}, of ${count(placeDefaults.maxConcurrentRequests)} requests in flight; with PostgreSQL ${count(postgresCalls.maxRunning)} run, one fewer than the connections for reads, and ${count(postgresCalls.maxRunningShared)} while other organisations call`,
      "503 `unavailable`, retry after a second; other organisations are served",
    ],
    [
      "Workflow calls that run and that wait in one process, for those that read all of a programme, and for the others",
      `${count(workflowCalls.maxRunning)} and ${count(workflowCalls.maxWaiting)}, of ${count(placeDefaults.maxConcurrentRequests)} requests in flight; ${count(workflowCalls.maxRunningShared)} runs while other organisations call`,
      "503 `unavailable`, retry after a second; other calls are served",
    ],
    [
      "Requests that begin in one turn of the event loop",
      `${count(maxBegunAlone)}, or ${count(maxBegunShared)} while other organisations call`,
      "the others begin in the next turns",
    ],
    [
      "Time that a call waits for others of its organisation",
      `${count(calls.maxWaitMs / 1000)} seconds; a workflow ${count(workflowCalls.maxWaitMs / 1000)}`,
      "503 `unavailable`, retry after a second",
    ],
    ["Changes that are made at once", "1", "the others wait, up to 5 seconds; then 503 `unavailable`"],
    ["Exports in progress while another organisation's waits", "1", "its next one begins after the other's"],
  ],
  "One token": [
    ["Requests in any minute", set("requestsPerMinute", count), "429 `rate_limited` with `Retry-After`"],
    ["Time between two exports", set("exportIntervalSeconds", seconds), "429 `export_rate_limited` with `Retry-After`"],
    [
      "Tokens whose rate is in memory",
      count(maxLimitedTokens),
      "the oldest is dropped; its leased permits count as used",
    ],
    ["An idempotency key", `${limits.idempotencyKeyChars} characters`, "400 `validation_failed`"],
    ["Validity of an idempotency key", seconds(limits.idempotencyTtlSeconds), "the request is executed again"],
  ],
  MCP: [
    [
      "Messages of any kind a minute of one caller over HTTP",
      `${count(getMessagesPerMinute(table.requestsPerMinute.default))}; ${getMessagesPerMinute(0)} plus twice the requests of a token`,
      "429 `rate_limited` with `Retry-After`, before the server reads the message",
    ],
    ["Messages of one batch", count(maxBatch), "400 `validation_failed`; each message counts"],
    ["A message over stdio", bytes(STDIO_DEFAULT_MAX_BUFFER_SIZE), "the connection ends"],
    ["Lifetime of a session over HTTP (2025-11-25 and older)", time(sessionMs), "404; the client opens another"],
    [
      "Sessions of one caller that follow changes",
      count(sessionBounds.live),
      "the least recently changed session is dropped",
    ],
    ["Streams of sessions", set("maxSessions", count), "503 `unavailable`"],
    ["Streams of one caller's sessions", count(maxStreamsPerCaller), "503 `unavailable`"],
    ["A client's response to an elicitation", `${count(maxAnswerChars)} characters`, "it is refused"],
    ["Streams of `subscriptions/listen` over HTTP", count(maxStreams), "refused: `Subscription limit reached`"],
    [
      "Streams of `subscriptions/listen` of one caller",
      count(maxStreamsPerCaller),
      "refused: `Subscription limit reached`",
    ],
    ["Streams of `subscriptions/listen` on one stdio connection", count(maxListens), "refused"],
    [
      "Subscriptions of one client",
      count(maxFollowed),
      "refused; the acknowledgement of `subscriptions/listen` omits the rest",
    ],
    [
      "Clients with subscriptions in one process",
      `${count(maxFeedWatchers)}; with a remote service ${count(maxRemoteWatchers)}`,
      "refused: `unavailable`",
    ],
    ["Unread notifications of a client", count(maxUnread), "its stream ends; the client listens again"],
    ["Changes reported one by one", count(maxChanges), "every subscriber receives a notification"],
    [
      "A tool result's data",
      set("resultBytes", bytesOrPlain),
      "lists are truncated between rows with a cursor, records lose their largest fields; a note explains it",
    ],
    ["Rows of a list without `limit`", count(limits.toolRows), "the result has a cursor"],
    ["Rows that one call with `all` gathers", count(limits.gatheredRows), "the result has a cursor"],
    ["Rows of a workflow's list", count(maxWorkflowRows), "`truncated` says how many there are"],
    ["Submissions of one `list_reviewer_candidates`", count(maxCandidateSubmissions), "`validation_failed`"],
    ["Tools that `find_tools` returns", count(maxMatches), "the best matches are returned"],
    ["Validity of a confirmation", time(confirmationTtlMs), "`confirmation_invalid`: call again without it"],
    [
      "Waiting for an export with `wait`",
      set("exportWaitSeconds", seconds),
      "the call returns the job as it is, with a note; the export continues",
    ],
    ["A resource's URI", `${count(maxUriChars)} characters`, "not found"],
    ["A prompt's argument", `${count(maxArgumentChars)} characters`, "refused"],
    ["Completions of one argument", count(maxValues), "`hasMore` is true"],
  ],
  "Lists and records": [
    [
      "Rows of a page",
      `${maxLimit}; ${defaultLimit} by default`,
      `a larger \`limit\` becomes ${maxLimit}, and one below 1 is 400 \`validation_failed\`; the result has a cursor`,
    ],
    ["Ids in `includePersonFieldIds`", `${limits.expandedFieldIds}, repeats included`, "400 `validation_failed`"],
    ["Rows of a page with person fields", count(limits.expandedRows), "further rows have none"],
    ["People of an export with a person record", count(limits.exportedPersons), "further people have none"],
    ["Assignments in one bulk request", count(limits.bulkAssignments), "400 `validation_failed`"],
    ["Assignments in one plan", count(maxPlanned), "the next run continues"],
    ["Skipped pairs that a plan lists", count(maxSkipped), "further pairs are omitted"],
    ["Recipients of one bulk e-mail", `${count(maxRecipients)} of each kind`, "400 `validation_failed`"],
    [
      "Rounds of a programme; files, and supplement responses, of a submission",
      [limits.listedRounds, limits.listedFiles, limits.listedSupplements].map(count).join("; "),
      "further ones are not listed",
    ],
    ["Reviews that a summary counts", count(limits.summarizedReviews), "further ones are not counted"],
    ["Persons that `GET /persons/resolve` finds", count(maxLimit), "further ones are not found"],
    [
      "Files attached to a submission, and to a supplement response",
      count(limits.attachedFiles),
      "400 `validation_failed`",
    ],
    ["Areas of expertise of a reviewer", count(limits.expertise), "400 `validation_failed`"],
    ["Validity of an invitation link", seconds(limits.invitationSeconds), "invite again"],
    ["External references of a person, in all", count(maxExternalRefs), "400 `validation_failed`"],
    ["Metadata of a person", bytes(maxMetadataBytes), "400 `validation_failed`"],
    [
      "A text in a field; entries of a list in a field; a text in such an entry",
      `${count(limits.fieldChars)} characters; ${count(limits.fieldItems)}; ${count(limits.fieldItemChars)} characters`,
      "400 `validation_failed`",
    ],
    ["Time for a pattern of a schema to match", time(patternBudgetMs), "the value counts as invalid"],
    [
      "Validity of a download link of a file, and of an export",
      `${seconds(limits.fileLinkSeconds)} and ${time(limits.exportLinkSeconds * 1000)}`,
      "404; request a new link",
    ],
  ],
  "Remote service": [
    [
      "A call, retries included",
      set("timeoutSeconds", seconds),
      "`upstream_timeout`, or `upstream_uncertain` for a write that may have been applied",
    ],
    ["Attempts of a call", count(upstreamAttempts), "the error of the last attempt"],
    ["Waiting for a token's rate limit", time(maxWaitMs), "`rate_limited` with the time to retry"],
    [
      "Failures in a row before the circuit breaker opens",
      count(failuresToOpen),
      `\`upstream_unavailable\` at once, for ${time(firstPauseMs)} at first and ${time(maxPauseMs)} at most; then one call tries again`,
    ],
    ["Connections", count(connections), "calls wait for one within their time"],
    ["A response", bytes(maxAnswerBytes), "`upstream_invalid_answer`"],
    ["Requests of one workflow call", count(maxWorkflowRequests), "`incomplete` names what was not read to its end"],
    ["Time that one workflow call waits for the rate", seconds(maxWorkflowWaitSeconds), "`rate_limited`"],
    ["Time that a search reuses the lists of the previous one", seconds(listCacheSeconds), "the lists are read again"],
    ["Characters of lists kept for searches", count(listCacheChars), "the lists used longest ago are read again"],
    ["Tokens whose rate is in memory", count(maxThrottledTokens), "the least recently used one is dropped"],
  ],
  "Outgoing webhooks": [
    ["Endpoints of an organisation", count(maxEndpoints), "refused"],
    [
      "Concurrent attempts",
      set("webhookConcurrency", count),
      "the others wait; a quarter of the concurrency is for receivers that fail or are slow",
    ],
    [
      "Concurrent attempts to one endpoint",
      `${perEndpoint}; one while it fails or has taken more than ${time(slowMs)} in the last ${time(slowForMs)}`,
      "the others wait",
    ],
    ["An attempt", time(attemptTimeoutMs), "it fails"],
    [
      "Attempts at a delivery",
      count(webhookRetryDelaysMs.length + 1),
      "the delivery fails; `webhook replay` creates another",
    ],
    ["A receiver's `Retry-After`", time(maxRetryAfterMs), "a longer delay is shortened to this"],
    ["Time of failures without a success", time(giveUpAfterMs), "the endpoint is disabled"],
    ["The part of a receiver's response that is stored", bytes(answerBytes), "the rest is not read"],
    ["An endpoint's address", `${count(maxUrlChars)} characters`, "refused"],
  ],
  "Received webhooks": [
    ["A delivery", bytes(maxEventBytes), "413"],
    ["Time for it to arrive", time(bodyTimeoutMs), "the connection is closed"],
    ["Difference of clocks", time(toleranceMs), "refused as a replay"],
    ["Stored events of one webhook", `${count(maxEvents)}, for ${time(keptMs)}`, "the oldest are deleted"],
  ],
  "Mail and exports": [
    ["Concurrent messages", set("mailConcurrency", count), "the others wait"],
    ["Handing over a message", set("smtpTimeoutSeconds", seconds), "it is tried again, or its result is unknown"],
    ["Attempts at a message", count(mailDelaysMs.length + 1), "it fails; `mail retry` queues it again"],
    ["Messages over one connection", count(maxMessages), "another is opened"],
    ["Concurrent exports in one process", count(exportLanes), "the others wait"],
    ["Attempts at an export", count(exportAttempts), "it fails"],
    ["An export's file", bytes(limits.maxExportBytes), "it fails: `artifact_too_large`"],
    ["Retention of a finished export", seconds(limits.exportRetentionSeconds), "404; create another export"],
  ],
  Import: [
    ["A file that describes a programme", bytes(configLimits.fileBytes), "it is refused"],
    ["Tracks of a programme", count(configLimits.tracks), "the file is refused"],
    ["Rounds of a track", count(configLimits.rounds), "the file is refused"],
    ["Forms, or rubrics, of a file", count(configLimits.forms), "the file is refused"],
    ["Fields of a form, or criteria of a rubric", count(configLimits.fields), "the file is refused"],
    ["Reviewers of a file", count(configLimits.reviewers), "the file is refused"],
    ["A file of persons or applicants", bytes(peopleLimits.fileBytes), "it is refused"],
    ["Rows of such a file", count(peopleLimits.rows), "the file is refused; divide it"],
  ],
  "The program": [
    ["Waiting for the database to begin a transaction", time(defaultBusyTimeoutMs), "503 `unavailable`, retry"],
    [
      "Connections to a PostgreSQL database",
      set("databaseConnections", count),
      "transactions wait for one, within that time",
    ],
    ["Changes that a read replica lacks", time(maxReplicaLagMs), "the primary answers lists"],
    ["An answer of a read replica on its state", time(replicaTimeoutMs), "the primary answers lists"],
    [
      "Requests that are not yet in the audit log",
      count(maxQueued),
      "further requests wait; at twice as many 503 `unavailable`",
    ],
    ["The file of gateway keys", bytes(maxFileBytes), "it is refused; the previous keys stay valid"],
    ["Loading the keys of an OAuth issuer", time(fetchTimeoutMs), "503 `unavailable`"],
    ["Cached tokens of an issuer", count(maxRemembered), "the oldest is verified again on its next request"],
    ["A text in the log", `${count(maxLogTextChars)} characters`, "it is truncated, with its length"],
    ["Cache of `/readyz` results", time(cacheMs), "the checks run again"],
    ["Free disk space of a SQLite database", bytes(minFreeBytes), "with less, `/readyz` responds with 503"],
    ["Time after a commit that the disk has failed", time(failingForMs), "`/readyz` responds with 503"],
    ["Connections to `/metrics`", count(maxMetricsConnections), "the server closes a further connection at once"],
    ["Items of a queue that metrics count", count(maxCountedBacklog), "metrics show this number"],
    [
      "Spans that wait for export",
      `${count(readBatching({}).maxQueueSize)} (OTEL_BSP_MAX_QUEUE_SIZE)`,
      "further spans are dropped; the log reports their number",
    ],
  ],
};

/** Formats a number of bytes that is not a power of two. */
function bytesOrPlain(number: number): string {
  return `${count(number)} bytes`;
}

/** Renders `docs/limits.md` from the limits in the code. */
export function limitsPage(): string {
  const tables = Object.entries(sections).map(
    ([title, rows]) => `## ${title}

| quantity | limit | effect |
| --- | --- | --- |
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}
`,
  );
  return `# Limits

<!-- Generated by \`npm run gen\` from the limits in the code. -->

Everything that others can make grow has a limit. Limits with a variable are configurable; the others are fixed.

${tables.join("\n")}
${argumentLimits()}`;
}
