import type { Message } from "./message.ts";

/** What came of an attempt to send a message. */
export type DeliveryResult =
  | { readonly kind: "accepted" }
  /** For good; `noMailbox`: the address is one that nothing can be sent to. */
  | {
      readonly kind: "refused";
      readonly status: "bounced" | "failed";
      readonly error: string;
      readonly noMailbox: boolean;
    }
  /** Not now; `serverTrouble`: nor would any other message be taken. */
  | { readonly kind: "deferred"; readonly error: string; readonly serverTrouble: boolean }
  /** It was handed over and no answer came: it may have been taken or not. */
  | { readonly kind: "uncertain" }
  /** Given up before it was handed over. */
  | { readonly kind: "stopped" };

/** Takes messages to where they go, one at a time. */
export interface MailTransport {
  /**
   * Attempts to send a message; never throws for what others do.
   * @param handOver - to be called once, right before the message could be taken; when it gives false, it must not be
   * @param signal - that the attempt is to end: at once while nothing was handed over, in good time afterwards
   */
  deliver(message: Message, handOver: () => Promise<boolean>, signal: AbortSignal): Promise<DeliveryResult>;
  /** Lets go of what was kept for the next message. */
  rest(): void;
}
