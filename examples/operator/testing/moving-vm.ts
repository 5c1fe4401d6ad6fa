import { join } from "node:path";
import { until } from "@virtkit/api/clock";
import { decodeGrant, grantAnnotation, type ReadGrant } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import type { Cluster } from "@virtkit/lab/cluster";
import { testImages } from "@virtkit/lab/cluster";
import { type Count, counterWorkload, readCount, readCounts } from "./guest-counter.ts";
import { qemusOfGuest } from "./qemu-of-guest.ts";
import { makeSharedRoot } from "./shared-root.ts";

/** How a VM of these tests differs from others. */
export interface MovingVmOptions {
  readonly name: string;
  readonly namespace: string;
  /** By default `masquerade`. */
  readonly binding?: "masquerade" | "bridge";
  /** Whether all of its disks are on claims that every node sees, so that nothing but memory is copied. */
  readonly sharesAll?: boolean;
  readonly evictionStrategy?: string;
  /** The access mode of the claim; by default `ReadWriteMany`, without which a guest does not move. */
  readonly accessMode?: "ReadWriteMany" | "ReadWriteOnce";
}

/** The cluster configuration that lets guests of these tests move. */
export const movingConfiguration = {
  // The model of emulated CPUs, which no node with KVM would offer.
  obsoleteCPUModels: { "486": true },
  // The directory that both nodes share is on this host's file system: libvirt cannot know that it is shared.
  migrations: { unsafeMigrationOverride: true },
} as const;

const patience = { timeout: 90_000, interval: 250 };

const own = "/apis/kubevirt.io/v1";
const kinds = {
  vmi: { api: own, plural: "virtualmachineinstances" },
  vmim: { api: own, plural: "virtualmachineinstancemigrations" },
  pod: { api: "/api/v1", plural: "pods" },
  event: { api: "/api/v1", plural: "events" },
} as const;

/** The kinds of objects that are read here. */
type ReadKind = keyof typeof kinds;

/** Waits for a condition; an error means that it does not hold yet. */
async function eventually(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  let why: unknown;
  const look = async (): Promise<true | undefined> => {
    try {
      return (await isTrue()) || undefined;
    } catch (error) {
      why = error;
      return undefined;
    }
  };
  if (await until(look, patience)) return;
  throw new Error(`not in ${patience.timeout} ms: ${what}`, { cause: why });
}

/** A VM whose guest counts: its root is a container disk, and its counter is on a claim that every node sees. */
export class MovingVm {
  readonly name: string;
  readonly namespace: string;
  readonly #cluster: Cluster;
  readonly #options: MovingVmOptions;

  constructor(cluster: Cluster, options: MovingVmOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.name = options.name;
    this.namespace = options.namespace;
  }

