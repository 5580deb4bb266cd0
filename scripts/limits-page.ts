import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/server";
import { goodForMs } from "../src/app/readiness.ts";
import { settings, table } from "../src/config/table.ts";
import { defaultLimit, maxLimit } from "../src/contract/definition/page.ts";
import { maxRecipients } from "../src/contract/emails.ts";
import { limits } from "../src/contract/limits.ts";
import { maxPlanned, maxSkipped } from "../src/domain/assignment-plan.ts";
import { budgetMs as patternBudgetMs } from "../src/domain/pattern.ts";
import { maxExternalRefs, maxMetadataBytes } from "../src/domain/persons.ts";
import { maxExportAttempts as exportAttempts, exportConcurrency as exportLanes } from "../src/exports/worker.ts";
import { maxLogTextChars } from "../src/lib/mask.ts";
import { mailRetryDelaysMs as mailDelaysMs } from "../src/mail/retry-schedule.ts";
import { maxMessages } from "../src/mail/smtp-transport.ts";
import { maxQueued } from "../src/pipeline/access-log.ts";
import { maxChanges, maxFeedWatchers } from "../src/pipeline/change-feed.ts";
import { maxLimitedTokens } from "../src/pipeline/rate-limiter.ts";
import { sessionBounds } from "../src/pipeline/session-registry.ts";
import { maxIssues } from "../src/pipeline/validate.ts";
import { maxValues } from "../src/resources/complete.ts";
import { maxArgumentChars } from "../src/resources/prompts.ts";
import { maxFollowed } from "../src/resources/subscriber.ts";
import { maxUriChars } from "../src/resources/target.ts";
import { defaultBusyTimeoutMs } from "../src/store/open.ts";
import { maxCountedBacklog } from "../src/store/queues/queue-depths.ts";
import { minFreeBytes } from "../src/store/sqlite/open.ts";
import { readBatching } from "../src/telemetry/environment.ts";
import { maxMatches } from "../src/tools/catalog/search.ts";
import { ttlMs as confirmationTtlMs } from "../src/tools/confirmation/confirm.ts";
import { maxFileBytes } from "../src/transport/auth/gateway-keys.ts";
import { fetchTimeoutMs, maxRemembered } from "../src/transport/auth/oauth-token-verifier.ts";
import { maxUnknownPerMinute } from "../src/transport/auth/unknown-tokens.ts";
import { computeBodyPauseMs, maxWaitingBodies, smallBodyBytes } from "../src/transport/http/body.ts";
import { slowClientAfterMs } from "../src/transport/http/concurrency-limiter.ts";
import { maxAddresses, requestsPerMinute } from "../src/transport/http/invitations.ts";
import { getMessagesPerMinute, maxBatch } from "../src/transport/http/mcp-admission.ts";
import { maxMetricsConnections } from "../src/transport/http/metrics-server.ts";
import { httpTimeouts, maxHeaderBytes } from "../src/transport/http/server.ts";
import { bodyTimeoutMs, maxEventBytes } from "../src/transport/http/webhook-receiver.ts";
import { maxAnswerChars } from "../src/transport/sessions/elicitations.ts";
import { maxStreams, maxStreamsPerCaller, maxUnread } from "../src/transport/sessions/listen.ts";
import { sessionMs } from "../src/transport/sessions/sessions.ts";
import { maxListens } from "../src/transport/stdio/connect-stdio.ts";
import { failuresToOpen, firstPauseMs, maxPauseMs } from "../src/upstream/remote/circuit-breaker.ts";
import { connections, maxAnswerBytes } from "../src/upstream/remote/http-client.ts";
import { maxThrottledTokens as maxPacedTokens, maxWaitMs } from "../src/upstream/remote/rate-throttle.ts";
import { maxCallAttempts as upstreamAttempts } from "../src/upstream/remote/retry-policy.ts";
import { maxScopeWatchers as maxRemoteWatchers } from "../src/upstream/remote/scope-cache.ts";
import { maxEndpoints } from "../src/webhooks/endpoints.ts";
import { keptMs, maxEvents, toleranceMs } from "../src/webhooks/receive.ts";
import { giveUpAfterMs, maxRetryAfterMs, webhookRetryDelaysMs } from "../src/webhooks/retry-schedule.ts";
import { answerBytes, attemptTimeoutMs } from "../src/webhooks/sender.ts";
import { maxUrlChars } from "../src/webhooks/url.ts";
import { perEndpoint, slowForMs, slowMs } from "../src/webhooks/worker.ts";
import { argumentLimits } from "./argument-limits.ts";

