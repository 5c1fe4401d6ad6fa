import { until } from "@virtkit/api/clock";
import { LabError } from "../lab-error.ts";
import { apiRequest } from "./api-request.ts";
import type { NodeControl } from "./cluster.ts";
import { kubeconfigFile } from "./cluster-keys.ts";
import type { ClusterLayout } from "./cluster-layout.ts";
import type { CutFrom } from "./cluster-network.ts";
import { ClusterNode } from "./cluster-node.ts";
import {
  controlPlane,
  startControlPlane,
  startControlProgram,
  stopControlProgram,
} from "./control-plane.ts";
import { removeCluster } from "./remove-cluster.ts";
import type { Supervisor } from "./supervisor.ts";

/** How {@link StartedCluster.start} starts. */
export interface StartOptions {
  readonly onProgress: (step: string) => void;
  readonly audit: boolean;
  readonly signal: AbortSignal | undefined;
}

/** The processes of a cluster whose files exist: starts them, ends them, and acts on nodes. */
export class StartedCluster implements NodeControl {
  readonly #layout: ClusterLayout;
  readonly #programs: string;
  readonly #nodes: ReadonlyMap<string, ClusterNode>;
  #controlPlane: Supervisor | undefined;

  constructor(layout: ClusterLayout, programs: string, directories: readonly string[] = []) {
    this.#layout = layout;
    this.#programs = programs;
    this.#nodes = new Map(
      layout.nodes.map((node) => [
        node.name,
        new ClusterNode(layout, node, { programs, directories }),
      ]),
    );
  }

  async start(template: string, { onProgress, audit, signal }: StartOptions): Promise<void> {
    const nodes = [...this.#nodes.values()];
    const startNodes = async (): Promise<void> => {
      await Promise.all(nodes.map((node) => node.install(template)));
      signal?.throwIfAborted();
      // Kubelets wait for the API server, which takes longest.
      await Promise.all(nodes.map((node) => node.start()));
    };
    const startControl = async (): Promise<void> => {
      this.#controlPlane = await startControlPlane(this.#layout, this.#programs, {
        ...{ audit, signal },
      });
      onProgress("API server");
    };
    const started = await Promise.allSettled([startControl(), startNodes()]);
    const failed = started.find((each) => each.status === "rejected");
    if (failed) throw failed.reason;
    await this.#untilReady(
      this.#layout.nodes.map(({ name }) => name),
      signal,
    );
    onProgress("nodes");
    // Without it no Pod can be created.
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    await this.#untilTrue("the default service account", account, () => true, signal);
    onProgress("service account");
  }

  async end(): Promise<void> {
    const nodes = [...this.#nodes.values()];
    await Promise.all([this.#controlPlane?.kill(), ...nodes.map((node) => node.kill())]);
    await removeCluster(this.#layout.directory, this.#layout);
  }

  async killNode(name: string): Promise<void> {
    await this.#node(name).kill();
  }

  async startNode(name: string): Promise<void> {
    const node = this.#node(name);
    if (node.isRunning) return await this.#untilReady([name], undefined);
    const before = await this.#bootId(name);
    await node.start();
    // The API server's view of the node may be from before it was killed.
    const isNew = async (): Promise<boolean> => (await this.#bootId(name)) !== before;
    await until(isNew, { interval: 200, timeout: 120_000 });
    await this.#untilReady([name], undefined);
  }

  async cutNode(name: string, from: CutFrom): Promise<void> {
    await this.#node(name).cut(from);
  }

  async healNode(name: string): Promise<void> {
    await this.#node(name).heal();
  }

  async stopProgram(name: string, program: string): Promise<void> {
    if (name !== controlPlane) return await this.#node(name).stopProgram(program);
    if (this.#controlPlane) await stopControlProgram(this.#layout, this.#controlPlane, program);
  }

  async startProgram(name: string, program: string): Promise<void> {
    if (name === controlPlane) await startControlProgram(this.#layout, program);
    else await this.#node(name).startProgram(program);
  }

  async nodePid(name: string): Promise<number> {
    return this.#node(name).pid;
  }

  #node(name: string): ClusterNode {
    const node = this.#nodes.get(name);
    if (node) return node;
    const known = [...this.#nodes.keys()].join(", ");
    throw new LabError("LAB_CLUSTER", `there is no node "${name}"; there are ${known}`);
  }

  async #bootId(name: string): Promise<string | undefined> {
    const { status, body } = await apiRequest(
      kubeconfigFile(this.#layout, "admin"),
      nodePath(name),
    );
    return status === 200 ? (body as NodeObject).status.nodeInfo?.bootID : undefined;
  }

  async #untilReady(names: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    for (const name of names) {
      await this.#untilTrue(name, nodePath(name), (node) => isReady(node as NodeObject), signal);
    }
  }

  async #untilTrue(
    what: string,
    path: string,
    condition: (object: unknown) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const isTrue = async (): Promise<boolean> => {
      const { status, body } = await apiRequest(kubeconfigFile(this.#layout, "admin"), path);
      return status === 200 && condition(body);
    };
    if (await until(isTrue, { interval: 100, timeout: 120_000, signal })) return;
    const logs = `${this.#layout.directory}/*/log`;
    throw new LabError("LAB_NOT_READY", `${what} is not ready after two minutes; see ${logs}`);
  }
}

/** As much of a Node as is looked at here. */
interface NodeObject {
  readonly status: {
    readonly nodeInfo?: { readonly bootID: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

function nodePath(name: string): string {
  return `/api/v1/nodes/${name}`;
}

function isReady({ status }: NodeObject): boolean {
  return (
    status.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false
  );
}
