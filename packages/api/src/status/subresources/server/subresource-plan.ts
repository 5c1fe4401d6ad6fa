import type { Write } from "../../plan.ts";
import type { NodeRequest } from "../node/index.ts";
import type { Refusal } from "../outcome.ts";

/** What a request to a subresource requires. Nothing has happened yet. */
export type SubresourcePlan =
  | Refusal
  | PlannedWrites
  | PlannedNodeCall
  | PlannedDial
  | PlannedAnswer;

/** Writes to the API server, in order; the code applies when all have succeeded. */
export interface PlannedWrites {
  readonly kind: "writes";
  readonly code: 200 | 202;
  readonly writes: readonly Write[];
  /** What undoes the first write if a later one fails. */
  readonly undo?: Write;
}

/** A request to the agent of the VMI's node. */
export interface PlannedNodeCall {
  readonly kind: "node";
  readonly node: string;
  readonly address: string;
  /** The VMI that was read: another one of the same name is refused. */
  readonly vmiUid: string;
  readonly request: NodeRequest;
  /** Passed on unchanged. */
  readonly body: string;
  readonly code: 200 | 202;
}

/** A connection to a port of the guest. */
export interface PlannedDial {
  readonly kind: "dial";
  readonly protocol: "tcp" | "udp";
  readonly address: string;
  readonly port: number;
}

/** An immediate answer. */
export interface PlannedAnswer {
  readonly kind: "answer";
  readonly code: 200;
  /** Sent as JSON; `undefined` is an empty body. */
  readonly body?: unknown;
}
