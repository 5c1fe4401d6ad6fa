import type { RunOptions } from "../run-program.ts";
import type { ApiAnswer, ApiRequest } from "./api-request.ts";
import type { ServerCertificate } from "./cluster-keys.ts";
import type { ClusterLayout } from "./cluster-layout.ts";
import type { CutFrom } from "./cluster-network.ts";

/** Actions on nodes: the part of a {@link Cluster} that needs the process that started it. */
export interface NodeControl {
  /** A power cut: everything on the node ends at once, its disks stay. */
  killNode(node: string): Promise<void>;
  /** Starts a node that was killed, and waits until it is ready. */
  startNode(node: string): Promise<void>;
  /** Drops what a node and the API server, or the other nodes and their Pods, send each other. */
  cutNode(node: string, from: CutFrom): Promise<void>;
  /** Undoes every {@link cutNode}. */
  healNode(node: string): Promise<void>;
  /**
   * Kills a program of the node (`kubelet`, `containerd`, `kube-proxy`), which then stays off. The node `control-plane` has
   * `etcd`, `kube-apiserver`, `kube-controller-manager` and `kube-scheduler`.
   */
  stopProgram(node: string, program: string): Promise<void>;
  /** Restarts a program that was stopped. */
  startProgram(node: string, program: string): Promise<void>;
  /** Pid, on this host, of the node's first process. */
  nodePid(node: string): Promise<number>;
}

/** A Kubernetes cluster on this host. */
export interface Cluster extends NodeControl {
  readonly layout: ClusterLayout;
  /** Names of the nodes. */
  readonly nodes: readonly string[];
  /** Path of the kubeconfig of a member of system:masters. */
  readonly kubeconfig: string;
  /** Runs `kubectl` of the cluster's release as an administrator; returns its stdout. */
  kubectl(args: readonly string[], options?: RunOptions): Promise<string>;
  /** Asks the API server as an administrator. Any status is an answer. */
  request(path: string, options?: ApiRequest): Promise<ApiAnswer>;
  /** Creates objects, or updates them to what is given. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Runs a program in the namespaces of a node, as root; returns its stdout. */
  runOnNode(node: string, program: string, args?: readonly string[]): Promise<string>;
  /** A certificate for a server that the API server calls: `NAME.NAMESPACE.svc`. */
  serverCertificate(names: readonly string[]): Promise<ServerCertificate>;
}
