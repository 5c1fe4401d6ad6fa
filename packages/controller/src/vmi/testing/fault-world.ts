import {
  type Claimed,
  decodeGrant,
  encodeGrant,
  freeGrant,
  type Grant,
  type Granted,
  grantAnnotation,
  type Handover,
  type Holder,
  type ReadGrant,
} from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import { fenceTaint } from "@virtkit/api/proofs";
import type { VirtualMachineInstance, VirtualMachineInstancePhase } from "@virtkit/api/schema";
import { KubeError, type KubeObject } from "@virtkit/kube";
import { virtkitLauncherProfile } from "@virtkit/launcher-pod";
import type { PlannedWrite } from "../../plan/index.ts";
import type { PodObject } from "../cluster-objects.ts";
import type { GrantRules } from "../grant-view.ts";
import { RunGrant } from "../run-grant.ts";
import { vmiReconciler } from "../vmi-reconciler.ts";
import type { VmiView } from "../vmi-view.ts";
import { GuestState } from "./guest-state.ts";
import { PhaseWatch } from "./phase-watch.ts";
import { sampleConfig, sampleNow, sampleView, sampleVmi } from "./sample-view.ts";
import { SmallCluster } from "./small-cluster.ts";

/** What goes wrong, and at which write or look of the controllers. */
export interface Fault {
  readonly kind:
    | "none"
    /** The write is refused. */
    | "refused"
    /** The write happens, but the answer is lost. */
    | "lost"
    /** The answer is lost, and the write happens later. */
    | "late"
    /** The controller dies before the write. */
    | "crash"
    /** For some looks the caches stay as they were at the beginning. */
    | "stale";
  readonly at: number;
}

const plural = "virtualmachineinstances";
const { finalizers, groups, labels, own } = names();
const grantKey = own(grantAnnotation);
const owner = { apiVersion: `${groups.core}/v1`, kind: "VirtualMachine" };
const profile = virtkitLauncherProfile({ image: "launcher:1" });
const noAnswer = () => new KubeError("KUBE_TIMEOUT", "no answer");

/** A node: the machine that has its name now, and what is reported about it. */
interface FaultNode {
  isUp: boolean;
  machine: string;
  boot: number;
  /** Whether it has the out-of-service taint. */
  isTainted: boolean;
  /** The boot that a person has confirmed to be over. */
  fencedBoot: string | undefined;
}

const newNode = (name: string): [string, FaultNode] => [
  name,
  { isUp: true, machine: `m-${name}`, boot: 1, isTainted: false, fencedBoot: undefined },
];

/** Two controllers, a kubelet and a node agent on each of two nodes, and the VM's own controller. */
export class FaultWorld {
  readonly cluster: SmallCluster = new SmallCluster();
  /** UIDs of the Pods whose guest runs. */
  readonly running: Set<string> = new Set();
  readonly problems: string[] = [];
  writes = 0;
  /** Whether the VM wants its guest. */
  isWanted = true;
  /** Whether the VM controller runs: it creates VMIs and remembers their Pods. */
  isVmSeen = true;
  /** Whether the guest has a TPM with persistent state. */
  hasTpm = false;
  /** Whether the node agents run. */
  hasAgents = true;
  readonly #fault: Fault;
  readonly #nodes = new Map([newNode("n1"), newNode("n2")]);
  /** What the VM remembers, by Pod. */
  readonly #remembered = new Map<string, { vmiUID: string; holder?: Holder }>();
  /** The nodes of the Pods that have claimed. */
  readonly #claimed = new Map<string, string>();
  readonly #controllers: (() => Promise<unknown>)[];
  readonly #rules: GrantRules | undefined;
  readonly #phases = new PhaseWatch();
  readonly #state = new GuestState();
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

  /** Everybody takes one step. */
  async round(): Promise<void> {
    this.#collectGarbage();
    this.#ownVm();
    this.#state.bind(this.cluster);
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

  /** Runs rounds until nothing changes. */
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

  /** The node of a Pod. */
  #nodeOf(pod: PodObject | undefined): FaultNode {
    const node = this.#nodes.get(String(pod?.spec?.nodeName));
    if (!node) throw new Error("the Pod is not on a node");
    return node;
  }

