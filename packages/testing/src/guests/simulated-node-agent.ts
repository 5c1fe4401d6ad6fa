import { setMaxListeners } from "node:events";
import { type Clock, sleep } from "@virtkit/api/clock";
import {
  decide,
  decodeGrant,
  encodeGrant,
  type Grant,
  grantAnnotation,
  type Holder,
  isSameHolder,
  type ReadGrant,
} from "@virtkit/api/grant";
import type { Names } from "@virtkit/api/names";
import type { Random } from "@virtkit/api/random";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { isFinal } from "@virtkit/api/status";
import type { MayRun, SyncRequest } from "@virtkit/domain-manager";
import {
  isKubeError,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
} from "@virtkit/kube";
import { Reflector } from "@virtkit/kube/reflector";
import { nodes } from "../cluster/core-resources.ts";
import { endedStatus, runningStatus } from "./guest-status.ts";
import type { SimulatedLauncher } from "./simulated-launcher.ts";

/** A VMI as an object of an API server. */
export type VmiObject = VirtualMachineInstance & KubeObject;

/** Options of a {@link SimulatedNodeAgent}. */
export interface NodeAgentOptions {
  readonly node: string;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly date: () => Date;
  readonly names: Names;
  readonly vmis: Resource<VmiObject>;
  /** The boot that the node is in. */
  readonly boot: () => { readonly machineID: string; readonly bootID: string };
  /** The launchers of a VMI on this node, by `namespace/name`; those that have ended, too. */
  readonly launchers: (vmi: string) => readonly SimulatedLauncher[];
  /** The VMIs of which launchers are or were here. */
  readonly known: () => Iterable<string>;
}

const heartbeatMilliseconds = 60_000;
/** Milliseconds until something that failed is retried. */
const retryMilliseconds = 1_000;

/**
 * A scripted stand-in for the node agent's side of the run grant: it claims immediately before a guest is started,
 * reports the guest's state, shuts it down when its VMI is deleted, and returns the grant with the proof that its
 * process has ended. It contains none of the node agent's code.
 */
export class SimulatedNodeAgent {
  readonly #options: NodeAgentOptions;
  readonly #vmis = new Map<string, VmiObject>();
  /** VMIs to look at; `again` while one is looked at. */
  readonly #work = new Map<string, "running" | "again">();
  /** On disk: by them it knows its own claims again. By container. */
  readonly #nonces = new Map<string, string>();
  /** When it began to shut a guest down, by container. */
  readonly #ending = new Map<string, number>();
  #life: AbortController | undefined;
  #hasSynced = false;

  constructor(options: NodeAgentOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#life !== undefined;
  }

