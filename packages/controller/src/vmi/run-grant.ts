import {
  decide,
  decodeGrant,
  encodeGrant,
  type GrantRequest,
  grantAnnotation,
  type Holder,
  mayDestroy,
  mayForget,
  type ProofOfEnd,
  type ReadGrant,
  type Refused,
} from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import { proofsFromNode } from "@virtkit/api/proofs";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at, entry, text } from "@virtkit/api/shape";
import { conditionsOf, hasCondition } from "@virtkit/api/status";
import type { TextMap } from "../plan/map-patch.ts";
import type { PodObject } from "./cluster-objects.ts";
import type { GrantRules, GrantView } from "./grant-view.ts";
import { evidenceOf, incarnationsOf, namedBy, namesPod } from "./incarnations.ts";
import { isControlledBy } from "./own-pods.ts";
import type { SyncFailure } from "./sync-failure.ts";

/** Why a VMI may not run or is not released: the reason of its condition `Synchronized`. */
export const grantRefused = "RunGrantRefused";

/** What every grant contains once somebody has it. */
type Counted = Pick<Extract<ReadGrant, { state: "Claimed" }>, "vmiUID" | "epoch" | "seq">;

/** The rules used in production. */
export const grantRules: GrantRules = { decide, mayDestroy, mayForget };

/** The run grant in one pass: who may run the guest, and what may be done to Pods as a result. */
export class RunGrant {
  readonly #vmi: VirtualMachineInstance;
  readonly #names: Names;
  readonly #view: GrantView;
  readonly #rules: GrantRules;
  #next: ReadGrant;
  #needsLiveRead = false;
  /** The VMI's present grant. */
  readonly read: ReadGrant;

