import type { Stage } from "@virtkit/api/timeline";
import type { DomainStatus } from "./domain-status.ts";

/** An event of a guest, in order. Plain JSON. */
export type GuestEvent = { readonly at: string } & (
  | /** The whole status, after any part of it has changed; the first item of every subscription. */
  { readonly kind: "status"; readonly status: DomainStatus }
  /** A handoff of the timeline has happened, or has failed. */
  | {
      readonly kind: "stage";
      readonly stage: Stage;
      readonly state: "done" | "failed";
      readonly message?: string;
    }
  /** Something that a person should know: KubeVirt creates a Kubernetes event for it. */
  | {
      readonly kind: "incident";
      readonly reason: "IOerror" | "GuestPanicked" | "GuestAgentPingFailed" | "Watchdog";
      readonly message: string;
    }
  /** Events may have been missed; the next item is the whole status. */
  | { readonly kind: "resync" }
);