  get #firstPod(): PodObject | undefined {
    return this.cluster.all<PodObject>("pods")[0];
  }

  /** The guest's node is cut off; what runs there continues. */
  isolate(): void {
    this.#nodeOf(this.#firstPod).isUp = false;
  }

  /**
   * Another machine gets the name of the guest's node and is up; the guest continues on the old
   * one.
   */
  replaceMachine(): void {
    const node = this.#nodeOf(this.#firstPod);
    node.machine = `new-${node.machine}`;
    node.boot++;
    node.isUp = true;
  }

  /** Somebody sets the out-of-service taint on the guest's node although it is Ready. */
  taint(): void {
    this.#nodeOf(this.#firstPod).isTainted = true;
  }

  /** A person confirms that the boot before the present one of the guest's node is over. */
  fenceEarlierBoot(): void {
    const name = String(this.#firstPod?.spec?.nodeName);
    const node = this.#nodeOf(this.#firstPod);
    node.fencedBoot = `${name}-${node.boot - 1}`;
  }

  /** A false report that the guest's container has ended. */
  reportEnd(reason: string, containerID?: string): void {
    const pod = this.#firstPod;
    const [status] = pod?.status?.containerStatuses ?? [];
    const ended = containerID ?? String(status?.containerID);
    const state = { terminated: { exitCode: 137, reason, containerID: ended } };
    this.cluster.change<PodObject>("pods", String(pod?.metadata?.name), (each) => ({
      ...each,
      status: {
        ...each.status,
        phase: "Failed",
        containerStatuses: [{ name: "compute", ready: false, containerID: ended, state }],
      },
    }));
  }

  /** Somebody writes another phase into the VMI's status. */
  writePhase(phase: VirtualMachineInstancePhase): void {
    this.cluster.change<VirtualMachineInstance>(plural, "vm", (vmi) => ({
      ...vmi,
      status: { ...vmi.status, phase },
    }));
  }

  /** The user removes the run grant from the VMI. */
  stripGrant(): void {
    this.cluster.change<VirtualMachineInstance>(plural, "vm", (vmi) => {
      const { [grantKey]: _, ...annotations } = vmi.metadata?.annotations ?? {};
      return { ...vmi, metadata: { ...vmi.metadata, annotations } };
    });
  }

  /** The user deletes the Pods, as `kubectl delete pod` does. */
  deletePods(): void {
    for (const { metadata } of this.cluster.all<PodObject>("pods")) {
      this.cluster.change<PodObject>("pods", String(metadata?.name), (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
      }));
    }
  }

  /** A migration has its target Pod on the other node, and the guest is handed over to it. */
  handOver(): void {
    const { vmi } = this;
    const source = this.#firstPod;
    const grant = this.#grant;
    if (!vmi || !source || grant?.state !== "Claimed") throw new Error("no guest is running");
    const node = [...this.#nodes.keys()].find((name) => name !== source.spec?.nodeName) ?? "";
    const containerID = `c-${++this.#containers}`;
    this.cluster.put("pods", {
      ...source,
      metadata: {
        ...source.metadata,
        ...{ name: "target", uid: "target" },
        labels: { ...source.metadata?.labels, [labels.migrationJobUid]: "move" },
      },
      spec: { ...source.spec, nodeName: node },
      status: {
        ...source.status,
        containerStatuses: [{ name: "compute", ready: true, containerID, state: { running: {} } }],
      },
    });
    const target = this.#holder("target", containerID, node);
    const { vmiUID, epoch, seq, holder } = grant;
    this.#tell(vmi, "Running", {
      ...{ state: "HandingOver", vmiUID, epoch, seq: seq + 1 },
      ...{ holder, target, migrationUID: "move" },
    });
  }

  /**
   * The target has its source's release and runs; the grant does not show that yet. The source has
   * ended.
   */
  arrive(): void {
    const grant = this.#grant;
    if (grant?.state !== "HandingOver") throw new Error("nothing is being handed over");
    const { holder, target } = grant;
    this.running.delete(holder.podUID);
    this.running.add(target.podUID);
    this.#claimed.set(target.podUID, target.node);
  }

  /** The node on which the guest runs is cut off, and the other one reboots. */
  loseBothSides(): void {
    const carriers = new Set([...this.running].map((uid) => this.#claimed.get(uid)));
    for (const [name, node] of this.#nodes) {
      if (carriers.has(name)) node.isUp = false;
      else node.boot++;
    }
  }

  /** The VMI as it is stored, and its grant as the migration controller has it in a live read. */
  get #liveGrant(): { readonly vmi: VirtualMachineInstance; readonly live: RunGrant } {
    const { vmi } = this;
    const { grant } = this.#view(this.cluster, true);
    if (!vmi || !grant) throw new Error("there is no VMI");
    return { vmi, live: new RunGrant(vmi, names(), grant) };
  }

  /** Another migration asks for the guest, to a Pod on the node of the first. */
  askForHandover(): void {
    const { vmi, live } = this.#liveGrant;
    const target = this.#holder("other", "c-other", String(this.#firstPod?.spec?.nodeName));
    this.#remembered.set("other", { vmiUID: String(vmi.metadata?.uid), holder: target });
    const sourceRuns = vmi.status?.phase === "Running";
    live.handOver({ target, migrationUID: "other", sourceRuns });
    const annotations = { ...vmi.metadata?.annotations, ...live.annotations };
    this.cluster.put(plural, { ...vmi, metadata: { ...vmi.metadata, annotations } });
  }

  /** The migration controller has counted the migration as failed, and wants to delete its target. */
  cleanUpTarget(): void {
    const pod = this.#pod("target");
    if (!pod) throw new Error("there is no target");
    const refused = this.#liveGrant.live.refuseDeletion(pod, { isEnding: false });
    if (refused === undefined) this.deletePods();
  }

  /** The Pod's agent has claimed, and has not created the guest yet. */
  claimOnly(): void {
    const grant = this.#grant;
    if (!this.vmi || grant?.state !== "Granted") throw new Error("nothing is granted");
    this.#tell(this.vmi, "Scheduled", this.#claimOf(grant));
  }

  get #grant(): ReadGrant | undefined {
    const { metadata } = this.vmi ?? {};
    return metadata && decodeGrant(metadata.annotations?.[grantKey], String(metadata.uid));
  }

  /** The user removes all Pods despite their finalizers. */
  stripPods(): void {
    for (const { metadata } of this.cluster.all<PodObject>("pods")) {
      this.cluster.drop("pods", String(metadata?.name));
    }
  }

  /**
   * The user removes the VMI despite its finalizers; if its guest continues, that is nobody else's
   * fault.
   */
  stripVmi(): void {
    this.#isStripped = true;
    this.cluster.drop(plural, "vm");
  }

  /** Nodes that are cut off reboot: what ran there has ended. */
  reboot(): void {
    for (const [name, node] of this.#nodes) {
      if (node.isUp) continue;
      for (const uid of this.running) if (this.#claimed.get(uid) === name) this.running.delete(uid);
      node.boot++;
      node.isUp = true;
    }
  }

  /** Objects of a VMI that is gone are marked for deletion. */
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
   * Creates the next VMI when the last one is gone. The VM's finalizer holds a VMI until the VM has
   * seen that its grant has ended, and has forgotten its holders.
   */
  #ownVm(): void {
    if (!this.isVmSeen) return;
    const { vmi: present } = this;
    const grant = this.#grant;
    if (present && grant) this.#remember(String(present.metadata?.uid), grant);
    if (grant?.state === "Ended" && present?.metadata?.deletionTimestamp) {
      this.#remembered.clear();
      this.cluster.change<VirtualMachineInstance>(plural, "vm", (vmi) => ({
        ...vmi,
        metadata: {
          ...vmi.metadata,
          finalizers: (vmi.metadata?.finalizers ?? []).filter((each) => each !== finalizers.vm),
        },
      }));
      this.#check();
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
    const devices = this.hasTpm ? { tpm: { persistent: true } } : {};
    const spec = { ...vmi.spec, domain: { ...vmi.spec.domain, devices } };
    this.cluster.put(plural, { ...vmi, metadata, spec });
  }

  /** Every Pod of the VMI, before a grant names it; once it has claimed, also its incarnation. */
  #remember(vmiUID: string, grant: ReadGrant): void {
    for (const { metadata } of this.cluster.all<PodObject>("pods")) {
      const podUID = String(metadata?.uid);
      const isOwn = metadata?.ownerReferences?.[0]?.uid === vmiUID;
      if (isOwn && !this.#remembered.has(podUID)) this.#remembered.set(podUID, { vmiUID });
    }
    if (!("holder" in grant)) return;
    const holders = "target" in grant ? [grant.holder, grant.target] : [grant.holder];
    for (const holder of holders) this.#remembered.set(holder.podUID, { vmiUID, holder });
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
      if (isOver) this.#end(pod);
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

  /** A kubelet ends a container, and the guest in it. */
  #end({ metadata }: PodObject): void {
    const podUID = String(metadata?.uid);
    const grant = this.#grant;
    if (this.running.delete(podUID) && grant && "target" in grant && metadata?.deletionTimestamp) {
      this.problems.push("the guest was destroyed in a handover");
    }
  }

  #free(): string {
    return [...this.#nodes].find(([, { isUp }]) => isUp)?.[0] ?? "";
  }

  #agents(): void {
    const { vmi } = this;
    const grant = this.#grant;
    if (!vmi || !grant || !this.hasAgents) return;
    if (grant.state === "Granted") this.#claim(vmi, grant);
    else if (grant.state === "Claimed") this.#goOn(vmi, grant);
    else if (grant.state === "HandingOver") this.#takeOver(vmi, grant);
  }

  #claim(vmi: VirtualMachineInstance, grant: Granted): void {
    const pod = this.#pod(grant.podUID);
    const status = pod?.status?.containerStatuses?.[0];
    if (vmi.status?.phase !== "Scheduled" || !status?.state?.running) return;
    this.#run(vmi, this.#claimOf(grant));
  }

  #claimOf({ podUID, vmiUID, epoch, seq }: Granted): Claimed {
    const pod = this.#pod(podUID);
    const containerID = String(pod?.status?.containerStatuses?.[0]?.containerID);
    const holder = this.#holder(podUID, containerID, String(pod?.spec?.nodeName));
    return { state: "Claimed", vmiUID, epoch, seq: seq + 1, holder };
  }

  /** The agent creates the guest for which it has the claim. */
  #run(vmi: VirtualMachineInstance, claim: Claimed): void {
    const { podUID, node } = claim.holder;
    this.#claimed.set(podUID, node);
    this.running.add(podUID);
    this.#tell(vmi, "Running", claim);
  }

  #goOn(vmi: VirtualMachineInstance, grant: Claimed): void {
    const { holder, vmiUID, epoch, seq } = grant;
    const isNew = vmi.status?.phase === "Scheduled" && !this.#claimed.has(holder.podUID);
    if (isNew && this.#nodes.get(holder.node)?.isUp) {
      this.#run(vmi, grant);
      return;
    }
    if (vmi.status?.phase !== "Running" || this.running.has(holder.podUID)) return;
    if (!this.#nodes.get(holder.node)?.isUp || !this.#pod(holder.podUID)) return;
    this.#tell(vmi, "Succeeded", { state: "Ended", vmiUID, epoch, seq: seq + 1 });
  }

  #takeOver(vmi: VirtualMachineInstance, grant: Handover): void {
    const { target: holder, vmiUID, epoch, seq } = grant;
    if (!this.running.has(holder.podUID) || !this.#nodes.get(holder.node)?.isUp) return;
    const next = { vmiUID, epoch: epoch + 1, seq: seq + 1, holder };
    this.#tell(vmi, "Running", { state: "Claimed", ...next });
  }

  #pod(podUID: string): PodObject | undefined {
    return this.cluster.all<PodObject>("pods").find(({ metadata }) => metadata?.uid === podUID);
  }

  #holder(podUID: string, containerID: string, node: string): Holder {
    const { machine: machineID, boot } = this.#nodes.get(node) ?? {};
    const bootID = `${node}-${boot}`;
    return { podUID, containerID, node, machineID: String(machineID), bootID, nonce: podUID };
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
    const nodes = [...this.#nodes].map(
      ([name, { isUp, machine, boot, isTainted, fencedBoot }]) => ({
        metadata: { name },
        spec: {
          taints: [
            ...(isTainted ? [{ ...fenceTaint(""), value: "nodeshutdown" }] : []),
            ...(fencedBoot === undefined ? [] : [fenceTaint(fencedBoot)]),
          ],
        },
        status: {
          nodeInfo: { machineID: machine, bootID: `${name}-${boot}` },
          conditions: [{ type: "Ready", status: isUp ? "True" : "Unknown" }],
        },
      }),
    );
    const present = new Set(pods.map(({ metadata }) => metadata?.uid));
    const remembered = [...this.#remembered]
      .filter(([podUID, { vmiUID }]) => vmiUID !== vmi?.metadata?.uid && !present.has(podUID))
      .map(([podUID, { holder }]) => ({ holder: holder ?? unprovable(podUID), proofs: [] }));
    const isRemembered = (podUID: string) => this.#remembered.has(podUID);
    const grant = { isLive, pods, nodes, isRemembered, remembered };
    const rules = this.#rules ? { rules: this.#rules } : {};
    const vm = { metadata: { uid: "vm-uid" } };
    const state = GuestState.view(cluster);
    return sampleView({ vmi, vm, pods, ...state, grant: { ...grant, ...rules } });
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
      this.problems.push("the VMI is removed while its guest runs");
    }
    const phase = this.vmi && this.#phases.look(this.vmi);
    const state = this.#state.look(this.cluster);
    this.problems.push(...[phase, state].filter((problem) => problem !== undefined));
  }
}

/** A missing Pod that was never seen to claim: nobody can prove anything about it. */
function unprovable(podUID: string): Holder {
  return { podUID, containerID: "", node: "", machineID: "", bootID: "", nonce: "" };
}
