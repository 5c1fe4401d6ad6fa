import { join } from "node:path";
import { LabError } from "../lab-error.ts";

/** Where everything of a cluster is: names, addresses and directories. Nothing of it exists yet. */
export interface ClusterLayout {
  readonly name: string;
  /** All files of the cluster. */
  readonly directory: string;
  /** The bridge in this host's network that the nodes are on. */
  readonly bridge: string;
  /** This host's address on that bridge; the API server answers there. */
  readonly hostAddress: string;
  readonly apiPort: number;
  /** A loopback address of this host that no other cluster has: nodes cannot reach it. */
  readonly loopback: string;
  /** All Pods of all nodes. */
  readonly podNetwork: string;
  readonly serviceNetwork: string;
  /** Of the Service `kubernetes`. */
  readonly apiServiceAddress: string;
  /** The cgroup above the nodes, in every hierarchy. */
  readonly cgroup: string;
  readonly nodes: readonly NodeLayout[];
}

/** One node's part of a {@link ClusterLayout}. */
export interface NodeLayout {
  readonly name: string;
  readonly directory: string;
  readonly address: string;
  readonly podNetwork: string;
  readonly cgroup: string;
  /** The host's end of the node's network link. */
  readonly link: string;
}

/** The input of {@link clusterLayout}. */
export interface LayoutOptions {
  readonly name: string;
  /** How many nodes. */
  readonly nodes: number;
  /** The first two bytes of the network that the cluster takes, such as `10.99`. */
  readonly addresses: string;
  /** The directory that has one directory for each cluster. */
  readonly parent: string;
}

/** Decides where everything of a cluster is. All its addresses are in one /16 network. */
export function clusterLayout({ name, nodes, addresses, parent }: LayoutOptions): ClusterLayout {
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(name)) {
    throw new LabError(
      "LAB_CLUSTER",
      `name: "${name}" must be at most 31 lower-case letters, digits and dashes, a letter first`,
    );
  }
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 9) {
    throw new LabError("LAB_CLUSTER", `nodes: ${nodes} must be a whole number from 1 to 9`);
  }
  const bytes = /^(\d{1,3})\.(\d{1,3})$/.exec(addresses)?.slice(1).map(Number) ?? [];
  if (bytes.length === 0 || bytes.some((byte) => byte > 255)) {
    throw new LabError("LAB_CLUSTER", `addresses: "${addresses}" must be two bytes, as "10.99"`);
  }
  const directory = join(parent, name);
  const cgroup = `virtkit-lab-${name}`;
  // An interface's name has at most 15 characters, and no two clusters have the same addresses.
  const bridge = `vk${bytes.join("-")}`;
  return {
    ...{ name, directory, bridge, cgroup },
    hostAddress: `${addresses}.0.1`,
    apiPort: 6443,
    loopback: `127.${addresses}.1`,
    podNetwork: `${addresses}.128.0/17`,
    serviceNetwork: `${addresses}.64.0/18`,
    apiServiceAddress: `${addresses}.64.1`,
    nodes: Array.from({ length: nodes }, (_, at) => ({
      name: `node-${at + 1}`,
      directory: join(directory, `node-${at + 1}`),
      address: `${addresses}.0.${11 + at}`,
      podNetwork: `${addresses}.${128 + at}.0/24`,
      cgroup: `${cgroup}/node-${at + 1}`,
      link: `${bridge}n${at + 1}`,
    })),
  };
}
