import { until } from "@virtkit/api/clock";
import { decodeGrant, grantAnnotation, type ReadGrant } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import type { Cluster } from "@virtkit/lab/cluster";
import { testImages } from "@virtkit/lab/cluster";
import { makeSharedRoot } from "./shared-root.ts";

/** What a guest of these tests does: it counts in its memory, and on the shared disk, and says how far it is. */
const workload = `#!/bin/sh
( n=0; while :; do n=$((n+1)); echo "boot=$(cat /proc/sys/kernel/random/boot_id) beat=$n disk=$(cat /run/disk)" > /www/next; mv /www/next /www/count; usleep 50000; done ) &
( n=0; while :; do n=$((n+1)); printf '%-511s\\n' $n > /run/block; dd if=/run/block of=/dev/vdb bs=512 count=1 conv=notrunc,fsync 2>/dev/null && echo $n > /run/disk; usleep 100000; done ) &
`;

/** What a guest says of itself. */
export interface Count {
  readonly boot: string;
  readonly beat: number;
  /** What is on its shared disk for certain. */
  readonly disk: number;
}

/** How a VM of these tests differs from others. */
export interface MovingVmOptions {
  readonly name: string;
  readonly namespace: string;
  /** By default `masquerade`. */
  readonly binding?: "masquerade" | "bridge";
  /** Whether all of its disks are on claims that every node sees, so that nothing but memory is copied. */
  readonly sharesAll?: boolean;
  readonly evictionStrategy?: string;
  /** Of the claim; by default `ReadWriteMany`, without which a guest does not move. */
  readonly accessMode?: "ReadWriteMany" | "ReadWriteOnce";
}

const patience = { timeout: 90_000, interval: 250 };

