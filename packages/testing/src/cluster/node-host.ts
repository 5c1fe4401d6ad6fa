import { type Clock, sleep } from "@virtkit/api/clock";
import type { Random } from "@virtkit/api/random";
import {
  isAlreadyExists,
  isConflict,
  isKubeError,
  isNotFound,
  type KubeClient,
} from "@virtkit/kube";
import { Reflector } from "@virtkit/kube/reflector";
import type { ContainerScripts } from "./container-script.ts";
import { leases, nodes, pods, type SimulatedPod } from "./core-resources.ts";
import { PodRun } from "./pod-run.ts";

/** Options of a {@link NodeHost}. */
export interface NodeOptions {
  readonly name: string;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly date: () => Date;
  readonly labels?: Readonly<Record<string, string>>;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly scripts?: ContainerScripts;
  /** What else runs on it while it has power. */
  readonly daemon?: { start(): void; stop(): void };
}

const leaseNamespace = "kube-node-lease";
/** What a kubelet says of its node when it registers it. */
const kubeletLabels = { "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux" };
/** As a kubelet does by default. */
const heartbeatMilliseconds = 10_000;

/**
 * One node: a kubelet that follows Kubernetes' rules, with simulated containers. It can lose power and come back.
 */
export class NodeHost {
  readonly name: string;
  readonly #options: NodeOptions;
  readonly #runs = new Map<string, PodRun>();
  readonly #addresses = { next: 2 };
  #power: AbortController | undefined;
  #bootID = "";
  /** Pods with a status to report; reports are one after the other. */
  readonly #reports = new Map<string, PodRun>();
  #reporting = false;

