import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { type PackedImage, packImage } from "../image/pack-image.ts";
import { LabError } from "../lab-error.ts";
import { shareCluster } from "./attach-cluster.ts";
import type { Cluster } from "./cluster.ts";
import { assertUnclaimed, claimCluster, clustersDirectory } from "./cluster-claim.ts";
import { makeClusterKeys } from "./cluster-keys.ts";
import { type ClusterLayout, clusterLayout } from "./cluster-layout.ts";
import { makeBridge } from "./cluster-network.ts";
import { clusterView } from "./cluster-view.ts";
import { withHostLock } from "./host-lock.ts";
import { imageTemplate } from "./image-template.ts";
import { pauseReference } from "./node-config.ts";
import { removeAbandoned, removeCluster } from "./remove-cluster.ts";
import { StartedCluster } from "./started-cluster.ts";

/** How {@link startCluster} shapes a cluster. */
export interface ClusterOptions {
  /** Unique among the running clusters of this host. Default: `lab` */
  readonly name?: string;
  /** How many nodes. Default: 2 */
  readonly nodes?: number;
  /** The first two bytes of the network that the cluster takes. Default: the first of 10.110 to 10.119 that is free */
  readonly addresses?: string;
  /** Images that every node has from the start. */
  readonly images?: readonly PackedImage[];
  /**
   * The directory with the programs of Kubernetes. Default: where the setup of the tests has put
   * them
   */
  readonly programs?: string;
  /** Directories of this host that every node has at the same paths, and cannot write. Default: none */
  readonly directories?: readonly string[];
  /**
   * Makes the API server record every write, with its author, in `control-plane/log/audit.log`.
   * Default: false
   */
  readonly audit?: boolean;
  /** Called with progress messages for people. */
  readonly onProgress?: (step: string) => void;
  readonly signal?: AbortSignal;
}

/** Set by the set-up of the tests; see tools/kubernetes.mjs. */
const programsVariable = "VIRTKIT_KUBERNETES";

/**
 * Starts a Kubernetes cluster on this host: etcd, API server, controllers, scheduler, and nodes with real
 * kubelets, containerd and kube-proxy, each in namespaces of its own. Resolves when every node is ready and
 * Pods can be created. Needs root.
 *
 * Disposal ends and removes everything. Where this process is killed, the kernel ends the processes, and
 * the next start removes the rest: of this cluster and of every other one whose owner has ended.
 *
 * @throws LabError `LAB_IN_USE` if another process has a cluster of that name or with these
 * addresses.
 */
export async function startCluster(
  options: ClusterOptions = {},
): Promise<Cluster & AsyncDisposable> {
  const { onProgress = () => {}, signal } = options;
  const programs = programsDirectory(options.programs);
  const parent = clustersDirectory();
  const template = await templateOf(options.images ?? [], programs);
  onProgress("images");
  // Two that start at the same time would mistake each other's incomplete clusters for abandoned
  // ones.
  const layout = await withHostLock(`${parent}.lock`, async () => {
    await removeAbandoned(parent);
    return await claimNetwork(options, parent);
  });
  const started = new StartedCluster(layout, programs, options.directories);
  try {
    await makeClusterKeys(layout);
    onProgress("keys");
    await started.start(template, { onProgress, audit: options.audit ?? false, signal });
    const view = clusterView(layout, programs, started);
    const unshare = await shareCluster({ layout, programs }, started);
    const end = async (): Promise<void> => {
      await unshare();
      await started.end();
    };
    return Object.assign(view, { [Symbol.asyncDispose]: end });
  } catch (error) {
    await started.end();
    throw error;
  }
}

/** The programs of Kubernetes, from the option or the environment. */
export function programsDirectory(asked?: string): string {
  const given = asked ?? process.env[programsVariable];
  if (given && existsSync(join(given, "kubelet"))) return given;
  const found = given ? `${given} has no kubelet` : `${programsVariable} is not set`;
  const message = `programs: ${found}; run "npm run setup -- nodes", or the tests with "npm run test:nodes"`;
  throw new LabError("LAB_CLUSTER", message);
}

/** Every node needs the image of sandboxes; the others are the caller's. */
async function templateOf(images: readonly PackedImage[], programs: string): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), "virtkit-images-"));
  try {
    const files = [{ path: "pause", kind: "file" as const, source: join(programs, "pause") }];
    const config = { Entrypoint: ["/pause"] };
    const archive = join(work, "pause.tar");
    const pause = await packImage(files, { archive, reference: pauseReference, config });
    return await imageTemplate([pause, ...images], programs);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Takes a name and addresses that no other cluster has. */
async function claimNetwork(
  { name = "lab", nodes = 2, addresses }: ClusterOptions,
  parent: string,
): Promise<ClusterLayout> {
  const candidates = addresses
    ? [addresses]
    : Array.from({ length: 10 }, (_, at) => `10.${110 + at}`);
  const layouts = candidates.map((each) => clusterLayout({ name, nodes, addresses: each, parent }));
  const free = layouts.find((layout) => !isTaken(layout));
  if (!free) {
    const message = `addresses: this host uses ${candidates.join(", ")} already; choose others`;
    throw new LabError("LAB_IN_USE", message);
  }
  await assertUnclaimed(free.directory, name);
  const { bridge, cgroup } = free;
  await claimCluster(free.directory, { name, bridge, cgroup });
  try {
    await makeBridge(free);
  } catch (error) {
    // The bridge belongs to someone else.
    await removeCluster(free.directory, undefined);
    throw error;
  }
  return free;
}

/** Whether another cluster, or anything else of this host, has addresses of this cluster's network. */
function isTaken({ bridge, hostAddress }: ClusterLayout): boolean {
  const network = hostAddress.split(".").slice(0, 2).join(".");
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return (
    existsSync(`/sys/class/net/${bridge}`) ||
    own.some(({ address }) => address.startsWith(`${network}.`))
  );
}