/** Waits for a condition; what cannot be asked is not true yet. */
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

  /** Its claims, with what each of them asks for. */
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
    // A webhook may not be up yet on a busy machine.
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
                  // What a guest cannot write is made again at the target, and not copied.
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
              { name: "init", cloudInitNoCloud: { userData: workload } },
            ],
          },
        },
      },
    };
  }

  async get(kind: string, name: string = this.name): Promise<Record<string, never>> {
    const args = ["get", "-n", this.namespace, kind, name, "-o", "json"];
    return JSON.parse(await this.#cluster.kubectl(args));
  }

  async vmiStatus(): Promise<VmiStatus> {
    return ((await this.get("vmi")) as { status?: VmiStatus }).status ?? {};
  }

  /** What the guest has last written to its shared disk; 0 where that is nothing yet. */
  async diskCount(): Promise<number> {
    const [node = ""] = this.#cluster.nodes;
    const args = ["-c", "64", `${this.folder}/disk.img`];
    return Number((await this.#cluster.runOnNode(node, "head", args)).replaceAll("\0", "").trim());
  }

  /** Waits until the guest has written more to its shared disk than before, whether or not its network is there. */
  async writing(since = 0): Promise<number> {
    let last = 0;
    await eventually("the guest writes on", async () => {
      last = await this.diskCount();
      return last > since;
    });
    return last;
  }

  /** What the guest says now; fails where it does not answer. */
  async count(): Promise<Count> {
    const { interfaces = [] } = await this.vmiStatus();
    const address = interfaces[0]?.ipAddress;
    const answer = await fetch(`http://${address}/count`, { signal: AbortSignal.timeout(3_000) });
    const [, boot = "", beat, disk] =
      /boot=(\S+) beat=(\d+) disk=(\d+)/.exec(await answer.text()) ?? [];
    return { boot, beat: Number(beat), disk: Number(disk) };
  }

  /** Waits until the guest counts, beyond what it has said before. */
  async counting(since?: Count): Promise<Count> {
    let last: Count = { boot: "", beat: 0, disk: 0 };
    await eventually("the guest counts on", async () => {
      last = await this.count();
      if (since && last.boot !== since.boot) return true;
      return last.disk > (since?.disk ?? 0) && last.beat > (since?.beat ?? 0);
    });
    if (since && last.boot !== since.boot) throw new Error("the guest was started anew");
    return last;
  }

  /** Has the VMI migrated by an object, as `kubectl create` makes it. */
  async migrate(name: string): Promise<void> {
    await this.#cluster.apply({
      ...{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstanceMigration" },
      metadata: { name, namespace: this.namespace },
      spec: { vmiName: this.name },
    });
  }

  /** Deletes a migration, which gives it up, and waits until it is gone. */
  async giveUp(name: string): Promise<void> {
    const remove = ["delete", "vmim", name, "-n", this.namespace, "--timeout=90s"];
    await this.#cluster.kubectl(remove, { timeout: 100_000 });
  }

  async migrationPhase(name: string): Promise<string> {
    const found = (await this.get("vmim", name)) as { status?: { phase?: string } };
    return found.status?.phase ?? "";
  }

  /** All migrations of the namespace. */
  async migrations(): Promise<readonly SeenMigration[]> {
    return await this.#list<SeenMigration>("vmim");
  }

  async #list<T>(...what: readonly string[]): Promise<readonly T[]> {
    const args = ["get", "-n", this.namespace, ...what, "-o", "json"];
    return (JSON.parse(await this.#cluster.kubectl(args)) as { items: readonly T[] }).items;
  }

  /** Names of the launcher Pods of the namespace that have not ended. */
  async launchers(): Promise<readonly string[]> {
    const pods = await this.#list<SeenPod>("pods", "-l", "kubevirt.io=virt-launcher");
    return pods
      .filter(({ status: { phase } }) => phase !== "Succeeded" && phase !== "Failed")
      .map(({ metadata }) => metadata.name);
  }

  /** Who may run the guest. */
  async grant(): Promise<ReadGrant> {
    const { metadata } = (await this.get("vmi")) as unknown as SeenVmi;
    return decodeGrant(metadata.annotations?.[names().own(grantAnnotation)], metadata.uid);
  }

  /** Waits until a migration is over, and says how it went. */
  async migrated(name: string): Promise<string> {
    let phase = "";
    await eventually(`the migration ${name} is over`, async () => {
      phase = await this.migrationPhase(name);
      return phase === "Succeeded" || phase === "Failed";
    });
    return phase;
  }

  /**
   * Gives the container disk's image, on every node, the name by which a target Pod asks for the very image of the source.
   * An image that was loaded and not pulled has none.
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

  /** Deletes the VM, waits until nothing of it runs, and takes its disk away. */
  async remove(): Promise<void> {
    const { namespace, name } = this;
    await this.#cluster.kubectl(["delete", "vm", name, "-n", namespace, "--wait=false"]);
    await eventually("nothing of the VM is left", async () => {
      const args = ["get", "vmi,pods", "-n", namespace, "-o", "name"];
      return (await this.#cluster.kubectl(args)).trim() === "";
    });
    const [node = ""] = this.#cluster.nodes;
    for (const suffix of this.#sizes.keys()) {
      const claim = ["delete", "pvc", `${name}${suffix}`, "-n", namespace, "--wait=false"];
      await this.#cluster.kubectl(claim);
      await this.#cluster.kubectl(["delete", "pv", `${this.#claim}${suffix}`, "--wait=false"]);
      await this.#cluster.runOnNode(node, "rm", ["-rf", `${this.folder}${suffix}`]);
    }
  }

  async nodeName(): Promise<string> {
    return (await this.vmiStatus()).nodeName ?? "";
  }

  async running(): Promise<void> {
    await eventually("the VMI runs", async () => (await this.vmiStatus()).phase === "Running");
  }

  /** QEMUs of this VM on all nodes, whoever knows of them. */
  async copies(): Promise<readonly string[]> {
    const found = await Promise.all(
      this.#cluster.nodes.map(async (node) => {
        // By the program's own name: the shell that looks has the guest's in its arguments, too.
        const script = `for p in /proc/[0-9]*; do case "$(cat $p/comm 2>/dev/null)" in qemu-system*) tr '\\0' ' ' < $p/cmdline | grep -q 'guest=${this.namespace}_${this.name},' && echo ${node};; esac; done; true`;
        return (await this.#cluster.runOnNode(node, "sh", ["-c", script])).trim().split("\n");
      }),
    );
    return found.flat().filter(Boolean);
  }
}

/** As much of a migration as these tests look at. */
export interface SeenMigration {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
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

/** As much of a VMI's status as these tests look at. */
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
