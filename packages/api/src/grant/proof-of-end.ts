import type { Holder } from "./grant.ts";
import type { GuardName, Must } from "./guards.ts";

/** The kubelet reported the compute container terminated. */
export interface ContainerTerminated {
  readonly kind: "containerTerminated";
  readonly containerID: string;
  /** The reason of the container's state, such as `Completed`, `Error`, `OOMKilled`. */
  readonly reason: string;
}

/** The node's agent saw the process end by its pidfd, or its cgroup empty. */
export interface ProcessGone {
  readonly kind: "processGone";
  readonly containerID: string;
  readonly bootID: string;
  /** `pidfd`: it watched the process itself. `cgroup`: it had seen the cgroup populated in this boot. */
  readonly seen: "pidfd" | "cgroup" | "emptyOnly";
}

/** The host has rebooted since. */
export interface BootChanged {
  readonly kind: "bootChanged";
  readonly machineID: string;
  /** The host's present boot. */
  readonly bootID: string;
}

/**
 * Somebody with authority says that the node is off, or cannot reach any storage: with the taint
 * node.kubernetes.io/out-of-service, or with `virtkit fence confirm`, which sets it for one boot.
 */
export interface Fenced {
  readonly kind: "fenced";
  readonly machineID: string;
  /** The boot that was fenced. */
  readonly bootID: string;
  /** Whether the Node was Ready when the statement was read. */
  readonly nodeReady: boolean;
}

/** A storage plug-in took the lease from this holder: it cannot write any more. */
export interface LeaseTaken {
  readonly kind: "leaseTaken";
  readonly containerID: string;
}

/**
 * Evidence that a holder has ended. It permits a cold start, never a resume of an old copy's memory.
 * Nothing else is a proof: not a missing Pod, an empty cache, a Pod's phase, or silence.
 */
export type ProofOfEnd = ContainerTerminated | ProcessGone | BootChanged | Fenced | LeaseTaken;

/** Whether one of the proofs proves this holder's end; otherwise the guard that the nearest one failed. */
export function provenEnd(
  proofs: readonly ProofOfEnd[],
  holder: Holder,
  must: Must,
): { readonly proven: true } | { readonly proven: false; readonly failed?: GuardName } {
  let failed: GuardName | undefined;
  for (const proof of proofs) {
    const failure = firstFailure(proof, holder, must);
    if (failure === undefined) return { proven: true };
    failed ??= failure;
  }
  return failed ? { proven: false, failed } : { proven: false };
}

function firstFailure(proof: ProofOfEnd, holder: Holder, must: Must): GuardName | undefined {
  return conditionsOf(proof, holder).find(([guard, holds]) => !must(guard, holds))?.[0];
}

/** What must hold for a proof to count. */
function conditionsOf(
  proof: ProofOfEnd,
  { containerID, machineID, bootID }: Holder,
): readonly (readonly [GuardName, boolean])[] {
  switch (proof.kind) {
    case "containerTerminated":
      return [
        ["proof-names-container", proof.containerID === containerID],
        ["status-known", proof.reason !== "ContainerStatusUnknown"],
      ];
    case "processGone":
      return [
        ["proof-names-container", proof.containerID === containerID],
        ["seen-populated", proof.seen !== "emptyOnly" && proof.bootID === bootID],
      ];
    case "bootChanged":
      return [
        ["same-machine", proof.machineID === machineID],
        ["other-boot", proof.bootID !== bootID],
      ];
    case "fenced":
      return [
        ["same-machine", proof.machineID === machineID],
        ["fence-names-boot", proof.bootID === bootID],
        ["fence-not-ready", !proof.nodeReady],
      ];
    case "leaseTaken":
      return [["proof-names-container", proof.containerID === containerID]];
    default:
      // Evidence from outside may be of any kind.
      return [["proof-kind", false]];
  }
}
