import type { Refusal } from "./refusal.ts";

/** What went wrong, for programs. */
export type NodeAgentErrorCode =
  /** An argument or a setting is not what it must be. */
  | "AGENT_ARGUMENT"
  /** The VMI asks for something that cannot be prepared. */
  | "AGENT_VMI_INVALID"
  /** Local mode cannot run the VMI on this host; nothing was made. */
  | "AGENT_REFUSED"
  /** The sandbox lacks something, or holds something that it must not. */
  | "AGENT_SANDBOX"
  /** The sandbox's process has ended. */
  | "AGENT_SANDBOX_GONE"
  /** A hotplugged volume is not in the Pod that was to bring it. */
  | "AGENT_VOLUME_MISSING"
  /** A journal on disk is not of this Pod, or cannot be read. */
  | "AGENT_JOURNAL"
  /** Another copy of the guest may still run. */
  | "AGENT_CLAIM_HELD"
  /** A claim on disk cannot be read. */
  | "AGENT_CLAIM_INVALID"
  /** A manifest is broken. */
  | "AGENT_MANIFEST"
  /** A step of a preparation failed. */
  | "AGENT_STEP"
  /** The launcher does not answer, or refused. */
  | "AGENT_LAUNCHER"
  /** The kubelet does not take a device plug-in, or a device is not there. */
  | "AGENT_DEVICE_PLUGIN"
  /** What libvirt says of the node lacks something. */
  | "AGENT_CAPABILITIES"
  /** A certificate was asked for and refused. */
  | "AGENT_CERTIFICATE"
  /** The kernel of a migration's target does not allow what its post-copy needs. */
  | "AGENT_POST_COPY"
  /** A port of a guest cannot be reached over VSOCK. */
  | "AGENT_VSOCK"
  /** Another client has taken the guest's console. */
  | "AGENT_CONSOLE_TAKEN"
  /** Another agent uses the same state directory. */
  | "AGENT_LOCKED"
  /** It took longer than the caller gave it. */
  | "AGENT_TIMEOUT";

/** Where it went wrong. */
export interface NodeAgentErrorOptions {
  /** Field, step or file. */
  readonly path?: string | undefined;
  readonly cause?: unknown;
  /** Of `AGENT_REFUSED`: all that keeps the VMI from running. */
  readonly refusals?: readonly Refusal[];
}

/** The only error that the node agent throws on purpose. The message names what was found and what to do. */
export class NodeAgentError extends Error {
  override readonly name = "NodeAgentError";
  readonly code: NodeAgentErrorCode;
  readonly path: string | undefined;
  readonly refusals: readonly Refusal[];

  constructor(
    code: NodeAgentErrorCode,
    message: string,
    { path, cause, refusals = [] }: NodeAgentErrorOptions = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.path = path;
    this.refusals = refusals;
  }
}

/** Whether a caught value is a {@link NodeAgentError}, from any copy of this package. */
export function isNodeAgentError(error: unknown): error is NodeAgentError {
  return error instanceof Error && error.name === "NodeAgentError" && "code" in error;
}
