import type { ClusterConfig } from "@virtkit/api/config";
import { type Holder, isSameHolder, type ProofOfEnd, type ReadGrant } from "@virtkit/api/grant";
import type { Random } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { entry, text } from "@virtkit/api/shape";
import { isFinal } from "@virtkit/api/status";
import type { DomainStatus, MayRun } from "@virtkit/domain-manager";
import type { KubeObject, ObjectName } from "@virtkit/kube";
import { type Cache, liveRead } from "@virtkit/kube/cache";
import { type EventRecorder, patchObject } from "@virtkit/kube/writes";
import type { MigrationReport } from "@virtkit/launcher/client";
import { hostArchitecture } from "../host-architecture.ts";
import { endLostHandover } from "../migration/end-lost-handover.ts";
import type { NodeMigrations } from "../migration/node-migrations.ts";
import { handoverTo } from "../migration/plan-target-duty.ts";
import { NodeAgentError } from "../node-agent-error.ts";
import type { LauncherView, NodePlan, NodeView } from "../plan/index.ts";
import { generatedDisks } from "../plan/iso-sizes.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { AgentContext } from "./agent-context.ts";
import { GuestHold } from "./guest-hold.ts";
import { carryOutPass, type PassSubject } from "./guest-pass.ts";
import type { GuestRecord } from "./guest-record.ts";
import { volumesIn } from "./hotplug-pass.ts";
import { launcherContainer, podAddresses, podOf } from "./launcher-pods.ts";
import { nodeDomainOf } from "./node-domain.ts";
import type { GuestClient } from "./node-host.ts";
import { claimGrant, endedGrant, grantObstacle, grantOf } from "./vmi-grant.ts";

type Vmi = VirtualMachineInstance & KubeObject;

/** A guest of this node, for those who serve it. */
export interface HeldGuest {
  readonly vmi: VirtualMachineInstance | undefined;
  readonly vmiUid: string;
  readonly podUid: string;
  readonly sandbox: Sandbox | undefined;
  /** The current connection; undefined while the launcher does not answer. */
  readonly client: GuestClient | undefined;
  /** The launcher's last report. */
  readonly domain: DomainStatus | undefined;
  /** Progress of its migration to another node; undefined if there is none, or no report yet. */
  readonly leaving: MigrationReport["progress"];
  /** The claim under which it runs here. Rejects if this node may not run it. */
  mayRun(options: { readonly signal: AbortSignal }): Promise<MayRun>;
}

/** What {@link NodeGuests} works with. */
export interface NodeGuestsOptions {
  readonly context: Omit<AgentContext, "signal">;
  readonly nodeName: string;
  config(): ClusterConfig;
  readonly vmis: Cache<Vmi>;
  /** VMIs whose guests arrive on this node. */
  readonly incoming: Cache<Vmi>;
  readonly migrations: NodeMigrations;
  readonly pods: Cache<KubeObject>;
  readonly recorder: EventRecorder;
  readonly random: Random;
  hostCpuModel(): string;
  readonly silenceLimit: number;
  enqueue(vmi: ObjectName, after: number): void;
}

/** Milliseconds between two passes caused by a launcher's news: a hostile one cannot keep the agent busy. */
const newsInterval = 500;

/** Milliseconds between two checks of a launcher whose guest has left. */
const leftInterval = 2_000;

/** Milliseconds between two looks for a proof that a guest was lost while it was handed over. */
const lostInterval = 5_000;

/** Milliseconds until a change is retried that a guest has not allowed: it releases a device when it likes. */
const pendingInterval = 2_000;

/** The guests of a node, and one pass over each. */
export class NodeGuests implements AsyncDisposable {
  readonly #options: NodeGuestsOptions;
  /** By container. */
  readonly #holds = new Map<string, GuestHold>();
  /** Of this node's incarnations, by Pod: read when the agent starts. */
  readonly #records = new Map<string, GuestRecord>();
  #problems: readonly string[] = [];

  constructor(options: NodeGuestsOptions) {
    this.#options = options;
  }

