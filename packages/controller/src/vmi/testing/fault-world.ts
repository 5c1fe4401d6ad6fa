import {
  decodeGrant,
  encodeGrant,
  freeGrant,
  type Grant,
  grantAnnotation,
  type Holder,
} from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VirtualMachineInstancePhase } from "@virtkit/api/schema";
import { KubeError, type KubeObject } from "@virtkit/kube";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import type { PlannedWrite } from "../../plan/index.ts";
import type { PodObject } from "../cluster-objects.ts";
import type { GrantRules } from "../grant-view.ts";
import { vmiReconciler } from "../vmi-reconciler.ts";
import type { VmiView } from "../vmi-view.ts";
import { sampleConfig, sampleNow, sampleView, sampleVmi } from "./sample-view.ts";
import { SmallCluster } from "./small-cluster.ts";

/** What goes wrong, and with which write or look of the controllers. */
export interface Fault {
  readonly kind:
    | "none"
    /** The write is refused. */
    | "refused"
    /** The write happens, and no answer comes. */
    | "lost"
    /** No answer comes, and the write happens later. */
    | "late"
    /** The controller dies before the write. */
    | "crash"
    /** For some looks the caches are as they were at the beginning. */
    | "stale";
  readonly at: number;
}

const plural = "virtualmachineinstances";
const { finalizers, groups, own } = names();
const grantKey = own(grantAnnotation);
const owner = { apiVersion: `${groups.core}/v1`, kind: "VirtualMachine" };
const profile = virtkitLauncherProfile({ image: "launcher:1" });
const noAnswer = () => new KubeError("KUBE_TIMEOUT", "no answer");

