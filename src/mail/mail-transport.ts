import type { Message } from "./message.ts";

/** The result of an attempt to send a message. */
export type DeliveryResult =
  | { readonly kind: "accepted" }
  /** Refused permanently. `noMailbox`: the address does not exist. */
  | {
      readonly kind: "refused";
      readonly status: "bounced" | "failed";
      readonly error: string;
      readonly noMailbox: boolean;
    }
  /** Refused for now. `serverTrouble`: the server would refuse any message. */
  | { readonly kind: "deferred"; readonly error: string; readonly serverTrouble: boolean }
  /** Handed over without an answer: the server may have accepted it or not. */
  | { readonly kind: "uncertain" }
  /** Stopped before the message was handed over. */
  | { readonly kind: "stopped" };

/** Delivers messages, one at a time. */
export interface MailTransport {
  /**
   * Attempts to send a message; never throws for a fault of the server.
   * @param handOver - called once, right before the server could accept the message; if it returns false, the message must not be sent
   * @param signal - ends the attempt: at once before the message is handed over, soon afterwards
   */
  deliver(message: Message, handOver: () => Promise<boolean>, signal: AbortSignal): Promise<DeliveryResult>;
  /** Closes the connection that is open for the next message. */
  close(): void;
}