  constructor(vmi: VirtualMachineInstance, names: Names, view: GrantView) {
    this.#vmi = vmi;
    this.#names = names;
    this.#view = view;
    this.#rules = view.rules ?? grantRules;
    const value = entry(vmi.metadata?.annotations, this.#annotation);
    this.read = decodeGrant(value, text(vmi.metadata?.uid));
    this.#next = this.read;
  }

  /** The annotation with the decision; undefined if there is none. */
  get annotations(): TextMap {
    const next = this.#next;
    if (next === this.read || next.state === "Invalid") return {};
    return { [this.#annotation]: encodeGrant(next) };
  }

  /** Whether there was a decision that must not be made from a cache. */
  get needsLiveRead(): boolean {
    return this.#needsLiveRead;
  }

  /** What is decided next must not be decided from a cache. */
  requireLiveRead(): void {
    this.#isLive();
  }

  /** Whether nothing runs or ever will for this VMI, and it has no Pod left. */
  get isOver(): boolean {
    const isOwn = (pod: PodObject): boolean => isControlledBy(pod, this.#vmi);
    const looksOver = this.#next.state === "Ended" && !this.#view.pods.some(isOwn);
    return looksOver && this.#isLive();
  }

  /**
   * Whether the guest was lost in a handover: both sides are proven to have ended, and nobody else will report it, because
   * one of them ended with its node, or because the migration is over and each agent assumes that the guest was on the
   * other side.
   */
  get isLost(): boolean {
    const { read } = this;
    if (!("target" in read) || "refused" in this.#rules.decide(read, this.#ending)) return false;
    const wentWithNode = this.#isProvenBy(this.#proofsOfNodes);
    const isOver = this.#vmi.status?.migrationState?.completed === true;
    const isUnseen = isOver || namedBy(read).some((holder) => wentWithNode(read, holder));
    return isUnseen && this.#isLive();
  }

  /**
   * Whether a Pod's guest was lost with its node, which is reported to be off: then no agent will
   * ever say so. If the node has rebooted, its agent is back and reports the end.
   */
  isFencedIn(pod: PodObject): boolean {
    const { read } = this;
    if (read.state !== "Claimed" && read.state !== "Granted") return false;
    const fences = this.#proofsOfNodes.filter(({ kind }) => kind === "fenced");
    const holders = incarnationsOf(pod, read, this.#view);
    if (fences.length === 0 || holders.length === 0) return false;
    const isProven = this.#isProvenBy(fences);
    return holders.every((holder) => isProven(read, holder)) && this.#isLive();
  }

  get #proofsOfNodes(): readonly ProofOfEnd[] {
    return this.#view.nodes.flatMap(proofsFromNode);
  }

  /** Whether a holder that had claimed the guest would be proven to have ended. */
  #isProvenBy(proofs: readonly ProofOfEnd[]) {
    const request = { ...this.#ending, proofs };
    return ({ vmiUID, epoch, seq }: Counted, holder: Holder): boolean =>
      !("refused" in this.#rules.decide({ vmiUID, epoch, seq, state: "Claimed", holder }, request));
  }

  /** The number of the next holder. */
  get nextEpoch(): number {
    return (this.read.state === "Invalid" ? 0 : this.read.epoch) + 1;
  }

  /** Whether the caches show that the VM does not remember a Pod yet: then it cannot be granted. */
  isUnremembered(pod: PodObject): boolean {
    return !this.#view.isLive && !this.#view.isRemembered(text(pod.metadata?.uid));
  }

  /** Lets the VMI's Pod claim the guest, or returns why not. */
  giveTo(pod: PodObject): SyncFailure | undefined {
    const podUID = text(pod.metadata?.uid);
    if (this.read.state === "Granted" && this.read.podUID === podUID) return undefined;
    if (!this.#isLive()) return undefined;
    const { pods } = this.#view;
    const proofs = evidenceOf(this.#view);
    const remembered = this.#view.remembered.map(({ holder, proofs: own }) => ({
      holder,
      proofs: [...own, ...proofs],
    }));
    const listed = pods
      .filter((each) => !isControlledBy(each, this.#vmi))
      .flatMap((each) => incarnationsOf(each, undefined, this.#view))
      .map((holder) => ({ holder, proofs }));
    return this.#swap({
      kind: "grant",
      vmiUID: text(this.#vmi.metadata?.uid),
      podUID,
      proofs,
      remembered: this.#view.isRemembered(podUID),
      earlier: { remembered, listed, live: this.#view.isLive },
    });
  }

  /** Whether the guest may run in a Pod, leave it, or arrive there. */
  isFor(pod: PodObject): boolean {
    return namesPod(this.read, pod);
  }

  /** Whether a migration is handing over the guest. */
  get isMoving(): boolean {
    return "target" in this.read;
  }

  /** Whether this migration is handing over the guest. */
  isHandedOver(migrationUID: string): boolean {
    return "target" in this.#next && this.#next.migrationUID === migrationUID;
  }

  /** Lets the target of a migration receive the guest, or returns why not. */
  handOver(handover: {
    readonly target: Holder;
    readonly migrationUID: string;
    readonly sourceRuns: boolean;
  }): SyncFailure | undefined {
    if (!this.#isLive()) return undefined;
    const remembered = this.#view.isRemembered(handover.target.podUID);
    return this.#swap({ kind: "handOver", remembered, ...handover });
  }

  /**
   * Ends the grant if it is proven that nothing runs. Otherwise returns who may still run, once no
   * proof can be expected any more.
   */
  end(): SyncFailure | undefined {
    if (this.read.state === "Ended") return undefined;
    const request = this.#ending;
    const isRefused = "refused" in this.#rules.decide(this.read, request);
    // A cache is enough to see that there is nothing to do yet.
    if ((isRefused && this.#isProofDue()) || !this.#isLive()) return undefined;
    return this.#swap(request);
  }

  /** The request to end the grant, with everything that is known about ends. */
  get #ending(): Extract<GrantRequest, { kind: "end" }> {
    const proofs = evidenceOf(this.#view);
    return { kind: "end", vmiUID: text(this.#vmi.metadata?.uid), proofs };
  }

  /** Whether the kubelets of the holders that the grant names are alive and will report. */
  #isProofDue(): boolean {
    const { pods, nodes } = this.#view;
    const named = namedBy(this.read);
    const isReporting = ({ podUID, node: name }: Holder): boolean => {
      const node = nodes.find((each) => at(each, "metadata", "name") === name);
      return (
        pods.some(({ metadata }) => metadata?.uid === podUID) &&
        hasCondition(conditionsOf(Object(node)), "Ready", "True")
      );
    };
    return named.length > 0 && named.every(isReporting);
  }

  /**
   * Why a Pod of this VMI may not be deleted; undefined if it may. A Pod that may have the guest may be deleted only if the
   * VMI itself must end.
   */
  refuseDeletion(pod: PodObject, { isEnding }: { readonly isEnding: boolean }): string | undefined {
    if (!this.#isLive()) return "the run grant was read from a cache";
    const proofs = evidenceOf(this.#view);
    for (const holder of incarnationsOf(pod, this.read, this.#view)) {
      const refused = this.#rules.mayDestroy({
        holder,
        grant: this.read,
        live: this.#view.isLive,
        released: false,
        proofs,
        by: "controller",
        ending: isEnding,
      });
      if (refused) return refused.reason;
    }
    return undefined;
  }

  get #annotation(): string {
    return this.#names.own(grantAnnotation);
  }

  #isLive(): boolean {
    if (!this.#view.isLive) this.#needsLiveRead = true;
    return this.#view.isLive;
  }

  #swap(request: GrantRequest): SyncFailure | undefined {
    const verdict = this.#rules.decide(this.read, request);
    if ("refused" in verdict) return refusedGrant(verdict, this.#view.advice);
    this.#next = verdict.grant;
    return undefined;
  }
}

/**
 * @param remembered what to check about holders that only the VM remembers, if their node is
 * unknown
 */
function refusedGrant(
  { refused, reason, whatAPersonMustCheck }: Refused,
  remembered: string | undefined,
): SyncFailure {
  const check = refused === "remembered-ended" ? remembered : undefined;
  if (check !== undefined) return { reason: grantRefused, message: check };
  const advice = whatAPersonMustCheck ? `; ${whatAPersonMustCheck}` : "";
  return { reason: grantRefused, message: `${reason}${advice}` };
}