  /** Resumes what the records say, whether or not the API server still has it. Returns their VMIs. */
  recall(): readonly ObjectName[] {
    const { records, problems } = this.#options.context.records.all();
    this.#problems = problems.map((file) => `${file} is not a record that this release can read`);
    for (const problem of this.#problems) this.#options.context.log.error({}, problem);
    for (const record of records) {
      this.#records.set(record.podUid, record);
      const hold = this.#holdOf(record, true);
      if (hold && !hold.hasEnded) hold.follow(referenceTo(record));
    }
    return records.map(({ namespace, name }) => ({ namespace, name }));
  }

  find({ namespace = "", name }: ObjectName): HeldGuest | undefined {
    const vmi = this.#options.vmis.get({ namespace, name });
    if (vmi.state !== "present") return undefined;
    const own = [...this.#holds.values()].filter(
      ({ record }) => record.vmiUid === vmi.object.metadata.uid,
    );
    // A guest that was here before has left a launcher that ends.
    const hold = own.find(({ hasEnded }) => !hasEnded) ?? own[0];
    return hold && this.#shown(hold);
  }

  all(): readonly HeldGuest[] {
    return [...this.#holds.values()].map((hold) => this.#shown(hold));
  }

  problems(): readonly string[] {
    return this.#problems;
  }

  #shown(hold: GuestHold): HeldGuest {
    const { namespace, name, vmiUid, podUid } = hold.record;
    const found = this.#options.vmis.get({ namespace, name });
    const vmi = found.state === "present" ? found.object : undefined;
    return {
      ...{ vmiUid, podUid, client: hold.client, domain: hold.domain },
      leaving: this.#options.migrations.progressOf(hold),
      vmi: vmi?.metadata.uid === vmiUid ? vmi : undefined,
      mayRun: ({ signal }) => this.#mayRun(hold, signal),
      sandbox: hold.launcher?.sandbox,
    };
  }

  /** Claims again what this incarnation has claimed before; it makes no new claim. */
  async #mayRun(hold: GuestHold, signal: AbortSignal): Promise<MayRun> {
    const { namespace, name, vmiUid, podUid } = hold.record;
    const found = this.#options.vmis.get({ namespace, name });
    const vmi = found.state === "present" ? found.object : undefined;
    const isOwn = vmi?.metadata.uid === vmiUid && hold.isRecorded;
    if (!vmi || !isOwn || grantOf(vmi, this.#options.context.names).state !== "Claimed") {
      const message = `the guest of Pod ${podUid} has not been claimed by this agent`;
      throw new NodeAgentError("AGENT_CLAIM_HELD", message, { path: `${namespace}/${name}` });
    }
    const context = { ...this.#options.context, signal };
    hold.mayRun ??= await claimGrant(vmi, context.holderOf(hold.record), context);
    return hold.mayRun;
  }

  /** One pass over the VMI with a name, and over what older VMIs with that name have left on this node. */
  async reconcile(
    object: ObjectName,
    signal: AbortSignal,
  ): Promise<{ requeueAfter?: number } | undefined> {
    const { vmis, incoming } = this.#options;
    const cached = [vmis.get(object), incoming.get(object)];
    // An empty cache is not absence.
    if (cached.some(({ state }) => state === "unknown")) return undefined;
    const vmi = cached
      .flatMap((each) => (each.state === "present" ? [each.object] : []))
      .reduce<Vmi | undefined>(
        (one, other) => (one && isLater(one, other) ? one : other),
        undefined,
      );
    for (const hold of this.#named(object)) hold.passedAt = this.#options.context.clock.now();
    const context: AgentContext = { ...this.#options.context, signal };
    const older = await this.#endAllOlder(object, vmi, context);
    let { next } = older;
    const { labels } = vmi?.metadata ?? {};
    const names = context.names.labels;
    const isHere = (label: string): boolean => entry(labels, label) === this.#options.nodeName;
    if (vmi && isHere(names.migrationTargetNodeName)) {
      next = earlier(next, await this.#receive(vmi, context));
    }
    if (vmi) next = earlier(next, await this.#endLost(vmi, context));
    if (vmi && isHere(names.nodeName)) next = earlier(next, await this.#see(vmi, context));
    if (vmi && !isHere(names.migrationTargetNodeName)) await this.#endEarlier(vmi, context);
    if (older.failure !== undefined) throw older.failure;
    return next === undefined ? undefined : { requeueAfter: next };
  }

  #named({ namespace = "", name }: ObjectName): readonly GuestHold[] {
    return [...this.#holds.values()].filter(
      ({ record }) => record.namespace === namespace && record.name === name,
    );
  }

  /** Ends what VMIs with the same name and other UIDs have left here. */
  async #endAllOlder(
    object: ObjectName,
    vmi: Vmi | undefined,
    context: AgentContext,
  ): Promise<{ readonly next: number | undefined; readonly failure?: unknown }> {
    const older = this.#named(object).filter(({ record }) => record.vmiUid !== vmi?.metadata.uid);
    let next: number | undefined;
    let failure: unknown;
    for (const hold of older) {
      try {
        next = earlier(next, await this.#endOlder(hold, object, context));
      } catch (error) {
        // What is left on the node by a guest that is proven to have ended does not block the next VMI.
        if (!hold.hasEnded) throw error;
        failure ??= error;
      }
    }
    return { next, failure };
  }

  /** A guest whose VMI no longer exists is ended, by its UID, and only if a live read says so. */
  async #endOlder(
    hold: GuestHold,
    object: ObjectName,
    context: AgentContext,
  ): Promise<number | undefined> {
    const { client, vmis, effects, signal } = context;
    const live = await effects("read the VMI", () => liveRead(client, vmis, object, { signal }));
    if (live.state === "present" && live.object.metadata.uid === hold.record.vmiUid) {
      return await this.#endLeft(hold, live.object as Vmi, context);
    }
    if (hold.hearing === "waiting") return undefined;
    const view = this.#view(hold, undefined, undefined);
    const plan = await carryOutPass(view, { hold, vmi: undefined }, context);
    if (hold.hasEnded && hold.isCleaned) await this.#letGo(hold, context);
    return this.#conclude(hold, undefined, plan);
  }

  /**
   * A launcher whose guest has left this node, or never arrived. It ends on its own once libvirt may forget its
   * guest; what was prepared for it is undone when it has. If the grant still names it, nothing is done.
   */
  async #endLeft(hold: GuestHold, vmi: Vmi, context: AgentContext): Promise<number | undefined> {
    const { effects, host, names, signal } = context;
    if (isNamed(grantOf(vmi, names), context.holderOf(hold.record))) {
      return await this.#endLost(vmi, context);
    }
    if (hold.hasEnded) {
      const { podUid } = hold.record;
      // Its namespaces went with it: nothing is looked for in them.
      await effects("clean up", () => host.cleanUp(podUid, undefined, { signal }));
      await this.#letGo(hold, context);
      return undefined;
    }
    const isEmpty = ["Absent", "Shutoff", "Crashed"].includes(hold.domain?.state ?? "");
    const { client } = hold;
    if (!isEmpty) await this.#options.migrations.conclude(vmi, hold);
    else if (client) await effects("delete the domain", () => client.delete({ signal }));
    return leftInterval;
  }

  /** A guest that was handed over to a launcher of this node, which has ended: nobody else may be able to prove that. */
  async #endLost(vmi: Vmi, context: AgentContext): Promise<number | undefined> {
    const grant = grantOf(vmi, context.names);
    const lost = [...this.#holds.values()].find(
      ({ record, hasEnded }) => hasEnded && handoverTo(grant, context.holderOf(record)),
    );
    if (!lost) return undefined;
    await endLostHandover(lost.record, this.#proofs(lost), context);
    return lostInterval;
  }

  /** Ended launchers of a guest that was on this node before and has come back. */
  async #endEarlier(vmi: Vmi, context: AgentContext): Promise<void> {
    const grant = grantOf(vmi, context.names);
    const ended = [...this.#holds.values()].filter(
      (hold) =>
        hold.record.vmiUid === vmi.metadata.uid &&
        hold.hasEnded &&
        !isNamed(grant, context.holderOf(hold.record)),
    );
    // The one whose end is still to be reported belongs to the grant.
    if (grant.state !== "Claimed") return;
    for (const hold of ended) await this.#endLeft(hold, vmi, context);
  }

  /** Handles a guest that arrives at a launcher of this node. */
  async #receive(vmi: Vmi, context: AgentContext): Promise<number | undefined> {
    const { pods, migrations, nodeName } = this.#options;
    const { targetNode, targetPod } = vmi.status?.migrationState ?? {};
    if (targetNode !== nodeName) return undefined;
    const { namespace = "" } = vmi.metadata;
    const pod = targetPod ? pods.get({ namespace, name: targetPod }) : undefined;
    if (pod?.state !== "present" || !isOwnedBy(pod.object, vmi)) return undefined;
    const container = launcherContainer(pod.object);
    const hold = this.#holdFor(vmi, container, undefined);
    if (!hold) return container ? leftInterval : undefined;
    hold.follow(vmi);
    if (isLater(hold.written, vmi)) return undefined;
    if (hold.hearing === "waiting") return this.#options.silenceLimit;
    return (await migrations.enter(vmi, hold, context)).next;
  }

  async #see(vmi: Vmi, context: AgentContext): Promise<number | undefined> {
    const { names } = context;
    const grant = grantOf(vmi, names);
    const listed = this.#options.pods.list();
    const pods = listed.state === "complete" ? listed.objects : listed.seen;
    const pod = podOf(pods, text(vmi.metadata.uid), grant);
    const container = pod && launcherContainer(pod);
    const claimed = grant.state === "Claimed" ? grant.holder.containerID : undefined;
    const hold = this.#holdFor(vmi, container, claimed);
    if (!hold) {
      const launcher = this.#launcherUnseen(vmi, container, grant);
      if (launcher === undefined) return undefined;
      const view = this.#view(undefined, vmi, pod);
      const plan = await carryOutPass({ ...view, launcher }, { hold: undefined, vmi }, context);
      return this.#conclude(undefined, vmi, plan);
    }
    hold.follow(vmi);
    if (isLater(hold.written, vmi)) return undefined;
    // Nothing follows from a launcher that has not reported yet; it reports, or is silent for long enough.
    if (hold.hearing === "waiting") return this.#options.silenceLimit;
    const isOwnPod = pod?.metadata.uid === hold.record.podUid;
    const arrivedBy = isOwnPod
      ? entry(pod?.metadata.labels, names.labels.migrationJobUid)
      : undefined;
    const moving = await this.#options.migrations.leave(vmi, hold, context, arrivedBy);
    if (moving.owns) return moving.next;
    const annotations = (): Readonly<Record<string, string>> | undefined =>
      hold.hasEnded ? endedGrant(vmi, this.#proofs(hold), names) : undefined;
    const subject: PassSubject = { hold, vmi, annotations };
    const obstacle = grantObstacle(grant, context.holderOf(hold.record));
    const view = { ...this.#view(hold, vmi, pod), grantObstacle: obstacle };
    const plan = await carryOutPass(view, subject, context);
    // A record goes only once everything that follows from it is written: nobody else knows how the guest
    // ended.
    if (!hasFailed(plan)) await this.#settle(hold, vmi, context);
    const next = this.#conclude(hold, vmi, plan);
    return hold.hasPending ? earlier(next, pendingInterval) : next;
  }

  /** Ends the grant of an ended launcher, if the status write did not, and then removes its record. */
  async #settle(hold: GuestHold, vmi: Vmi, context: AgentContext): Promise<void> {
    if (!hold.hasEnded) return;
    const latest = isLater(hold.written, vmi) ? (hold.written as Vmi) : vmi;
    const annotations = endedGrant(latest, this.#proofs(hold), context.names);
    if (annotations) await this.#endGrant(hold, latest, annotations, context);
    if (hold.isCleaned) await this.#letGo(hold, context);
  }

  async #letGo(hold: GuestHold, { effects, records }: AgentContext): Promise<void> {
    const { podUid, containerID } = hold.record;
    if (hold.isRecorded) await effects("remove the record", () => records.remove(podUid));
    this.#holds.delete(containerID);
    this.#records.delete(podUid);
    await this.#options.migrations.forget(hold);
    await hold[Symbol.asyncDispose]();
  }

  /** The incarnation that the grant names, else the one that the kubelet reports. */
  #holdFor(
    vmi: Vmi,
    container: ReturnType<typeof launcherContainer>,
    claimed: string | undefined,
  ): GuestHold | undefined {
    const held = claimed === undefined ? undefined : this.#holds.get(claimed);
    if (held) return held;
    // Another container of the same Pod is another incarnation: it proves nothing about the one that has claimed.
    if (!container || (claimed !== undefined && claimed !== container.containerID))
      return undefined;
    const found = this.#holds.get(container.containerID);
    if (found) return found;
    const { namespace = "", name = "", uid = "" } = vmi.metadata;
    const known = this.#records.get(container.podUid);
    const isKnown = known?.containerID === container.containerID && known.vmiUid === uid;
    if (isKnown) return this.#holdOf(known, true);
    const launcher = this.#options.context.host.find(container);
    if (!launcher) return undefined;
    const { podUid, containerID } = container;
    const nonce = nonceFrom(this.#options.random);
    const record = {
      namespace,
      name,
      vmiUid: uid,
      podUid,
      containerID,
      nonce,
      process: launcher.process,
      bootID: this.#options.context.ownNode.identity.bootID,
    };
    const hold = new GuestHold({ record, isRecorded: false }, launcher, this.#holdOptions(record));
    // It was found by a pass.
    hold.passedAt = this.#options.context.clock.now();
    return this.#keep(hold);
  }

  /** Holds the process of a record again; undefined if it is neither visible nor proven to have ended. */
  #holdOf(record: GuestRecord, isRecorded: boolean): GuestHold | undefined {
    const held = this.#holds.get(record.containerID);
    if (held) return held;
    const { host } = this.#options.context;
    const found = host.find(record);
    const isSame = found && JSON.stringify(found.process) === JSON.stringify(record.process);
    if (found && !isSame) found[Symbol.dispose]();
    if (!isSame && !host.hasEnded(record.process)) return undefined;
    const launcher = isSame ? found : undefined;
    return this.#keep(new GuestHold({ record, isRecorded }, launcher, this.#holdOptions(record)));
  }

  #keep(hold: GuestHold): GuestHold {
    this.#holds.set(hold.record.containerID, hold);
    return hold;
  }

  #holdOptions({
    namespace,
    name,
    containerID,
  }: GuestRecord): ConstructorParameters<typeof GuestHold>[2] {
    const { silenceLimit, enqueue, context } = this.#options;
    const { effects, clock, log } = context;
    const onNews = (): void => {
      const last = this.#holds.get(containerID)?.passedAt ?? Number.NEGATIVE_INFINITY;
      enqueue({ namespace, name }, Math.max(0, last + newsInterval - clock.now()));
    };
    return { effects, clock, log, onNews, silenceLimit };
  }

  /** What is known about a launcher that should be here and is not visible; undefined if one is still to come. */
  #launcherUnseen(
    vmi: Vmi,
    container: ReturnType<typeof launcherContainer>,
    grant: ReadGrant,
  ): LauncherView | undefined {
    // For a VMI that has ended, nothing is left to be proven.
    if (isFinal(vmi)) return undefined;
    const { phase } = vmi.status ?? {};
    // Somebody had the proof: it only needs to be reported.
    if (grant.state === "Ended" && phase === "Running") {
      return { state: "ended", isConnected: false };
    }
    // Only this agent could have claimed for that Pod, and has not: nothing has run in it, and nothing will.
    if (grant.state === "Granted" && grant.podUID === container?.podUid && container.isTerminated) {
      return { state: "ended", isConnected: false };
    }
    const silent = (what: string): LauncherView => ({
      ...{ state: "silent", isConnected: false },
      problem: `${what}, which is not visible on this node, and this agent has no record that proves its end; nothing is started or ended`,
    });
    if (grant.state === "Claimed") {
      return silent(`the guest is claimed by container ${grant.holder.containerID}`);
    }
    if (phase === "Scheduled" || !phase || !container) return undefined;
    return silent(`the guest should be in container ${container.containerID}`);
  }

  #proofs({ record }: GuestHold): readonly ProofOfEnd[] {
    const { containerID } = record;
    const { bootID } = this.#options.context.holderOf(record);
    return [{ kind: "processGone", containerID, bootID, seen: "pidfd" }];
  }

  async #endGrant(
    hold: GuestHold,
    vmi: Vmi,
    annotations: Readonly<Record<string, string>>,
    { client, vmis, effects, signal }: AgentContext,
  ): Promise<void> {
    const metadata = {
      ...vmi.metadata,
      annotations: { ...vmi.metadata.annotations, ...annotations },
    };
    const after = { ...vmi, metadata } as KubeObject;
    const written = await effects("swap the grant", () =>
      patchObject(client, vmis, vmi as KubeObject, after, { signal }),
    );
    hold.written = written;
  }

  #view(hold: GuestHold | undefined, vmi: Vmi | undefined, pod: KubeObject | undefined): NodeView {
    const { nodeName, context } = this.#options;
    const config = this.#options.config();
    return {
      vmi,
      uid: hold?.record.vmiUid,
      domain: hold && nodeDomainOf(hold, vmi, pod),
      launcher: hold?.view ?? { state: "unknown", isConnected: false },
      node: nodeName,
      config,
      now: context.wall().getTime(),
      hostCpuModel: this.#options.hostCpuModel(),
      hostArchitecture,
      memory: hold?.memory ?? {},
      ...(vmi && pod ? { podIps: podIps(vmi, pod) } : {}),
      ...(vmi && hold?.launcher && !hold.hasEnded
        ? {
            fileSizes: hold.launcher.fileSizes([...generatedDisks(vmi, config.names).values()]),
            selinuxContext: hold.launcher.selinuxContext,
            ...(hasHotplugged(vmi) ? { mountedVolumes: volumesIn(hold.launcher, vmi) } : {}),
          }
        : {}),
    };
  }

  /** Reports the events, remembers what the next pass needs, and releases what is over. */
  #conclude(hold: GuestHold | undefined, vmi: Vmi | undefined, plan: NodePlan): number | undefined {
    const { recorder, context } = this.#options;
    for (const event of vmi ? plan.events : [])
      recorder.record(context.vmis, vmi as KubeObject, event);
    if (hold) hold.memory = plan.memory;
    const seconds = plan.requeue.map((each) =>
      each === "rateLimited" ? undefined : each.afterSeconds,
    );
    if (hasFailed(plan)) throw new PassFailed(failureIn(plan));
    const known = seconds.filter((each) => each !== undefined);
    return known.length > 0 ? Math.max(0, Math.min(...known)) * 1000 : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const holds = [...this.#holds.values()];
    this.#holds.clear();
    await Promise.allSettled(holds.map((hold) => hold[Symbol.asyncDispose]()));
  }
}