/** What is limited, the limit, and what happens when it is reached. */
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

/** A limit that a setting sets: its default, and the setting. */
function set(name: Numeric, written: (value: number) => string): string {
  const setting = settings.find(([each]) => each === name)?.[1];
  return `${written(table[name].default)} ([${setting?.variable}](configuration.md#${setting?.variable.toLowerCase()}))`;
}

const sections: Readonly<Record<string, readonly Row[]>> = {
  "HTTP, of all callers together": [
    ["Connections open at once", set("maxConnections", count), "one more is closed as it comes"],
    [
      "Those from one address, of IPv6 from one /64",
      set("maxConnectionsPerAddress", count),
      "one more is closed as it comes",
    ],
    [
      "Requests a minute from one address without a token that was found good before",
      count(maxUnknownPerMinute),
      "429 `rate_limited`; tokens found good before go on working",
    ],
    [
      "Requests worked on at once",
      set("maxConcurrentRequests", count),
      "503 `unavailable`, come again in a second; first a request whose client has dawdled gives up its place",
    ],
    [
      "Dawdling over a request or an answer while others want the place",
      time(slowClientAfterMs),
      "the connection is closed",
    ],
    ["A request's head", bytes(maxHeaderBytes), "431"],
    ["Time for a request's head", time(httpTimeouts.headersMs), "408"],
    ["Time for all of a request", time(httpTimeouts.requestMs), "408"],
    ["Time without reading any of an answer", time(httpTimeouts.stallMs), "the connection is closed"],
    ["Time between two requests of a connection", time(httpTimeouts.keepAliveMs), "the connection is closed"],
    ["A request's body", set("maxBodyBytes", bytes), "413 `payload_too_large`"],
    ["Nesting of free-form JSON", count(limits.maxJsonDepth), "400 `validation_failed`"],
    [
      `Bodies of more than ${bytes(smallBodyBytes)} that one caller sends at once`,
      `one is read, and the next after ${time(computeBodyPauseMs(table.requestsPerMinute.default))}; ${count(maxWaitingBodies)} wait`,
      "429 `rate_limited`, come again in a second",
    ],
    ["Arguments of a tool call", count(limits.maxArguments), "`validation_failed`"],
    ["Values in a request's JSON, however they are nested", count(limits.maxJsonValues), "400 `validation_failed`"],
    ["Things wrong with a request that are told", count(maxIssues), "the rest is not"],
    ["Time for requests under way when the program stops", set("shutdownSeconds", seconds), "they are cut off"],
    [
      "Requests a minute for invitations, from one address",
      count(requestsPerMinute),
      `429; so is an address beyond the first ${count(maxAddresses)} of a minute`,
    ],
  ],
  "Of one token": [
    ["Requests in any minute", set("requestsPerMinute", count), "429 `rate_limited` with `Retry-After`"],
    ["Time between two exports", set("exportIntervalSeconds", seconds), "429 `export_rate_limited` with `Retry-After`"],
    [
      "Tokens whose rate is remembered",
      count(maxLimitedTokens),
      "the oldest is forgotten; what it had leased counts as used",
    ],
    ["An idempotency key", `${limits.idempotencyKeyChars} characters`, "400 `validation_failed`"],
    ["How long an idempotency key counts", seconds(limits.idempotencyTtlSeconds), "the request is carried out again"],
  ],
  MCP: [
    [
      "Messages a minute of one caller over HTTP, whatever they ask for",
      `${count(getMessagesPerMinute(table.requestsPerMinute.default))}; ${getMessagesPerMinute(0)} and twice the requests that a token may make`,
      "429 `rate_limited` with `Retry-After`, before the message is read",
    ],
    ["Messages of one batch", count(maxBatch), "400 `validation_failed`; each counts"],
    ["A message over stdio", bytes(STDIO_DEFAULT_MAX_BUFFER_SIZE), "the connection ends"],
    ["How long a session of a 2025-era client over HTTP lasts", time(sessionMs), "404; the client opens another"],
    [
      "Sessions of one caller that follow changes",
      count(sessionBounds.live),
      "what is remembered of the one that changed longest ago is forgotten",
    ],
    ["Streams of sessions", set("maxSessions", count), "503 `unavailable`"],
    ["Streams of one caller's sessions", count(maxStreamsPerCaller), "503 `unavailable`"],
    ["A client's answer to a question", `${count(maxAnswerChars)} characters`, "it is refused"],
    ["Streams of `subscriptions/listen` over HTTP", count(maxStreams), "refused: `Subscription limit reached`"],
    ["Those of one caller", count(maxStreamsPerCaller), "the same"],
    ["The same on one stdio connection", count(maxListens), "refused"],
    [
      "Resources followed by one client",
      count(maxFollowed),
      "refused; of one `subscriptions/listen` the rest is left out of the acknowledgement",
    ],
    [
      "Clients that follow changes, in one process",
      `${count(maxFeedWatchers)}; with the product's service ${count(maxRemoteWatchers)}`,
      "refused: `unavailable`",
    ],
    ["Notifications that a client leaves unread", count(maxUnread), "its stream ends; it listens again"],
    ["Changes told one by one at a time", count(maxChanges), "whoever follows anything is told to read it again"],
    [
      "A tool result's data",
      set("resultBytes", bytesOrPlain),
      "lists are cut between rows with a cursor, records lose their largest fields; a note says so",
    ],
    ["Rows of a list, where a call does not say how many", count(limits.toolRows), "a cursor leads on"],
    ["Rows that one call with `all` gathers", count(limits.gatheredRows), "a cursor leads on"],
    ["Tools that `find_tools` names", count(maxMatches), "the best are named"],
    ["How long a confirmation holds", time(confirmationTtlMs), "`confirmation_invalid`: it is asked again"],
    [
      "Waiting for an export with `wait`",
      set("exportWaitSeconds", seconds),
      "the job as it is, with a note; it goes on",
    ],
    ["A resource's URI", `${count(maxUriChars)} characters`, "it is not found"],
    ["A prompt's argument", `${count(maxArgumentChars)} characters`, "refused"],
    ["Completions of one argument", count(maxValues), "`hasMore` is true"],
  ],
  "Lists and records": [
    [
      "Rows of a page",
      `${maxLimit}; ${defaultLimit} where a request does not say`,
      `a larger \`limit\` is read as ${maxLimit}, one below 1 is 400 \`validation_failed\`; a cursor leads on`,
    ],
    [
      "Ids in `includePersonFieldIds`, as they are sent",
      `${limits.expandedFieldIds}, the same twice is two`,
      "400 `validation_failed`",
    ],
    ["Rows of a page with a person's fields", count(limits.expandedRows), "the others have none"],
    ["People of an export with a person record", count(limits.exportedPersons), "the others have none"],
    ["Assignments in one bulk request", count(limits.bulkAssignments), "400 `validation_failed`"],
    ["Assignments planned at once", count(maxPlanned), "the next run goes on where it stopped"],
    ["Pairs left out of a plan that the answer names", count(maxSkipped), "the rest is not"],
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
    ["How long the link of an invitation works", seconds(limits.invitationSeconds), "invite again"],
    ["External references of a person, over all changes", count(maxExternalRefs), "400 `validation_failed`"],
    ["Metadata of a person", bytes(maxMetadataBytes), "400 `validation_failed`"],
    [
      "A text in a field; entries of a list in one, and each of them",
      `${count(limits.fieldChars)} characters; ${count(limits.fieldItems)}, of ${count(limits.fieldItemChars)} characters`,
      "400 `validation_failed`",
    ],
    ["Time for a pattern of a schema to match", time(patternBudgetMs), "the value counts as unfit"],
    [
      "How long a download link of a file works, and of an export",
      `${seconds(limits.fileLinkSeconds)} and ${time(limits.exportLinkSeconds * 1000)}`,
      "404; a new one is to be had",
    ],
  ],
  "The product's own service": [
    [
      "A call, its repetitions included",
      set("timeoutSeconds", seconds),
      "`upstream_timeout`; of a change that may have been made, `upstream_uncertain`",
    ],
    ["Tries of a call", count(upstreamAttempts), "what the last one met"],
    ["Waiting for a token's turn", time(maxWaitMs), "`rate_limited` with when to come again"],
    [
      "Failures in a row before calls are held back",
      count(failuresToOpen),
      `\`upstream_unavailable\` at once, for ${time(firstPauseMs)} at first and ${time(maxPauseMs)} at most; then one call tries`,
    ],
    ["Connections", count(connections), "calls wait for one within their time"],
    ["An answer", bytes(maxAnswerBytes), "`upstream_invalid_answer`"],
    ["Tokens whose rate is remembered", count(maxPacedTokens), "the one that was used longest ago is forgotten"],
  ],
  "Webhooks that go out": [
    ["Endpoints of an organisation", count(maxEndpoints), "refused"],
    [
      "Attempts at once",
      set("webhookConcurrency", count),
      "the others wait; a quarter of the places is for receivers that fail or are slow",
    ],
    [
      "Attempts at once to one endpoint",
      `${perEndpoint}; one while it fails or has taken more than ${time(slowMs)} in the last ${time(slowForMs)}`,
      "the others wait",
    ],
    ["An attempt", time(attemptTimeoutMs), "it has failed"],
    [
      "Attempts at a delivery",
      count(webhookRetryDelaysMs.length + 1),
      "the delivery has failed; `webhook replay` makes another",
    ],
    ["A wait that a receiver asks for", time(maxRetryAfterMs), "no longer is waited"],
    ["Time of nothing but failure", time(giveUpAfterMs), "the endpoint is disabled"],
    ["What is kept of a receiver's answer", bytes(answerBytes), "the rest is not read"],
    ["An endpoint's address", `${count(maxUrlChars)} characters`, "refused"],
  ],
  "Webhooks that come in": [
    ["A delivery", bytes(maxEventBytes), "413"],
    ["Time for it to arrive", time(bodyTimeoutMs), "the connection is closed"],
    ["Difference of clocks", time(toleranceMs), "refused as a replay"],
    ["Events kept of one webhook", `${count(maxEvents)}, for ${time(keptMs)}`, "the oldest are forgotten"],
  ],
  "Mail and exports": [
    ["Messages on their way at once", set("mailConcurrency", count), "the others wait"],
    ["Handing over a message", set("smtpTimeoutSeconds", seconds), "it is tried again, or of unknown fate"],
    ["Attempts at a message", count(mailDelaysMs.length + 1), "it has failed; `mail retry` queues it again"],
    ["Messages over one connection", count(maxMessages), "another is opened"],
    ["Exports worked on at once, in one process", count(exportLanes), "the others wait"],
    ["Attempts at an export", count(exportAttempts), "it has failed"],
    ["An export's file", bytes(limits.maxExportBytes), "it has failed: `artifact_too_large`"],
    ["How long a finished export is kept", seconds(limits.exportRetentionSeconds), "404; ask for another"],
  ],
  "The program itself": [
    [
      "Waiting for the database to let a transaction begin",
      time(defaultBusyTimeoutMs),
      "503 `unavailable`, come again",
    ],
    [
      "Connections to a PostgreSQL database",
      set("databaseConnections", count),
      "transactions wait for one within that time",
    ],
    [
      "Requests that still have to be recorded in the audit log",
      count(maxQueued),
      "further ones wait until they are; at twice as many 503 `unavailable`",
    ],
    ["The file of gateway keys", bytes(maxFileBytes), "it is not taken; the keys that were read before stay"],
    ["Asking an OAuth issuer for its keys", time(fetchTimeoutMs), "503 `unavailable`"],
    ["Tokens of an issuer that are remembered", count(maxRemembered), "the oldest is checked again when it comes"],
    ["A text in the log", `${count(maxLogTextChars)} characters`, "it is cut, with its length"],
    ["How long a look for `/readyz` is good", time(goodForMs), "the database is asked again"],
    ["Room on the disk of a SQLite database", bytes(minFreeBytes), "with less `/readyz` sends requests elsewhere"],
    ["Connections to `/metrics`", count(maxMetricsConnections), "one more is closed as it comes"],
    ["Work of a queue that metrics count", count(maxCountedBacklog), "more is told as that many"],
    [
      "Spans that wait to be sent",
      `${count(readBatching({}).maxQueueSize)} (OTEL_BSP_MAX_QUEUE_SIZE)`,
      "further ones are dropped; the log says how many",
    ],
  ],
};

/** A number of bytes that is no power of two. */
function bytesOrPlain(number: number): string {
  return `${count(number)} bytes`;
}

/** `docs/limits.md`, from the limits themselves. */
export function limitsPage(): string {
  const told = Object.entries(sections).map(
    ([title, rows]) => `## ${title}

| what | limit | when it is reached |
| --- | --- | --- |
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}
`,
  );
  return `# Limits

<!-- Generated by \`npm run gen\` from the limits in the code. -->

Everything that somebody else can make grow has a bound. Those with a variable beside them can be changed; the others are the same everywhere.

${told.join("\n")}
${argumentLimits()}`;
}
