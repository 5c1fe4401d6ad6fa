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
import { evidenceOf, incarnationsOf, namedBy } from "./incarnations.ts";
import { isControlledBy } from "./own-pods.ts";
import type { SyncFailure } from "./sync-failure.ts";

/** Why a VMI is not let run, or not let go: the reason of its condition `Synchronized`. */
export const grantRefused = "RunGrantRefused";

/** What every grant says that somebody has got. */
type Counted = Pick<Extract<ReadGrant, { state: "Claimed" }>, "vmiUID" | "epoch" | "seq">;

/** The rules of production. */
export const grantRules: GrantRules = { decide, mayDestroy, mayForget };

/** The run grant in one pass: who may run the guest, and what may be done to Pods because of that. */
export class RunGrant {
  readonly #vmi: VirtualMachineInstance;
  readonly #names: Names;
  readonly #view: GrantView;
  readonly #rules: GrantRules;
  #next: ReadGrant;
  #needsLiveRead = false;
  /** As the VMI has it. */
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

  /** The annotation with what was decided; none if that is nothing. */
  get annotations(): TextMap {
    const next = this.#next;
    if (next === this.read || next.state === "Invalid") return {};
    return { [this.#annotation]: encodeGrant(next) };
  }

  /** Whether something was to be decided that a cache must not decide. */
  get needsLiveRead(): boolean {
    return this.#needsLiveRead;
  }

  /** Whether nothing runs, and nothing ever will for this VMI, and no Pod of it is left. */
  get isOver(): boolean {
    const isOwn = (pod: PodObject): boolean => isControlledBy(pod, this.#vmi);
    const looksOver = this.#next.state === "Ended" && !this.#view.pods.some(isOwn);
    return looksOver && this.#isLive();
  }

  /**
   * Whether the guest went in a handover: both sides are proven to have ended, and at least one of them with its node, so
   * that no agent there has seen it and will say so.
   */
  get isLost(): boolean {
    const { read } = this;
    if (!("target" in read) || "refused" in this.#rules.decide(read, this.#ending)) return false;
    const wentWithNode = this.#isProvenBy(this.#proofsOfNodes);
    return namedBy(read).some((holder) => wentWithNode(read, holder)) && this.#isLive();
  }

  /**
   * Whether the guest of a Pod went with its node, of which somebody says that it is off: then no agent will ever say so. That
   * of a node which is in another boot is left to its agent, which is there again.
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
    return this.#view.nodes.flatMap((node) => proofsFromNode(node, this.#names));
  }

  /** Whether one that had claimed the guest would be proven to have ended. */
  #isProvenBy(proofs: readonly ProofOfEnd[]) {
    const request = { ...this.#ending, proofs };
    return ({ vmiUID, epoch, seq }: Counted, holder: Holder): boolean =>
      !("refused" in this.#rules.decide({ vmiUID, epoch, seq, state: "Claimed", holder }, request));
  }

  /** The number of the next holder. */
  get nextEpoch(): number {
    return (this.read.state === "Invalid" ? 0 : this.read.epoch) + 1;
  }

  /** Lets the VMI's Pod claim the guest; else says why not. */
  giveTo(pod: PodObject): SyncFailure | undefined {
    const podUID = text(pod.metadata?.uid);
    if (this.read.state === "Granted" && this.read.podUID === podUID) return undefined;
    if (!this.#isLive()) return undefined;
    const { pods } = this.#view;
    const proofs = evidenceOf(this.#view, this.#names);
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

  /** Whether the guest is being handed over by this migration. */
  isHandedOver(migrationUID: string): boolean {
    return "target" in this.#next && this.#next.migrationUID === migrationUID;
  }

  /** Lets the target of a migration receive the guest; else says why not. */
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
   * Ends the grant, if it is proven that nothing runs. Else says who may still run, once no proof is to be
   * expected any more.
   */
  end(): SyncFailure | undefined {
    if (this.read.state === "Ended") return undefined;
    const request = this.#ending;
    const isRefused = "refused" in this.#rules.decide(this.read, request);
    // A cache is enough to see that nothing is to be done yet.
    if ((isRefused && this.#isProofDue()) || !this.#isLive()) return undefined;
    return this.#swap(request);
  }

  /** The request to end the grant, with all that is known of ends. */
  get #ending(): Extract<GrantRequest, { kind: "end" }> {
    const proofs = evidenceOf(this.#view, this.#names);
    return { kind: "end", vmiUID: text(this.#vmi.metadata?.uid), proofs };
  }

  /** Whether the kubelets of those that the grant names are there, and will report. */
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

  /** Whether a Pod of this VMI, which is to end, may be deleted; if not, why not. */
  refuseDeletion(pod: PodObject): string | undefined {
    if (!this.#isLive()) return "the run grant was read from a cache";
    const proofs = evidenceOf(this.#view, this.#names);
    for (const holder of incarnationsOf(pod, this.read, this.#view)) {
      const refused = this.#rules.mayDestroy({
        holder,
        grant: this.read,
        live: this.#view.isLive,
        released: false,
        proofs,
        by: "controller",
        ending: true,
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

/** @param remembered what to check of that which only the VM remembers, where nobody knows its node */
function refusedGrant(
  { refused, reason, whatAPersonMustCheck }: Refused,
  remembered: string | undefined,
): SyncFailure {
  const check = refused === "remembered-ended" ? remembered : undefined;
  if (check !== undefined) return { reason: grantRefused, message: check };
  const advice = whatAPersonMustCheck ? `; ${whatAPersonMustCheck}` : "";
  return { reason: grantRefused, message: `${reason}${advice}` };
}