  /** Starts the process; does nothing if it runs. It knows only what is on disk. */
  start(): void {
    if (this.#life) return;
    const life = new AbortController();
    this.#life = life;
    const { signal } = life;
    // All guests of a node wait for it.
    setMaxListeners(0, signal);
    const { client, clock, random, vmis } = this.#options;
    this.#vmis.clear();
    this.#hasSynced = false;
    void this.#beat(signal);
    void this.#follow(new Reflector(client, vmis, { clock, random, signal }), signal);
  }

  /** Ends the process; guests run on. */
  stop(): void {
    this.#life?.abort();
    this.#life = undefined;
    this.#work.clear();
  }

  /** Something about a VMI or its launchers has changed. */
  look(vmi: string): void {
    const life = this.#life;
    if (!life) return;
    if (this.#work.has(vmi)) {
      this.#work.set(vmi, "again");
      return;
    }
    this.#work.set(vmi, "running");
    void this.#lookUntilDone(vmi, life.signal);
  }

  async #beat(signal: AbortSignal): Promise<void> {
    const { client, clock, node, names, date } = this.#options;
    while (!signal.aborted) {
      const labels = { [names.nodeLabels.schedulable]: "true" };
      const annotations = { [names.annotations.heartbeat]: date().toISOString() };
      const body = { metadata: { labels, annotations } };
      const isDone = await this.#tried(
        client.patch(nodes, { name: node }, { type: "merge", body }),
      );
      await quietSleep(clock, isDone ? heartbeatMilliseconds : retryMilliseconds, signal);
    }
  }

  async #follow(reflector: Reflector<VmiObject>, signal: AbortSignal): Promise<void> {
    for await (const event of reflector) {
      if (signal.aborted) return;
      if (event.type === "init") this.#vmis.clear();
      if (event.type === "initDone") this.#catchUp();
      if (event.type === "apply") this.#vmis.set(keyOf(event.object), event.object);
      if (event.type === "delete") this.#vmis.delete(keyOf(event.object));
      if ("object" in event) this.look(keyOf(event.object));
    }
  }

  /** All VMIs are known: launchers whose VMI is gone are found, too. */
  #catchUp(): void {
    this.#hasSynced = true;
    for (const vmi of new Set([...this.#vmis.keys(), ...this.#options.known()])) this.look(vmi);
  }

  async #lookUntilDone(vmi: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      this.#work.set(vmi, "running");
      const isDone = await this.#tried(this.#lookAt(vmi, signal));
      if (signal.aborted) return;
      if (!isDone) await quietSleep(clock, retryMilliseconds, signal);
      else if (this.#work.get(vmi) === "running") break;
    }
    if (!signal.aborted) this.#work.delete(vmi);
  }

  /** Whether it went well; what the API server did not answer is retried. */
  async #tried(work: Promise<unknown>): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      const { name } = Object(error) as { name?: string };
      if (!isKubeError(error) && name !== "DomainManagerError" && name !== "AbortError")
        throw error;
      return false;
    }
  }

  async #lookAt(key: string, signal: AbortSignal): Promise<void> {
    if (!this.#hasSynced) return;
    for (const launcher of this.#options.launchers(key)) {
      const vmi = this.#vmis.get(key);
      if (vmi?.metadata.uid === launcher.identity.vmiUid) await this.#sync(vmi, launcher, signal);
      else await this.#endUnowned(launcher);
    }
  }

  /** A guest whose VMI is gone is ended, after a live read. */
  async #endUnowned({ identity, guest, isActive }: SimulatedLauncher): Promise<void> {
    if (!isActive) return;
    const live = await this.#read(identity);
    if (live?.metadata.uid !== identity.vmiUid) await guest.kill();
  }

  async #sync(vmi: VmiObject, launcher: SimulatedLauncher, signal: AbortSignal): Promise<void> {
    if (isFinal(vmi)) return;
    const grant = this.#grantOf(vmi);
    const holder = this.#holderOf(launcher);
    const holds = grant.state === "Claimed" && isSameHolder(grant.holder, holder);
    if (launcher.isOver) {
      if (holds) await this.#giveBack(vmi, grant, launcher);
      return;
    }
    if (vmi.metadata.deletionTimestamp) this.#shutDown(vmi, launcher);
    else if (launcher.isActive) await this.#report(vmi, launcher);
    else if (isHandedOver(vmi, launcher)) await this.#start(launcher, holder, signal);
  }

  /** Claims in a live read of the VMI, and starts the guest at once. */
  async #start(launcher: SimulatedLauncher, holder: Holder, signal: AbortSignal): Promise<void> {
    const { identity, guest } = launcher;
    const live = await this.#read(identity);
    if (live?.metadata.uid !== identity.vmiUid || live.metadata.deletionTimestamp) return;
    const grant = this.#grantOf(live);
    const verdict = decide(grant, { kind: "claim", holder });
    if ("refused" in verdict) return;
    const claimed = verdict.grant;
    if (claimed !== grant) await this.#write(live, { grant: claimed });
    if (signal.aborted || launcher.isOver) return;
    const { vmiUid, podUid } = identity;
    const mayRun = { grant: { vmiUid, podUid, epoch: claimed.epoch } } as unknown as MayRun;
    const context = {} as SyncRequest["context"];
    await guest.syncVmi({ vmi: live, context, mayRun }, { signal });
  }

  async #report(vmi: VmiObject, launcher: SimulatedLauncher): Promise<void> {
    const status = runningStatus(vmi.status ?? {}, launcher.status, this.#timestamp());
    if (status !== vmi.status) await this.#write(vmi, { status });
  }

  /** Its process was watched: that it has ended is proven. */
  async #giveBack(vmi: VmiObject, grant: ReadGrant, launcher: SimulatedLauncher): Promise<void> {
    const { containerID, identity } = launcher;
    const { bootID } = this.#options.boot();
    const proof = { kind: "processGone", containerID, bootID, seen: "pidfd" } as const;
    const verdict = decide(grant, { kind: "end", vmiUID: identity.vmiUid, proofs: [proof] });
    if ("refused" in verdict) return;
    const status = endedStatus(vmi.status ?? {}, launcher, this.#timestamp());
    await this.#write(vmi, { status, grant: verdict.grant });
  }

  /** Asks the guest to power off, and kills it when its time is over. */
  #shutDown(vmi: VmiObject, launcher: SimulatedLauncher): void {
    const { clock } = this.#options;
    const { containerID, isActive } = launcher;
    if (!isActive) return;
    if (!this.#ending.has(containerID)) {
      this.#ending.set(containerID, clock.now());
      const grace = Number(vmi.spec.terminationGracePeriodSeconds ?? 30) * 1000;
      clock.setTimeout(() => void launcher.guest.kill().catch(() => {}), grace);
    }
    launcher.end();
  }

  async #read({ namespace, name }: SimulatedLauncher["identity"]): Promise<VmiObject | undefined> {
    const { client, vmis } = this.#options;
    try {
      return await client.get(vmis, { namespace, name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** One write, refused if the VMI has changed since. */
  async #write(
    { metadata }: VmiObject,
    { grant, status }: { readonly grant?: Grant; readonly status?: VmiObject["status"] },
  ): Promise<void> {
    const { client, vmis, names } = this.#options;
    const { namespace = "", name = "", uid, resourceVersion } = metadata;
    const annotations = grant && { [names.own(grantAnnotation)]: encodeGrant(grant) };
    const body = {
      metadata: { uid, resourceVersion, ...(annotations && { annotations }) },
      ...(status && { status }),
    };
    await client.patch(vmis, { namespace, name }, { type: "merge", body });
  }

  #grantOf({ metadata }: VmiObject): ReadGrant {
    const { own } = this.#options.names;
    return decodeGrant(metadata.annotations?.[own(grantAnnotation)], metadata.uid ?? "");
  }

  #holderOf({ identity, containerID }: SimulatedLauncher): Holder {
    const { node, random, boot } = this.#options;
    const nonce = this.#nonces.get(containerID) ?? random.uuid();
    this.#nonces.set(containerID, nonce);
    return { podUID: identity.podUid, containerID, node, nonce, ...boot() };
  }

  #timestamp(): string {
    return this.#options
      .date()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
  }
}

/** Ends early with the signal, and says nothing. */
async function quietSleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(clock, milliseconds, signal).catch(() => {});
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Whether the controller has handed the VMI over to this launcher's node. */
function isHandedOver({ status }: VmiObject, { node }: SimulatedLauncher): boolean {
  return status?.phase === "Scheduled" && status.nodeName === node;
}
