import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LabError } from "../lab-error.ts";
import { runProgram } from "../run-program.ts";
import { keysDirectory, kubeconfigFile } from "./cluster-keys.ts";
import type { ClusterLayout, NodeLayout } from "./cluster-layout.ts";
import { type CutFrom, connectNode, cutNode, disconnectNode, healNode } from "./cluster-network.ts";
import { placeImages } from "./image-template.ts";
import { emptyCgroup, makeCgroup } from "./node-cgroups.ts";
import { nodeCommands, nodeConfig, nodeOwn, nodePrograms } from "./node-config.ts";
import { type NodeView, nodeDisks, nodeScript } from "./node-script.ts";
import { type OwnNamespace, Supervisor } from "./supervisor.ts";
import { programScript } from "./supervisor-script.ts";

const ownNamespaces: readonly OwnNamespace[] = ["mount", "uts", "ipc", "pid", "net"];

/** One node: containerd, kubelet and kube-proxy in namespaces that look like a separate host. */
export class ClusterNode {
  readonly layout: NodeLayout;
  readonly #cluster: ClusterLayout;
  readonly #view: Omit<NodeView, "shared">;
  #supervisor: Supervisor | undefined;

  constructor(cluster: ClusterLayout, layout: NodeLayout, view: Omit<NodeView, "shared">) {
    this.layout = layout;
    this.#cluster = cluster;
    this.#view = view;
  }

  /** Writes what the node has on its disk before its first start: configuration, keys and images. */
  async install(template: string): Promise<void> {
    const { directory } = this.layout;
    const keys = keysDirectory(this.#cluster);
    await mkdir(this.#shared, { recursive: true });
    for (const name of [...nodeDisks, "log", "programs", "keys"]) {
      await mkdir(join(directory, name), { recursive: true });
    }
    const files = nodeConfig(this.#cluster, this.layout);
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    const place = { directory: `${nodeOwn}/programs`, programs: nodePrograms };
    for (const [name, args] of Object.entries(nodeCommands(this.layout))) {
      await writeFile(join(directory, "programs", name), programScript(name, args, place));
    }
    const kubeconfigs = { kubelet: this.layout.name, proxy: "proxy" };
    await copyFile(join(keys, "ca.crt"), join(directory, "keys/ca.crt"));
    for (const [name, who] of Object.entries(kubeconfigs)) {
      await copyFile(kubeconfigFile(this.#cluster, who), join(directory, `keys/${name}.conf`));
    }
    await placeImages(template, join(directory, "containerd"));
  }

  get #shared(): string {
    return join(this.#cluster.directory, "shared");
  }

  get isRunning(): boolean {
    return this.#supervisor?.isRunning ?? false;
  }

  /** Pid of the node's first process; throws if the node is off. */
  get pid(): number {
    return this.#running().pid;
  }

  /** Starts the node; does not wait until Kubernetes considers it ready. */
  async start(): Promise<void> {
    if (this.isRunning) return;
    await makeCgroup(`${this.layout.cgroup}/system`);
    // A path below a directory that is only there once it is mounted.
    await rm(join(this.layout.directory, "root"), { recursive: true, force: true });
    const script = nodeScript(this.layout, { ...this.#view, shared: this.#shared });
    const supervisor = await Supervisor.start(script, ownNamespaces);
    this.#supervisor = supervisor;
    await connectNode(this.#cluster, this.layout, supervisor.pid);
    for (const name of Object.keys(nodeCommands(this.layout))) supervisor.startProgram(name);
  }

  /**
   * A power cut: ends all processes of the node at once. Its disks stay. The cgroups of its
   * containers are removed, as when a kernel stops.
   */
  async kill(): Promise<void> {
    await this.#supervisor?.kill();
    this.#supervisor = undefined;
    await disconnectNode(this.layout);
    await emptyCgroup(this.layout.cgroup);
  }

  /** Kills a program of the node, and keeps it stopped. */
  async stopProgram(program: string): Promise<void> {
    await writeFile(this.#programFile(program, "off"), "");
    const pid = (await readFile(this.#programFile(program, "pid"), "utf8")).trim();
    await runProgram(...this.#running().command("kill", ["-KILL", pid]));
  }

  async startProgram(program: string): Promise<void> {
    await rm(this.#programFile(program, "off"), { force: true });
  }

  async cut(from: CutFrom): Promise<void> {
    await cutNode(this.#cluster, this.layout, from, this.pid);
  }

  async heal(): Promise<void> {
    await healNode(this.pid);
  }

  #programFile(program: string, kind: "off" | "pid"): string {
    return join(this.layout.directory, "programs", `${program}.${kind}`);
  }

  #running(): Supervisor {
    if (this.#supervisor?.isRunning) return this.#supervisor;
    throw new LabError("LAB_CLUSTER", `${this.layout.name} is off; start it with startNode`);
  }
}