  constructor(options: NodeOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** The Pod's run on this node, if it is here. */
  run(uid: string): PodRun | undefined {
    return this.#runs.get(uid);
  }

  /** Its current or last boot. */
  get boot(): { readonly machineID: string; readonly bootID: string } {
    return { machineID: `machine-${this.name}`, bootID: this.#bootID };
  }

  get isOn(): boolean {
    return this.#power !== undefined;
  }

  /** Switches it on: registers the node, renews its lease, and runs its Pods. */
  async start(): Promise<void> {
    if (this.#power) return;
    const power = new AbortController();
    this.#power = power;
    const { signal } = power;
    await this.#register();
    void this.#beat(signal);
    const { client, clock, random } = this.#options;
    const fieldSelector = `spec.nodeName=${this.name}`;
    void this.#follow(new Reflector(client, pods, { clock, random, signal, fieldSelector }));
    this.#options.daemon?.start();
  }

  /** Cuts its power: everything on it is gone at once, without notice. */
  cutPower(): void {
    this.#power?.abort();
    this.#power = undefined;
    this.#options.daemon?.stop();
    for (const run of this.#runs.values()) run.vanish();
    this.#runs.clear();
    this.#reports.clear();
  }

  async #register(): Promise<void> {
    const { client, random, labels = {}, capacity = {} } = this.#options;
    const { name } = this;
    this.#bootID = random.uuid();
    const metadata = {
      name,
      labels: { ...kubeletLabels, "kubernetes.io/hostname": name, ...labels },
    };
    await client.create(nodes, { metadata }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    const amounts = { cpu: "8", memory: "32Gi", pods: "110", ...capacity };
    const status = {
      capacity: amounts,
      allocatable: amounts,
      addresses: [{ type: "InternalIP", address: this.#hostIP }],
      nodeInfo: { ...this.boot, kubeletVersion: "v1.36.0" },
      conditions: [this.#readyCondition()],
    };
    const patch = { type: "strategic", body: { status } } as const;
    await client.patch(nodes, { name }, patch, { subresource: "status" });
  }

  #readyCondition() {
    const now = this.#timestamp();
    const times = { lastHeartbeatTime: now, lastTransitionTime: now };
    return { type: "Ready", status: "True", reason: "KubeletReady", ...times };
  }

  /** Renews the node's lease, and takes back a Ready that others have taken away. */
  async #beat(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#renewLease();
        await this.#keepReady();
      } catch (error) {
        // A kubelet that cannot reach the server tries again with the next beat.
        if (!isKubeError(error)) throw error;
      }
      await sleep(clock, heartbeatMilliseconds, signal);
    }
  }

  async #renewLease(): Promise<void> {
    const { client, date } = this.#options;
    const { name } = this;
    const renewTime = date().toISOString();
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
    const at = { namespace: leaseNamespace, name };
    try {
      await client.patch(leases, at, { type: "merge", body: { spec } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await client.create(leases, { metadata: at, spec });
    }
  }

  async #keepReady(): Promise<void> {
    const { client } = this.#options;
    const { name } = this;
    const node = await client.get(nodes, { name });
    const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.status === "True") return;
    const body = { status: { conditions: [this.#readyCondition()] } };
    await client.patch(nodes, { name }, { type: "strategic", body }, { subresource: "status" });
  }

  async #follow(reflector: Reflector<SimulatedPod>): Promise<void> {
    const listed = new Set<string>();
    for await (const event of reflector) {
      if (event.type === "init") listed.clear();
      if (event.type === "initDone") this.#dropUnlisted(listed);
      if (event.type === "delete") this.#drop(event.object.metadata.uid ?? "");
      if (event.type !== "apply") continue;
      listed.add(event.object.metadata.uid ?? "");
      this.#apply(event.object);
    }
  }

  #dropUnlisted(listed: ReadonlySet<string>): void {
    for (const uid of this.#runs.keys()) if (!listed.has(uid)) this.#drop(uid);
  }

  /** A Pod that the server no longer has is ended here as well. */
  #drop(uid: string): void {
    this.#runs.get(uid)?.vanish();
    this.#runs.delete(uid);
    this.#reports.delete(uid);
  }

  #apply(pod: SimulatedPod): void {
    const { uid = "", deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
    const known = this.#runs.get(uid);
    if (known) known.pod = pod;
    if (deletionTimestamp) {
      const run = known ?? this.#begin(pod, false);
      run.stop(deletionGracePeriodSeconds * 1000);
      this.#report(uid, run);
      return;
    }
    if (known) this.#report(uid, known);
    else if (pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed")
      this.#begin(pod, true);
  }

  #begin(pod: SimulatedPod, starts: boolean): PodRun {
    const { uid = "" } = pod.metadata;
    const { clock, random, scripts = () => ({}) } = this.#options;
    const run: PodRun = new PodRun(pod, {
      ...{ clock, scripts, hostIP: this.#hostIP },
      timestamp: () => this.#timestamp(),
      newId: () => `sim://${random.uuid()}`,
      podIP: `10.244.${this.#number}.${this.#addresses.next++ % 250}`,
      changed: () => this.#report(uid, run),
    });
    this.#runs.set(uid, run);
    if (starts) run.begin();
    return run;
  }

  #report(uid: string, run: PodRun): void {
    if (!this.#power || !this.#runs.has(uid)) return;
    this.#reports.set(uid, run);
    if (this.#reporting) return;
    this.#reporting = true;
    void this.#reportAll(this.#power.signal).finally(() => (this.#reporting = false));
  }

  async #reportAll(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let [next] = this.#reports; next && !signal.aborted; [next] = this.#reports) {
      const [uid, run] = next;
      this.#reports.delete(uid);
      try {
        await this.#reportPod(run);
      } catch (error) {
        if (!isKubeError(error)) throw error;
        // It is gone, or another one has its name.
        if (isNotFound(error) || isConflict(error) || error.status === 422) continue;
        await sleep(clock, 1000, signal);
        this.#reports.set(uid, run);
      }
    }
  }

  async #reportPod(run: PodRun): Promise<void> {
    const { client } = this.#options;
    const { namespace, name = "", uid = "" } = run.pod.metadata;
    const at = { ...(namespace ? { namespace } : {}), name };
    const status = run.status();
    const patch = { type: "merge", body: { metadata: { uid }, status } } as const;
    const written = await client.patch(pods, at, patch, { subresource: "status" });
    run.pod = written;
    if (!run.isGone) return;
    // A finalizer may keep it for longer; what is known about its containers stays until it is gone.
    await client.delete(pods, at, { gracePeriodSeconds: 0, preconditions: { uid } });
  }

  #timestamp(): string {
    return this.#options
      .date()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
  }

  get #number(): number {
    return [...this.name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 250, 7);
  }

  get #hostIP(): string {
    return `10.0.0.${this.#number}`;
  }
}