/** Two controllers, a kubelet and a node agent on each of two nodes, and the VM's own controller. */
export class FaultWorld {
  readonly cluster: SmallCluster = new SmallCluster();
  /** UIDs of the Pods whose guest runs. */
  readonly running: Set<string> = new Set();
  readonly problems: string[] = [];
  writes = 0;
  /** Whether the VM wants its guest. */
  isWanted = true;
  readonly #fault: Fault;
  readonly #nodes = new Map([
    ["n1", { isUp: true, boot: 1 }],
    ["n2", { isUp: true, boot: 1 }],
  ]);
  /** What the VM remembers, by Pod. */
  readonly #remembered = new Map<string, Holder>();
  readonly #claimed = new Set<string>();
  readonly #controllers: (() => Promise<unknown>)[];
  readonly #rules: GrantRules | undefined;
  #isStripped = false;
  #late: PlannedWrite | undefined;
  #looks = 0;
  #first: readonly [string, KubeObject][] | undefined;
  #lives = 0;
  #containers = 0;

  constructor(fault: Fault, rules?: GrantRules) {
    this.#fault = fault;
    this.#rules = rules;
    this.#controllers = [this.#controller(), this.#controller()];
  }

  get vmi(): VirtualMachineInstance | undefined {
    return this.cluster.present<VirtualMachineInstance>(plural, "vm");
  }

  /** Everybody does one step. */
  async round(): Promise<void> {
    this.#collectGarbage();
    this.#ownVm();
    for (const name of this.#nodes.keys()) this.#kubelet(name);
    this.#agents();
    this.#check();
    for (const look of this.#controllers) {
      await look().catch(() => undefined);
      this.#check();
    }
    await this.#land();
    this.#check();
  }

  /** Rounds until nothing changes any more. */
  async settle(): Promise<void> {
    for (let quiet = 0, last = ""; quiet < 8; ) {
      await this.round();
      const now = JSON.stringify([this.cluster.all("pods"), this.cluster.all(plural)]);
      quiet = now === last && !this.#late ? quiet + 1 : 0;
      last = now;
    }
  }

  /** The user deletes the VMI. */
  remove(): void {
    if (!this.vmi) return;
    this.cluster.change<VirtualMachineInstance>(plural, "vm", (vmi) => ({
      ...vmi,
      metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", ...vmi.metadata },
    }));
  }

  /** The guest crashes. */
  crash(): void {
    this.running.clear();
  }

  /** The node of the guest is cut off; what runs there runs on. */
  isolate(): void {
    const [pod] = this.cluster.all<PodObject>("pods");
    const node = this.#nodes.get(String(pod?.spec?.nodeName));
    if (node) node.isUp = false;
  }

  /** The user removes all Pods, whatever holds them. */
  stripPods(): void {
    for (const { metadata } of this.cluster.all<PodObject>("pods")) {
      this.cluster.drop("pods", String(metadata?.name));
    }
  }

  /** The user removes the VMI, whatever holds it; that its guest runs on is nobody else's fault. */
  stripVmi(): void {
    this.#isStripped = true;
    this.cluster.drop(plural, "vm");
  }

  /** Nodes that are cut off boot anew: what ran there has ended. */
  reboot(): void {
    for (const node of this.#nodes.values()) {
      if (node.isUp) continue;
      this.running.clear();
      node.boot++;
      node.isUp = true;
    }
  }

  /** What belongs to a VMI that is gone is marked for deletion. */
  #collectGarbage(): void {
    const uid = this.vmi?.metadata?.uid;
    for (const { metadata } of this.cluster.all<PodObject>("pods")) {
      if (metadata?.ownerReferences?.[0]?.uid === uid || metadata?.deletionTimestamp) continue;
      this.cluster.change<PodObject>("pods", String(metadata?.name), (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
      }));
    }
  }

  /**
   * Makes the next VMI when the last one is gone. The VM's finalizer holds a VMI until the VM has seen that its
   * grant has ended, and has forgotten its holders.
   */
  #ownVm(): void {
    const { vmi: present } = this;
    const value = present?.metadata?.annotations?.[grantKey];
    const { state } = decodeGrant(value, String(present?.metadata?.uid));
    if (present && state === "Ended" && present.metadata?.deletionTimestamp) {
      this.#remembered.clear();
      this.cluster.change<VirtualMachineInstance>(plural, "vm", (vmi) => ({
        ...vmi,
        metadata: {
          ...vmi.metadata,
          finalizers: (vmi.metadata?.finalizers ?? []).filter((each) => each !== finalizers.vm),
        },
      }));
    }
    if (!this.isWanted || this.vmi) return;
    const vmi = sampleVmi({ phase: "Pending" });
    const metadata = {
      ...vmi.metadata,
      uid: `vmi-${++this.#lives}`,
      annotations: { ...vmi.metadata?.annotations, [grantKey]: encodeGrant(freeGrant) },
      finalizers: [finalizers.vmi, finalizers.vm],
      ownerReferences: [{ ...owner, name: "vm", uid: "vm-uid", controller: true }],
    };
    this.cluster.put(plural, { ...vmi, metadata });
  }

  #kubelet(name: string): void {
    const node = this.#nodes.get(name);
    for (const pod of this.cluster.all<PodObject>("pods")) {
      const placed = pod.spec?.nodeName ?? this.#free();
      if (!node?.isUp || placed !== name) continue;
      const uid = String(pod.metadata?.uid);
      const before = pod.status?.containerStatuses?.[0];
      const containerID = before?.containerID ?? `c-${++this.#containers}`;
      const hasClaimed = this.#claimed.has(uid);
      const isOver =
        Boolean(pod.metadata?.deletionTimestamp) ||
        Boolean(before?.state?.terminated) ||
        (hasClaimed && !this.running.has(uid));
      if (isOver) this.running.delete(uid);
      const state = isOver
        ? { terminated: { exitCode: 0, reason: "Completed", containerID } }
        : { running: {} };
      this.cluster.change<PodObject>("pods", String(pod.metadata?.name), (each) => ({
        ...each,
        spec: { ...each.spec, nodeName: name },
        status: {
          ...each.status,
          phase: isOver ? "Succeeded" : "Running",
          containerStatuses: [{ name: "compute", ready: !isOver, containerID, state }],
        },
      }));
    }
  }

  #free(): string {
    return [...this.#nodes].find(([, { isUp }]) => isUp)?.[0] ?? "";
  }

  #agents(): void {
    const { vmi } = this;
    if (!vmi) return;
    const grant = decodeGrant(vmi.metadata?.annotations?.[grantKey], String(vmi.metadata?.uid));
    const pods = this.cluster.all<PodObject>("pods");
    const isAt = (podUID: string) => pods.find(({ metadata }) => metadata?.uid === podUID);
    if (grant.state === "Granted") {
      const pod = isAt(grant.podUID);
      const status = pod?.status?.containerStatuses?.[0];
      if (vmi.status?.phase !== "Scheduled" || !status?.state?.running) return;
      const node = String(pod?.spec?.nodeName);
      const holder = this.#holder(grant.podUID, String(status.containerID), node);
      const { vmiUID, epoch, seq } = grant;
      this.#remembered.set(grant.podUID, holder);
      this.#claimed.add(grant.podUID);
      this.running.add(grant.podUID);
      this.#tell(vmi, "Running", { state: "Claimed", vmiUID, epoch, seq: seq + 1, holder });
    } else if (grant.state === "Claimed" && vmi.status?.phase === "Running") {
      const { holder, vmiUID, epoch, seq } = grant;
      const isSeen = this.#nodes.get(holder.node)?.isUp && isAt(holder.podUID);
      if (!isSeen || this.running.has(holder.podUID)) return;
      this.#tell(vmi, "Succeeded", { state: "Ended", vmiUID, epoch, seq: seq + 1 });
    }
  }

  #holder(podUID: string, containerID: string, node: string): Holder {
    const bootID = `${node}-${this.#nodes.get(node)?.boot}`;
    return { podUID, containerID, node, machineID: `m-${node}`, bootID, nonce: podUID };
  }

  #tell(vmi: VirtualMachineInstance, phase: VirtualMachineInstancePhase, grant: Grant): void {
    const annotations = { ...vmi.metadata?.annotations, [grantKey]: encodeGrant(grant) };
    const metadata = { ...vmi.metadata, annotations };
    this.cluster.put(plural, { ...vmi, metadata, status: { ...vmi.status, phase } });
  }

  #controller(): () => Promise<unknown> {
    const reconcile = vmiReconciler({
      target: { write: (write) => this.#write(write) },
      record: () => undefined,
      sources: { cached: () => this.#cached(), live: async () => this.#view(this.cluster, true) },
      config: () => ({ ...sampleConfig, profile }),
      wall: () => new Date(sampleNow),
    });
    return () => reconcile({ namespace: "ns", name: "vm" });
  }

  #cached(): VmiView {
    this.#looks++;
    const { kind, at } = this.#fault;
    if (this.#looks === 3) this.#first = this.cluster.entries();
    const isStale = kind === "stale" && this.#looks > at && this.#looks <= at + 4 && this.#first;
    return this.#view(isStale ? SmallCluster.from(isStale) : this.cluster, false);
  }

  #view(cluster: SmallCluster, isLive: boolean): VmiView {
    const pods = cluster.all<PodObject>("pods");
    const vmi = cluster.present<VirtualMachineInstance>(plural, "vm");
    const nodes = [...this.#nodes].map(([name, { isUp, boot }]) => ({
      metadata: { name },
      status: {
        nodeInfo: { machineID: `m-${name}`, bootID: `${name}-${boot}` },
        conditions: [{ type: "Ready", status: isUp ? "True" : "Unknown" }],
      },
    }));
    const present = new Set(pods.map(({ metadata }) => metadata?.uid));
    const remembered = [...this.#remembered.values()]
      .filter(({ podUID }) => !present.has(podUID))
      .map((holder) => ({ holder, proofs: [] }));
    const grant = { isLive, pods, nodes, isRemembered: () => true, remembered };
    const rules = this.#rules ? { rules: this.#rules } : {};
    const vm = { metadata: { uid: "vm-uid" } };
    return sampleView({ vmi, vm, pods, grant: { ...grant, ...rules } });
  }

  async #write(write: PlannedWrite): Promise<KubeObject | undefined> {
    this.writes++;
    const { kind, at } = this.#fault;
    if (this.writes !== at || kind === "none" || kind === "stale") return this.cluster.write(write);
    if (kind === "crash") throw new Error("the controller dies");
    if (kind === "refused") {
      throw new KubeError("KUBE_STATUS", "no", { status: 500, reason: "InternalError" });
    }
    if (kind === "late") this.#late = write;
    else await this.cluster.write(write);
    throw noAnswer();
  }

  /** A write that nobody waits for any more; the server may refuse it by now. */
  async #land(): Promise<void> {
    const late = this.#late;
    this.#late = undefined;
    if (late) await this.cluster.write(late).catch(() => undefined);
  }

  #check(): void {
    if (this.running.size > 1) this.problems.push(`${this.running.size} copies run`);
    if (!this.vmi && this.running.size > 0 && !this.#isStripped) {
      this.problems.push("the VMI is let go while its guest runs");
    }
  }
}