  get #claim(): string {
    return `${this.namespace}-${this.name}`;
  }

  /** The folder of the claim, on every node. */
  get folder(): string {
    return `/var/lib/shared/${this.#claim}`;
  }

  /** Its claims, with what each of them requests. */
  get #sizes(): ReadonlyMap<string, string> {
    const root = this.#options.sharesAll ? [["-root", "64Mi"] as const] : [];
    return new Map([["", "16Mi"], ...root]);
  }

  async create(): Promise<void> {
    const { name, namespace } = this;
    const { accessMode = "ReadWriteMany", sharesAll } = this.#options;
    const [node = ""] = this.#cluster.nodes;
    await this.#cluster.runOnNode(node, "mkdir", ["-p", this.folder]);
    await this.#cluster.runOnNode(node, "chown", ["107:107", this.folder]);
    if (sharesAll) await makeSharedRoot(this.#cluster, `${this.#claim}-root`);
    const access = { accessModes: [accessMode], storageClassName: "" };
    const claims = [...this.#sizes].flatMap(([suffix, storage]) => [
      {
        ...{ apiVersion: "v1", kind: "PersistentVolume" },
        metadata: { name: `${this.#claim}${suffix}` },
        spec: { ...access, capacity: { storage }, hostPath: { path: `${this.folder}${suffix}` } },
      },
      {
        ...{ apiVersion: "v1", kind: "PersistentVolumeClaim" },
        metadata: { name: `${name}${suffix}`, namespace },
        spec: {
          ...{ ...access, volumeName: `${this.#claim}${suffix}` },
          resources: { requests: { storage } },
        },
      },
    ]);
    const objects = [...claims, this.#manifest()];
    // A webhook may not be up yet on a busy host.
    await eventually("the VM is taken", async () => {
      await this.#cluster.apply(...objects);
      return true;
    });
  }

  #manifest(): object {
    const { binding = "masquerade", evictionStrategy, sharesAll } = this.#options;
    const { name, namespace } = this;
    const network =
      binding === "masquerade" ? { masquerade: {}, ports: [{ port: 80 }] } : { bridge: {} };
    return {
      ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachine" },
      metadata: { name, namespace },
      spec: {
        runStrategy: "Always",
        template: {
          spec: {
            ...(evictionStrategy ? { evictionStrategy } : {}),
            terminationGracePeriodSeconds: 10,
            domain: {
              memory: { guest: "128Mi" },
              devices: {
                disks: [
                  { name: "root", disk: { bus: "virtio" } },
                  { name: "data", disk: { bus: "virtio" }, cache: "none" },
                  // Disks that a guest cannot write are created again at the target, and not copied.
                  sharesAll
                    ? { name: "init", cdrom: { bus: "scsi" } }
                    : { name: "init", disk: { bus: "virtio" } },
                ],
                interfaces: [{ name: "default", ...network }],
              },
            },
            networks: [{ name: "default", pod: {} }],
            volumes: [
              {
                name: "root",
                ...(sharesAll
                  ? { persistentVolumeClaim: { claimName: `${name}-root` } }
                  : { containerDisk: { image: testImages.disk, imagePullPolicy: "IfNotPresent" } }),
              },
              { name: "data", persistentVolumeClaim: { claimName: name } },
              { name: "init", cloudInitNoCloud: { userData: counterWorkload } },
            ],
          },
        },
      },
    };
  }

  async get(kind: ReadKind, name: string = this.name): Promise<Record<string, never>> {
    return await this.#read(`${kind}/${name}`);
  }

  /** Not through `kubectl`, because waits read several times a second. */
  async #read<T>(what: string): Promise<T> {
    const [kind = "", rest = ""] = what.split(/(?=[/?])(.*)/);
    const { api, plural } = kinds[kind as ReadKind];
    const path = `${api}/namespaces/${this.namespace}/${plural}${rest}`;
    const { status, body } = await this.#cluster.request(path);
    if (status === 200) return body as T;
    throw new Error(`${path}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
  }

  async vmiUid(): Promise<string> {
    return ((await this.get("vmi")) as unknown as SeenVmi).metadata.uid;
  }

  async vmiStatus(): Promise<VmiStatus> {
    return ((await this.get("vmi")) as { status?: VmiStatus }).status ?? {};
  }

  /** The shared disk, on this host: every node sees the same file. */
  get image(): string {
    return join(this.#cluster.layout.directory, "shared", this.#claim, "disk.img");
  }

  /** The last count that the guest wrote to its shared disk; 0 if there is none yet. */
  diskCount(): number {
    return Math.max(0, readCounts(this.image, 0).size - 1);
  }

  /** Waits until the guest has written more to its shared disk than before, even if its network is down. */
  async writing(since = 0): Promise<number> {
    let last = 0;
    await eventually("the guest keeps writing", async () => {
      last = this.diskCount();
      return last > since;
    });
    return last;
  }

  /** What the guest reports now; fails if it does not answer. */
  async count(): Promise<Count> {
    const { interfaces = [] } = await this.vmiStatus();
    const address = interfaces[0]?.ipAddress;
    const answer = await fetch(`http://${address}/count`, { signal: AbortSignal.timeout(3_000) });
    return readCount(await answer.text());
  }

  /** Whether the vCPUs of one of its QEMUs are not stopped. A kernel that has panicked may have halted them. */
  async isExecuting(): Promise<boolean> {
    const states = qemusOfGuest(this.namespace, this.name).map((qemu) =>
      // A QEMU whose libvirt does not answer is nothing that is known to execute.
      qemu.isExecuting().catch(() => false),
    );
    return (await Promise.all(states)).includes(true);
  }

  /** Waits until the guest has counted beyond an earlier report, or was restarted since. */
  async counting(since?: Count): Promise<Count> {
    let last: Count = { boot: "", beat: 0, disk: 0, at: "" };
    await eventually("the guest keeps counting", async () => {
      last = await this.count();
      if (since && last.boot !== since.boot) return true;
      return last.disk > (since?.disk ?? 0) && last.beat > (since?.beat ?? 0);
    });
    return last;
  }

  /** Creates a migration object, as `kubectl create` does. */
  async migrate(name: string): Promise<void> {
    await this.#cluster.apply({
      ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstanceMigration" },
      metadata: { name, namespace: this.namespace },
      spec: { vmiName: this.name },
    });
  }

  /** Deletes a migration, which aborts it, and waits until it is gone. */
  async giveUp(name: string): Promise<void> {
    const remove = ["delete", "vmim", name, "-n", this.namespace, "--timeout=90s"];
    await this.#cluster.kubectl(remove, { timeout: 100_000 });
  }

  async migrationPhase(name: string): Promise<string> {
    const found = (await this.get("vmim", name)) as { status?: { phase?: string } };
    return found.status?.phase ?? "";
  }

  /** The last warning event of an object with a reason; empty if there is none. */
  async warning(reason: string, object: string): Promise<string> {
    const selector = `reason=${reason},involvedObject.name=${object}`;
    const query = `event?fieldSelector=${encodeURIComponent(selector)}`;
    const events = await this.#list<{ message?: string }>(query);
    return events.at(-1)?.message ?? "";
  }

  /** All migrations of the namespace. */
  async migrations(): Promise<readonly SeenMigration[]> {
    return await this.#list<SeenMigration>("vmim");
  }

  async #list<T>(what: string): Promise<readonly T[]> {
    return (await this.#read<{ items: readonly T[] }>(what)).items;
  }

  /** Names of the launcher Pods of the namespace that have not ended. */
  async launchers(): Promise<readonly string[]> {
    const selector = encodeURIComponent("kubevirt.io=virt-launcher");
    const pods = await this.#list<SeenPod>(`pod?labelSelector=${selector}`);
    return pods
      .filter(({ status: { phase } }) => phase !== "Succeeded" && phase !== "Failed")
      .map(({ metadata }) => metadata.name);
  }

  /** Who may run the guest. */
  async grant(): Promise<ReadGrant> {
    const { metadata } = (await this.get("vmi")) as unknown as SeenVmi;
    return decodeGrant(metadata.annotations?.[names().own(grantAnnotation)], metadata.uid);
  }

  /** Waits until a migration is over, and returns how it ended. */
  async migrated(name: string): Promise<string> {
    let phase = "";
    await eventually(`the migration ${name} is over`, async () => {
      phase = await this.migrationPhase(name);
      return phase === "Succeeded" || phase === "Failed";
    });
    return phase;
  }

  /**
   * Gives the container disk's image, on every node, the name by which a target Pod requests exactly the source's image.
   * An image that was loaded rather than pulled has no such name.
   */
  async nameImages(): Promise<void> {
    const args = ["get", "pods", "-n", this.namespace, "-o", "json"];
    const pods = await this.#cluster.kubectl(args);
    const { items } = JSON.parse(pods) as { items: readonly PodImages[] };
    const statuses = items.flatMap(({ status }) => [
      ...(status.initContainerStatuses ?? []),
      ...(status.containerStatuses ?? []),
    ]);
    const digests = statuses
      .filter(({ image, name }) => image === testImages.disk || name.startsWith("volume"))
      .flatMap(({ imageID }) => /sha256:[0-9a-f]{64}/.exec(imageID)?.[0] ?? []);
    const [repository] = testImages.disk.split(":");
    for (const node of this.#cluster.nodes) {
      for (const digest of new Set(digests)) {
        const tag = ["-n", "k8s.io", "images", "tag", "--force", testImages.disk];
        const name = `${repository}@${digest}`;
        await this.#cluster.runOnNode(node, "/opt/kubernetes/ctr", [...tag, name]);
      }
    }
  }

  /** Deletes the VM, waits until nothing of it runs, and removes its disk. May be called again. */
  async remove(): Promise<void> {
    const { namespace, name } = this;
    const quietly = ["--wait=false", "--ignore-not-found"];
    await this.#cluster.kubectl(["delete", "vm", name, "-n", namespace, ...quietly]);
    await eventually("nothing of the VM is left", async () => {
      const found = await Promise.all([this.#list("vmi"), this.#list("pod")]);
      return found.flat().length === 0;
    });
    const [node = ""] = this.#cluster.nodes;
    for (const suffix of this.#sizes.keys()) {
      const claim = ["delete", "pvc", `${name}${suffix}`, "-n", namespace, ...quietly];
      await this.#cluster.kubectl(claim);
      await this.#cluster.kubectl(["delete", "pv", `${this.#claim}${suffix}`, ...quietly]);
      await this.#cluster.runOnNode(node, "rm", ["-rf", `${this.folder}${suffix}`]);
    }
  }

  async nodeName(): Promise<string> {
    return (await this.vmiStatus()).nodeName ?? "";
  }

  async running(): Promise<void> {
    await eventually("the VMI runs", async () => (await this.vmiStatus()).phase === "Running");
  }

  /** The pids of all QEMUs of this VM on this host, known to a component or not. */
  qemus(): readonly string[] {
    return qemusOfGuest(this.namespace, this.name).map(({ pid }) => pid);
  }

  /** The nodes of all QEMUs of this VM, known to a component or not. */
  copies(): readonly string[] {
    return qemusOfGuest(this.namespace, this.name).map(({ node }) => node);
  }
}

/** The part of a migration that these tests read. */
export interface SeenMigration {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status?: {
    readonly phase?: string;
    readonly migrationState?: { readonly failureReason?: string };
  };
}

interface SeenPod {
  readonly metadata: { readonly name: string };
  readonly status: { readonly phase?: string };
}

interface SeenVmi {
  readonly metadata: {
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

interface PodImages {
  readonly status: {
    readonly initContainerStatuses?: readonly ImageStatus[];
    readonly containerStatuses?: readonly ImageStatus[];
  };
}

interface ImageStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
}

/** The part of a VMI's status that these tests read. */
export interface VmiStatus {
  readonly phase?: string;
  readonly nodeName?: string;
  readonly evacuationNodeName?: string;
  readonly interfaces?: readonly { readonly ipAddress?: string }[];
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
  readonly migrationState?: {
    readonly migrationNetworkType?: string;
    readonly targetNodeAddress?: string;
    readonly targetDirectMigrationNodePorts?: Readonly<Record<string, number>>;
    readonly migrationUid?: string;
    readonly startTimestamp?: string;
    readonly endTimestamp?: string;
    readonly completed?: boolean;
    readonly failed?: boolean;
    readonly failureReason?: string;
    readonly abortStatus?: string;
    readonly targetNode?: string;
    readonly sourceNode?: string;
    readonly targetPod?: string;
    readonly sourcePod?: string;
  };
}