/** Makes the controller call again, less often each time. */
class PassFailed extends Error {}

function hasFailed({ requeue }: NodePlan): boolean {
  return requeue.includes("rateLimited");
}

function failureIn({ events, steps }: NodePlan): string {
  const warning = events.findLast(({ type }) => type === "Warning")?.message;
  return warning ?? `the step ${steps.at(-1)?.do ?? "look"} failed`;
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

/** Whether a written object is newer than the cache's: the agent's own write has not come back. */
function isLater(written: KubeObject | undefined, { metadata }: KubeObject): boolean {
  const [own, seen] = [text(written?.metadata.resourceVersion), text(metadata.resourceVersion)];
  if (!/^\d+$/.test(own) || !/^\d+$/.test(seen)) return false;
  return BigInt(seen) < BigInt(own);
}

/** Whether a grant names an incarnation: then its end, or its guest's, is not this pass's concern. */
function isNamed(grant: ReadGrant, holder: Holder): boolean {
  if (grant.state === "Invalid") return true;
  if (grant.state === "Granted") return grant.podUID === holder.podUID;
  const named = "holder" in grant ? [grant.holder] : [];
  if ("target" in grant) named.push(grant.target);
  return named.some((each) => isSameHolder(each, holder));
}

function isOwnedBy({ metadata }: KubeObject, vmi: Vmi): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ uid, controller }) => controller && uid === vmi.metadata.uid,
  );
}

/** The Pod's addresses are those of the guest on the Pod's network. */
function podIps({ spec }: Vmi, pod: KubeObject): Readonly<Record<string, readonly string[]>> {
  const addresses = podAddresses(pod);
  const networks = (spec.networks ?? []).filter((network) => network.pod);
  return Object.fromEntries(networks.map(({ name }) => [name, addresses]));
}

function hasHotplugged({ status }: Vmi): boolean {
  return (status?.volumeStatus ?? []).some(({ hotplugVolume }) => hotplugVolume);
}

function referenceTo({ namespace, name, vmiUid }: GuestRecord): VirtualMachineInstance {
  return {
    metadata: { namespace, name, uid: vmiUid },
    spec: { domain: { devices: {} } },
  } as VirtualMachineInstance;
}

/** 128 bits by which the agent recognises its own claim. */
function nonceFrom(random: Random): string {
  const digits = Array.from({ length: 4 }, () => Math.floor(random.number() * 2 ** 32));
  return digits.map((each) => each.toString(16).padStart(8, "0")).join("");
}
