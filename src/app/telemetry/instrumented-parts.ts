import type { OperationCall, Telemetry, WorkOutcome } from "../../lib/telemetry.ts";
import type { MailTransport } from "../../mail/mail-transport.ts";
import type { OperationPipeline } from "../../pipeline/execute.ts";
import type { HttpClient } from "../../upstream/remote/http-client.ts";
import type { Sender } from "../../webhooks/sender.ts";

/** Wraps a pipeline to report its calls to telemetry under one surface. */
export function instrumentPipeline(
  pipeline: OperationPipeline,
  surface: OperationCall["surface"],
  telemetry: Telemetry,
): OperationPipeline {
  return {
    ...pipeline,
    execute: (call) =>
      telemetry.watch(
        { kind: "operation", name: call.operation, surface, requestId: call.requestId },
        () => pipeline.execute(call),
        (answer) => ({
          code: answer.ok ? "ok" : answer.problem.code,
          status: answer.ok ? answer.status : answer.problem.status,
          caller: answer.caller,
        }),
      ),
  };
}

/** Wraps a client to report each attempt to telemetry and to send the trace headers. */
export function instrumentClient(client: HttpClient, origin: string, telemetry: Telemetry): HttpClient {
  return {
    ...client,
    send: (request) =>
      telemetry.watch(
        { kind: "upstream", method: request.method, origin },
        () => {
          const trace = telemetry.traceHeaders();
          return client.send(trace ? { ...request, headers: { ...request.headers, ...trace } } : request);
        },
        ({ status }) => ({ code: status < 400 ? "ok" : status < 500 ? "refused" : "failed", status }),
      ),
  };
}

export function instrumentSender(send: Sender, telemetry: Telemetry): Sender {
  const toOutcome = ({ error }: Awaited<ReturnType<Sender>>): WorkOutcome => ({
    code: error === null ? "ok" : "failed",
  });
  return (delivery, signal) =>
    telemetry.watch({ kind: "delivery", of: "webhook" }, () => send(delivery, signal), toOutcome);
}

export function instrumentTransport(transport: MailTransport, telemetry: Telemetry): MailTransport {
  return {
    deliver: (...parcel) =>
      telemetry.watch(
        { kind: "delivery", of: "mail" },
        () => transport.deliver(...parcel),
        ({ kind }) => ({ code: kind === "accepted" ? "ok" : kind }),
      ),
    close: () => transport.close(),
  };
}
